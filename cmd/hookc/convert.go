package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/print"
)

// codeLossy is the code of a meaning that a hooks.yaml does not have.
const codeLossy = "HK040"

// convertTargets are what convert writes: the file hooks.yaml, which is also the name
// of its format, and the format under a name that is no file.
var convertTargets = []string{"hooks.yaml", "hooksyaml"}

func newConvert() *cobra.Command {
	var s sources
	var c convertFlags
	cmd := &cobra.Command{
		Use:   "convert [PATH…] --to hooks.yaml",
		Short: "Write the sources as one canonical hooks.yaml that means the same",
		RunE:  func(cmd *cobra.Command, args []string) error { return c.run(cmd, &s, args) },
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&c.to, "to", "", "what to write: a hooks.yaml, as `FILE`, or hooksyaml on stdout")
	cmd.Flags().StringVarP(&c.output, "output", "o", "", "write to `FILE` instead; - is stdout")
	cmd.Flags().BoolVar(&c.force, "force", false, "overwrite FILE")
	cmd.Flags().BoolVar(&c.lossy, "lossy", false, "write also what is not the same, and say where")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "findings and the policy as JSON on stdout")
	decide.Complete(cmd, "to", convertTargets)
	return cmd
}

type convertFlags struct {
	to, output           string
	force, lossy, asJSON bool
}

// conversion is a policy about to be printed, with what its comments say.
type conversion struct {
	policy *policy.Policy
	header []string
	events map[policy.Event][]string
	hooks  map[*policy.Hook][]string
	found  diag.List
}

func (c *convertFlags) run(cmd *cobra.Command, s *sources, args []string) error {
	yaml := lists.Has([]string{".yaml", ".yml"}, filepath.Ext(c.to))
	if !yaml && !lists.Has(convertTargets, c.to) {
		return cannot("--to %q: %s", c.to, diag.DidYouMean(c.to, convertTargets, "convert writes hooks.yaml"))
	}
	switch {
	case c.output == "-":
		c.output = ""
	case c.output == "" && yaml && !c.asJSON:
		c.output = c.to
	}
	if c.output != "" && !c.force {
		if _, err := os.Lstat(c.output); !errors.Is(err, fs.ErrNotExist) {
			return cannot("%s exists; --force overwrites it", c.output)
		}
	}
	if err := s.fromSources(cmd, args); err != nil {
		return err
	}
	dir, err := decide.WorkDir()
	if err != nil {
		return err
	}
	options, done, err := s.Options(cmd, args, dir)
	if err != nil {
		return err
	}
	defer done()
	options = append(options, hookc.AsWritten(), hookc.SkipVerify())
	stop := progress(cmd.ErrOrStderr(), "converting")
	defer stop()
	before, found := hookc.Compile(options...)
	if before == nil {
		return c.refuse(cmd, found, summary(found))
	}
	loaded, _ := hookc.Load(options...)
	target, err := c.target(dir, loaded)
	if err != nil {
		return err
	}
	text, found := c.print(settle(loaded, before), filepath.Dir(target))
	found = severity.Apply(loaded.Severities, found)
	if found.HasErrors() && !c.lossy {
		return c.refuse(cmd, found, summary(found)+": --lossy writes it all the same")
	}
	if len(before.Hooks) == 0 {
		return cannot("there is nothing to convert: the sources have no hooks")
	}
	compared, err := equal(before, target, text, s)
	var differs differs
	switch {
	case errors.As(err, &differs):
		found.Add(diag.Lookup(codeLossy).Report(diag.Span{}, "%s", differs))
		if !c.lossy {
			return c.refuse(cmd, found, summary(found)+": --lossy writes it all the same")
		}
	case err != nil:
		return err
	}
	stop()
	return c.write(cmd, text, found, compared)
}

// refuse shows findings and writes nothing.
func (c *convertFlags) refuse(cmd *cobra.Command, found diag.List, text string) error {
	if c.asJSON {
		if err := writeJSON(cmd.OutOrStdout(), newFindings(found)); err != nil {
			return err
		}
		return exitError{Code: exitFindings, Text: ""}
	}
	fmt.Fprint(cmd.ErrOrStderr(), found.Render())
	return exitError{Code: exitFindings, Text: text}
}

// target is the absolute path at which the file will be read. On stdout that
// is not known: the folder that holds all sources means it, or dir.
func (c *convertFlags) target(dir string, p *policy.Policy) (string, error) {
	if c.output != "" {
		path, err := filepath.Abs(c.output)
		if err != nil {
			return "", cannot("%v", err)
		}
		return path, nil
	}
	if len(p.Sources) > 0 {
		top := filepath.Dir(p.Sources[0].Path)
		outside := func(s policy.SourceFile) bool {
			rel, err := filepath.Rel(top, s.Path)
			return err != nil || !filepath.IsLocal(rel)
		}
		if !slices.ContainsFunc(p.Sources, outside) {
			dir = top
		}
	}
	return filepath.Join(dir, "hooks.yaml"), nil
}

func (c *convertFlags) print(v *conversion, dir string) ([]byte, diag.List) {
	text, found := print.Print(v.policy, print.Options{
		Tier: policy.TierProject, Dir: dir, Header: v.header,
		Event: func(e policy.Event) []string { return v.events[e] },
		Hook:  func(h *policy.Hook) []string { return v.hooks[h] },
	})
	found = append(v.found, found...)
	found.Sort()
	return text, found
}

// differs is the event that tells the sources and the file apart.
type differs struct{ error }

// equalEvents are the generated events each event's chain is compared on.
const equalEvents = 300

// equal compiles the text as the file it will be and compares it with the
// sources; it returns how many events both have decided alike.
func equal(before *dag.Program, target string, text []byte, s *sources) (int, error) {
	in := source.Input{Path: target, Tier: policy.TierProject, Format: "hooksyaml", Content: text}
	converted, found := hookc.Compile(host.Input[hookc.Option](in), hookc.SkipVerify())
	if converted == nil {
		return 0, cannot("internal error: the converted policy does not compile:\n%s", found.Render())
	}
	if err := executor.Equal(before, converted, equalEvents); err != nil {
		return 0, differs{err}
	}
	return equalEvents * len(before.Plans), nil
}

// write puts the text where it belongs, and what there is to say on stderr.
func (c *convertFlags) write(cmd *cobra.Command, text []byte, found diag.List, compared int) error {
	if c.output != "" {
		if err := writeWhole(c.output, text); err != nil {
			return err
		}
	}
	switch {
	case c.asJSON:
		return writeJSON(cmd.OutOrStdout(), struct {
			Equal    int       `json:"equal_on"`
			Findings diag.List `json:"findings"`
			Policy   string    `json:"policy"`
		}{compared, newFindings(found).Findings, string(text)})
	case c.output == "":
		fmt.Fprintf(exact(cmd.OutOrStdout()), "%s", text)
	}
	fmt.Fprint(cmd.ErrOrStderr(), found.Render())
	if compared > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", count(compared, "generated event")+": the same decisions")
	}
	return nil
}

// writeWhole replaces a file at once: nobody reads half of it.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".hookc-*")
	if err != nil {
		return cannot("%v", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return cannot("%v", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return cannot("%v", err)
	}
	return nil
}
