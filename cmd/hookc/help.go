package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// topics are the subjects of `hookc help` that are no command, in the order
// they are listed.
var topics = []struct {
	name, doc string
	write     func(io.Writer)
}{
	{"events", "the lifecycle points, what each obeys and its native names", helpEvents},
	{"fields", "what hooks may read and change", helpFields},
	{"functions", "what expr and Rego rules can call", helpFunctions},
	{"postures", "what a hook's failure means", helpPostures},
	{"environment", "the variables hookc reads and sets", helpEnvironment},
	{"exit-codes", "what the exit codes mean", helpExitCodes},
}

func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC | CODE]",
		Short: "Help about a command, a topic or a diagnostic code",
		Long:  "Help about a command, a topic (" + strings.Join(topicNames(), ", ") + ") or a diagnostic code such as HK141.",
		Example: `  hookc help compile
  hookc help HK141
  hookc help events`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return helpWords(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && helpTopic(cmd.OutOrStdout(), args[0]) {
				return nil
			}
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || found == nil {
				name := strings.Join(args, " ")
				return cannot("there is no help on %q: %s", name, diag.DidYouMean(name, helpWords(root), "`hookc help` lists the commands"))
			}
			found.InitDefaultHelpFlag()
			if err := found.Help(); err != nil {
				return cannot("%v", err)
			}
			if found == root {
				fmt.Fprintln(cmd.OutOrStdout(), "\nTopics:")
				for _, t := range topics {
					fmt.Fprintf(cmd.OutOrStdout(), "  %-12s %s\n", t.name, t.doc)
				}
			}
			return nil
		},
	}
}

func topicNames() []string {
	var out []string
	for _, t := range topics {
		out = append(out, t.name)
	}
	return out
}

func helpWords(root *cobra.Command) []string {
	out := topicNames()
	for _, c := range root.Commands() {
		if !c.Hidden {
			out = append(out, c.Name())
		}
	}
	for _, c := range diag.Codes() {
		out = append(out, c.ID)
	}
	return out
}

// helpTopic writes the help on a topic or a code; false when there is none.
func helpTopic(w io.Writer, name string) bool {
	if c := diag.Lookup(name); c != nil {
		fmt.Fprintf(w, "%s (%s): %s\n\n%s\n\n", c.ID, c.Severity, c.Title, strings.TrimSpace(c.Help))
		if c.Bad == "" {
			fmt.Fprintln(w, c.NoExample)
			return true
		}
		fmt.Fprintf(w, "Reported for:\n\n%s\n\nNot reported for:\n\n%s\n", indent(c.Bad), indent(c.Good))
		return true
	}
	for _, t := range topics {
		if t.name == name {
			t.write(w)
			return true
		}
	}
	return false
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

func helpEvents(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "EVENT\tCLASS\tOBEYS\tCHANGES\tSTRATEGY\tOTHER NAMES")
	for _, e := range policy.Events() {
		s := e.Spec()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e, s.Class, lists.First(s.Powers.String(), "–"), lists.First(s.Writable().String(), "–"), s.Strategy, strings.Join(s.Aliases, " "))
	}
	fmt.Fprintln(w, "\nG guards an action · T transforms a value · Q guards ending (a deny keeps the agent working) · O observes")
	fmt.Fprintln(w, "ext.NAME is an event of your own host; it observes.")
}

func helpFields(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "FIELD\tTYPE\tHOLDS")
	for _, f := range policy.Fields() {
		spec := f.Spec()
		doc := spec.Doc
		if f.Derived() {
			doc += " (computed)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", spec.Name, spec.Type, doc)
	}
	fmt.Fprintln(w, "\nThe names are the same in filters, templates, expr, Rego's input, reads: and writes:, and a script's stdin.")
}

func helpFunctions(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, f := range builtins.Funcs() {
		var params []string
		for _, p := range f.Params {
			params = append(params, p.Name)
		}
		world := ""
		if f.World == policy.WorldRead {
			world = " (looks at the disk)"
		}
		fmt.Fprintf(w, "%s(%s)\t%s%s\n", f.Name, strings.Join(params, ", "), f.Doc, world)
		for _, e := range f.Examples {
			fmt.Fprintf(w, "\t  %s = %v\n", e.Call, e.Want)
		}
	}
}

func helpPostures(w io.Writer) { fmt.Fprintln(w, manual()["topic postures"]) }

func helpEnvironment(w io.Writer) {
	fmt.Fprintf(w, manual()["topic environment"]+"\n", strings.Join(agent.Variables(), ", "))
}

func helpExitCodes(w io.Writer) { fmt.Fprintln(w, manual()["topic exit-codes"]) }
