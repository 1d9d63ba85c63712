package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/sites"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/install"
	"github.com/hookc/hookc/policy/source/commandline"
)

func newDoctor() *cobra.Command {
	var s sources
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "doctor AGENT",
		Short:             "Prove that an agent's hook fires and refuses",
		Args:              oneAgent,
		ValidArgsFunction: agentArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAgent(args[0])
			if err != nil {
				return err
			}
			if a.Place.StartOnly {
				a.Start = a.Dir
			}
			d := &doctor{Agent: a, cmd: cmd, sources: &s}
			d.examine()
			if err := cmd.Context().Err(); err != nil {
				return exitError{Code: exitInterrupted, Text: ""}
			}
			return d.report(asJSON)
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// The statuses of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// check is one finding of doctor.
type check struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

// doctor is one examination.
type doctor struct {
	*sites.Agent
	cmd     *cobra.Command
	sources *sources
	checks  []check
	// program is nil when the policy does not compile.
	program *dag.Program
	needs   []sites.Need
	// entries are those of hookc, in the order of the files.
	entries []ownEntry
	seen    bool
}

// ownEntry is one entry of hookc in the settings.
type ownEntry struct {
	install.Found
	site *sites.Site
}

// at is where an entry is written.
//
//go:noinline
func (e *ownEntry) at() string { return fmt.Sprintf("%s:%d", e.site.Target.Name, e.Line) }

//go:noinline
func (d *doctor) say(name, status, hint, format string, args ...any) {
	d.checks = append(d.checks, check{name, status, fmt.Sprintf(format, args...), hint})
}

// examine makes every check; a later one leaves out what an earlier failure
// has made pointless.
func (d *doctor) examine() {
	all := d.readSettings()
	d.named()
	d.readPolicy()
	d.trusted()
	d.switches(all)
	d.events()
	d.shadows(all)
	d.matchers()
	d.strangers()
	d.commands()
	d.timeouts()
	d.failures()
	d.lastSeen()
	d.agentTrust(all)
	d.canaries()
}

// opened is a file of the settings that could be read.
type opened struct {
	site     *sites.Site
	found    []install.Found
	settings map[string]any
}

func (d *doctor) readSettings() []opened {
	var all []opened
	there := 0
	for _, s := range d.Every() {
		found, settings, err := s.Read()
		switch {
		case err != nil:
			d.say("settings", checkFail, "mend the file: the agent may not read it either", "%v", err)
			there++
			continue
		case found == nil && settings == nil:
			continue
		}
		there++
		own := 0
		for _, f := range found {
			if f.Own {
				own++
				d.entries = append(d.entries, ownEntry{f, s})
			}
		}
		d.say("settings", checkOK, "", "%s (%s) is read: %s of hookc, %s of others", s.Target.Name, s.File.Scope(),
			entries(own), count(len(found)-own, "hook"))
		all = append(all, opened{s, found, settings})
	}
	if there == 0 {
		d.say("settings", checkFail, "hookc install "+d.Dialect.ID, "%s has no settings here: hookc is not installed", d.Dialect.ID)
	}
	d.above()
	return all
}

// above tells of hookc's entries in the settings of the project's root, which an
// agent that is started below it does not read.
func (d *doctor) above() {
	if d.Start == d.Root {
		return
	}
	at := *d.Agent
	at.Start = d.Root
	for _, s := range at.Every() {
		found, _, err := s.Read()
		own := lists.Some(found, func(f *install.Found) bool { return f.Own })
		if err != nil || !own || s.File.Scope() != agent.ProjectScope && s.File.Scope() != agent.LocalScope {
			continue
		}
		status := checkFail
		if len(d.entries) > 0 {
			status = checkWarn
		}
		d.say("settings", status, "start "+d.Dialect.ID+" in "+d.Root+", or hookc install "+d.Dialect.ID+" --scope user",
			"%s is not read by %s when it is started here", s.Target.Name, d.Dialect.ID)
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// named takes the policy from the entries' own command where the user names
// none.
func (d *doctor) named() {
	if len(d.sources.Files) > 0 || len(d.entries) == 0 {
		return
	}
	words := commandline.Words(d.entries[0].Command)
	for i, w := range words {
		flag, value, joined := spell.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch flag {
		case "-f", "--file", "--artifact":
			d.sources.Files = append(d.sources.Files, value)
		case "--format":
			d.sources.Format = value
		case "--profile":
			d.sources.Profile = lists.First(d.sources.Profile, value)
		case "--faithful":
			d.sources.Faithful = !joined || value == "true"
		}
	}
}

func (d *doctor) readPolicy() {
	program, err := d.sources.program(d.cmd, hookc.Agent(d.Dialect.ID))
	if files := d.sources.Files; err != nil && len(files) == 1 && artifact.Named(files[0]) {
		d.say("policy", checkFail, "hookc compile -o "+files[0], "%s", strings.TrimRight(err.Error(), "\n"))
		return
	}
	if err != nil {
		d.say("policy", checkFail, "hookc check", "%s", strings.TrimRight(err.Error(), "\n"))
		return
	}
	d.program = program
	wide := len(program.Hooks) == 0
	needs, notes := sites.Needs(d.Dialect, d.Place, program, wide)
	d.needs = needs
	if wide {
		status := checkWarn
		if len(d.entries) > 0 { // which were written for a policy
			status = checkFail
		}
		d.say("policy", status, "hookc init", "there is no policy: hookc lets everything through")
	} else {
		d.say("policy", checkOK, "", "%s on %s, of which %s has %s", count(len(program.Hooks), "hook"), count(len(program.Plans), "event"),
			d.Dialect.ID, count(len(needs), "event"))
	}
	for _, n := range append(program.Notes, notes...) {
		d.say("policy", checkWarn, "", "%s", n)
	}
	for _, f := range program.Diagnostics {
		if lists.Has(hookc.AgentFindings, f.Code.ID) {
			d.say("policy", checkWarn, f.Hint, "%s: %s", f.Code.ID, f.Text)
		}
	}
	for _, w := range program.Warnings {
		d.say("policy", checkWarn, "hookc check", "%s: %s", w.Code.ID, w.Text)
	}
}

// trusted: hookc's own trust in a project's policy.
func (d *doctor) trusted() {
	if d.program == nil {
		return
	}
	ok := true
	for _, src := range d.program.Sources {
		if src.Untrusted != "" {
			ok = false
			d.say("trust", checkFail, "hookc trust", "the hooks of %s do not run: %s", src.Name, src.Untrusted)
		}
	}
	if ok && len(d.program.Sources) > 0 {
		d.say("trust", checkOK, "", "hookc trusts every source of the policy")
	}
}

// report prints the checks; failures are exit 1.
func (d *doctor) report(asJSON bool) error {
	failed := lists.Some(d.checks, func(c *check) bool { return c.Status == checkFail })
	out := d.cmd.OutOrStdout()
	if asJSON {
		err := writeJSON(out, struct {
			Agent  string  `json:"agent"`
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
		}{d.Dialect.ID, !failed, d.checks})
		if err != nil {
			return err
		}
	} else if err := d.print(out); err != nil {
		return err
	}
	if failed {
		return exitError{Code: exitFindings, Text: ""}
	}
	return nil
}

func (d *doctor) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range d.checks {
		lines := strings.Split(c.Text, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Status, c.Check, lines[0])
		for _, l := range lines[1:] {
			fmt.Fprintf(w, "\t\t%s\n", l)
		}
		if c.Hint != "" {
			fmt.Fprintf(w, "\t\thint: %s\n", c.Hint)
		}
	}
	return written("report", w.Flush())
}
