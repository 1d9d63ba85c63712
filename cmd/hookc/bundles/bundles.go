// Package bundles has the commands of `hookc bundle`: they build, sign, verify and
// show the OPA bundles that a fleet of machines takes its policy from.
package bundles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/bundle"
	"github.com/hookc/hookc/internal/bundle/proof"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// Host is the command line that the commands are part of.
type Host struct {
	// Complete has a shell complete the words of a flag.
	Complete func(cmd *cobra.Command, flag string, words []string)
}

// New is `hookc bundle`.
func (h *Host) New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "bundle", Short: "Build, sign, verify and show bundles for a fleet",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(h.build(), h.sign(), h.verify(), h.inspect())
	return cmd
}

// flags are those of the commands.
type flags struct {
	bundle.Key
	output, revision string
	roots            []string
	serial           int64
	within           time.Duration
	asJSON           bool
}

func (h *Host) signs(cmd *cobra.Command, f *flags) {
	cmd.Flags().StringVar(&f.File, "signing-key", "", "sign with the private key, or the secret, in `FILE`")
	cmd.Flags().StringVar(&f.ID, "key-id", "", "say that the signature is by the key called `NAME`")
	h.keyed(cmd, f)
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the bundle to `FILE`")
}

func (h *Host) keyed(cmd *cobra.Command, f *flags) {
	cmd.Flags().StringVar(&f.Algorithm, "signing-alg", "RS256", "`ALGORITHM` of the signature: RS256, ES256, PS256, HS256, and those with 384 and 512")
	cmd.Flags().StringVar(&f.Scope, "scope", "", "`SCOPE` that the signature is for")
	h.Complete(cmd, "signing-alg", []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "HS256", "HS384", "HS512"})
}

func (h *Host) build() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "build FOLDER",
		Short: "Make a bundle of the policy in a folder",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return h.runBuild(cmd, &f, args[0]) },
	}
	h.signs(cmd, &f)
	cmd.Flags().StringVar(&f.revision, "revision", "", "call the revision `NAME` (default: a hash of the files)")
	cmd.Flags().Int64Var(&f.serial, "serial", 0, "`NUMBER` that grows with each revision: a machine takes no lower one")
	cmd.Flags().StringSliceVar(&f.roots, "root", nil, "`PATHS` of data that the bundle owns (default: all it holds)")
	h.limited(cmd, &f)
	return cmd
}

func (h *Host) limited(cmd *cobra.Command, f *flags) {
	cmd.Flags().DurationVar(&f.within, "timeout", time.Minute, "how long compiling and testing may take")
}

func (h *Host) runBuild(cmd *cobra.Command, f *flags, dir string) error {
	if f.output == "" {
		return exit.Cannot("-o FILE says where the bundle is to be written")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(real)
	}
	if err != nil {
		return exit.Cannot("%v", err)
	}
	proven, err := h.prove(cmd, f, dir)
	if err != nil {
		return err
	}
	b, err := bundle.FromFolder(dir)
	if err == nil {
		err = bundle.Describe(b, f.revision, f.roots, bundle.About{Plan: proven.Plan, Hookc: release.Current().Version, Serial: f.serial})
	}
	if err == nil && f.File != "" {
		err = bundle.Sign(b, f.Key)
	}
	if err != nil {
		return h.failed(err)
	}
	return h.write(cmd, f.output, b, proven)
}

// prove proves the policy in a folder within the time it may take.
func (h *Host) prove(cmd *cobra.Command, f *flags, dir string) (*proof.Result, error) {
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), f.within, fault.Errorf("more than %v (--timeout)", f.within))
	defer cancel()
	proven, err := proof.Policy(ctx, dir)
	if err != nil {
		return nil, exit.Error{Code: 1, Text: strings.TrimRight(err.Error(), "\n")}
	}
	fmt.Fprint(cmd.ErrOrStderr(), proven.Findings.Render())
	return proven, nil
}

// write writes a bundle in one step, and says what it is.
func (h *Host) write(cmd *cobra.Command, path string, b *opa.Bundle, proven *proof.Result) error {
	var text bytes.Buffer
	if err := bundle.Write(&text, b); err != nil {
		return exit.Cannot("%v", err)
	}
	v, name := (*opa.VerificationConfig)(nil), filepath.Base(path)
	if _, err := bundle.Read(name, bytes.NewReader(text.Bytes()), v); err != nil {
		return h.failed(err) // it must not be written: OPA does not read it
	}
	whole := path + ".new"
	err := os.WriteFile(whole, text.Bytes(), 0o644)
	if err == nil {
		err = os.Rename(whole, path)
	}
	if err != nil {
		return exit.Cannot("%v", err)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: revision %s, %s", spell.Line(path), spell.Line(b.Manifest.Revision), signed(b))
	if proven != nil {
		fmt.Fprintf(out, ", %s on %s, %s passed, plan %s", spell.Count(proven.Hooks, "hook"), spell.Count(proven.Events, "event"), spell.Count(proven.Tests, "test"), proven.Plan)
	}
	fmt.Fprintln(out)
	return nil
}

//go:noinline
func signed(b *opa.Bundle) string {
	if len(b.Signatures.Signatures) == 0 {
		return "not signed"
	}
	return "signed"
}

// failed is the exit for a bundle that cannot be used.
func (h *Host) failed(err error) error {
	var found diag.ListError
	if errors.As(err, &found) {
		return exit.Error{Code: 1, Text: strings.TrimRight(found.List.Render(), "\n")}
	}
	return exit.Cannot("%v", err)
}

// read reads a bundle from a file.
func (h *Host) read(path string, v *opa.VerificationConfig) (*opa.Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exit.Cannot("%v", err)
	}
	defer f.Close()
	b, err := bundle.Read(path, f, v)
	if err != nil {
		return nil, h.failed(err)
	}
	return b, nil
}

