package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/fleet/oci"
)

// newBundle has the commands that carry bundles to registries and back; hookc bundle
// makes and verifies them.
func newBundle() *cobra.Command {
	var r oci.Registry
	var output string
	cmd := &cobra.Command{Use: "bundle", Short: "Carry bundles to and from OCI registries", Args: cobra.NoArgs,
		Long: `bundle carries bundles to and from OCI registries. hookc bundle builds, signs, verifies
and inspects them. hookcd --config takes policy from the same place: type: oci of services.

Who asks is whom docker login has kept for the registry, or --username.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.PersistentFlags().StringVar(&r.User, "username", "", "`NAME` at the registry")
	cmd.PersistentFlags().StringVar(&r.PasswordFile, "password-file", "", "the password, or token, in `FILE`")
	cmd.PersistentFlags().StringVar(&r.Authority, "ca-file", "", "trust the authorities in `FILE` too")
	cmd.PersistentFlags().BoolVar(&r.Plain, "plain-http", false, "without TLS, for a registry on this machine")
	push := &cobra.Command{Use: "push FILE HOST/NAME:TAG", Short: "Put a bundle in a registry, and print its digest", Args: cobra.ExactArgs(2),
		Example: "  hookcd bundle push bundle.tar.gz registry.example.com/team/policy:v1.4.0",
		RunE: func(cmd *cobra.Command, args []string) error {
			packed, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			digest, err := r.Push(cmd.Context(), packed, args[1])
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), digest)
			}
			return err
		}}
	pull := &cobra.Command{Use: "pull HOST/NAME:TAG|@DIGEST -o FILE", Short: "Fetch a bundle, whole or not at all, and print its digest", Args: cobra.ExactArgs(1),
		Example: "  hookcd bundle pull registry.example.com/team/policy:v1.4.0 -o bundle.tar.gz\n  hookc bundle verify bundle.tar.gz --verification-key public.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			packed, digest, err := r.Pull(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			whole := output + ".new"
			if err = os.WriteFile(whole, packed, 0o644); err == nil {
				err = os.Rename(whole, output)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), digest)
			}
			return err
		}}
	pull.Flags().StringVarP(&output, "output", "o", "", "write the bundle to `FILE`")
	if err := pull.MarkFlagRequired("output"); err != nil {
		panic("hookcd: " + err.Error())
	}
	cmd.AddCommand(push, pull)
	return cmd
}