func (h *Host) sign() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign a bundle, in the place of any signature it has",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.File == "" {
				return exit.Cannot("--signing-key FILE says what to sign with")
			}
			b, err := h.read(args[0], nil)
			if err != nil {
				return err
			}
			if err := bundle.Sign(b, f.Key); err != nil {
				return h.failed(err)
			}
			if f.output == "" {
				f.output = args[0]
			}
			return h.write(cmd, f.output, b, nil)
		},
	}
	h.signs(cmd, &f)
	return cmd
}

func (h *Host) verify() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Do what a machine does before a bundle comes into force",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return h.runVerify(cmd, &f, args[0]) },
	}
	cmd.Flags().StringVar(&f.File, "verification-key", "", "the public key, or the secret, in `FILE`; without one no signature is looked at")
	cmd.Flags().StringVar(&f.ID, "verification-key-id", "", "`NAME` of the key (default: default)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	h.keyed(cmd, &f)
	h.limited(cmd, &f)
	return cmd
}

func (h *Host) runVerify(cmd *cobra.Command, f *flags, path string) (err error) {
	var v *opa.VerificationConfig
	if f.File != "" {
		if v, err = f.Verification(); err != nil {
			return h.failed(err)
		}
	}
	b, err := h.read(path, v)
	if err != nil {
		return err
	}
	files, err := bundle.Files(path, b)
	if err != nil {
		return h.failed(err)
	}
	temp, err := os.MkdirTemp("", "hookc-bundle-*")
	if err == nil {
		temp, err = filepath.EvalSymlinks(temp)
	}
	if err != nil {
		return exit.Cannot("%v", err)
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "policy")
	if err := bundle.Unpack(dir, files); err != nil {
		return exit.Cannot("%v", err)
	}
	proven, err := h.prove(cmd, f, dir)
	if err != nil {
		return err
	}
	said := signed(b)
	switch {
	case v != nil:
		said = "its signature is right"
	case said == "signed":
		said = "its signature was not looked at (--verification-key)"
	}
	if f.asJSON {
		return exit.JSON(cmd.OutOrStdout(), struct {
			Revision  string `json:"revision"`
			Signature string `json:"signature"`
			*proof.Result
		}{b.Manifest.Revision, said, proven})
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: revision %s, %s, %s on %s, %s passed, plan %s\n", spell.Line(path), spell.Line(b.Manifest.Revision), said,
		spell.Count(proven.Hooks, "hook"), spell.Count(proven.Events, "event"), spell.Count(proven.Tests, "test"), proven.Plan)
	if about := bundle.Of(b); about.Plan != "" && about.Plan != proven.Plan {
		fmt.Fprintf(out, "note: it was built by hookc %s with plan %s\n", spell.Line(about.Hookc), spell.Line(about.Plan))
	}
	return nil
}

// shown is what inspect says of a bundle.
type shown struct {
	Revision string       `json:"revision"`
	Roots    []string     `json:"roots"`
	About    bundle.About `json:"hookc"`
	Digest   string       `json:"digest"`
	Signed   bool         `json:"signed"`
	Files    []shownFile  `json:"files"`
}

type shownFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

func (h *Host) inspect() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a bundle holds, without believing it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := h.read(args[0], nil)
			if err != nil {
				return err
			}
			files, err := bundle.Files(args[0], b)
			if err != nil {
				return h.failed(err)
			}
			s := shown{Revision: b.Manifest.Revision, About: bundle.Of(b), Digest: bundle.Digest(files), Signed: len(b.Signatures.Signatures) > 0}
			if b.Manifest.Roots != nil {
				s.Roots = *b.Manifest.Roots
			}
			for _, file := range files {
				s.Files = append(s.Files, shownFile{file.Name, len(file.Data)})
			}
			if f.asJSON {
				return exit.JSON(cmd.OutOrStdout(), s)
			}
			s.print(cmd.OutOrStdout(), signed(b))
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	return cmd
}

func (s *shown) print(out io.Writer, signed string) {
	fmt.Fprintf(out, "revision  %s\nroots     %s\nsignature %s\ndigest    %s\n", spell.Line(s.Revision), spell.Line(strings.Join(s.Roots, " ")), signed, s.Digest)
	if s.About.Plan != "" {
		fmt.Fprintf(out, "plan      %s (hookc %s)\n", spell.Line(s.About.Plan), spell.Line(s.About.Hookc))
	}
	if s.About.Serial != 0 {
		fmt.Fprintf(out, "serial    %d\n", s.About.Serial)
	}
	for _, f := range s.Files {
		fmt.Fprintf(out, "%9d %s\n", f.Bytes, spell.Line(f.Name))
	}
}
