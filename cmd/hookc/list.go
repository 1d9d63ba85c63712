package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// listed is one thing hookc is made of.
type listed struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// catalogue lists everything that is registered somewhere, by kind. It is the
// one place where all of it can be reviewed.
func catalogue() []listed {
	var out []listed
	add := func(kind, name, doc string) { out = append(out, listed{kind, name, doc}) }
	for _, e := range policy.Events() {
		add("event", string(e), "class "+e.Spec().Class.String())
	}
	for _, n := range policy.StrategyNames() {
		s, _ := policy.ParseStrategy(n)
		add("strategy", n, s.Spec().Doc)
	}
	for _, k := range runner.Kinds(runner.Options{}) {
		add("hook kind", string(k.Name), k.Doc)
	}
	for _, p := range agent.Protocols() {
		add("protocol", p, "what a script of this agent reads and answers")
	}
	for _, d := range agent.All() {
		add("dialect", d.ID, d.Doc)
	}
	for _, f := range source.Formats() {
		add("format", f.Name, f.Doc)
	}
	for _, f := range policy.Fields() {
		add("field", f.String(), f.Spec().Doc)
	}
	for _, f := range builtins.Funcs() {
		add("function", f.Name, f.Doc)
	}
	for _, r := range builtins.Rules() {
		add(ruleKind, r.Name, r.Doc)
		for _, o := range r.Options {
			add(optionKind, r.Name+" "+o.Name, o.Doc)
		}
	}
	for _, p := range compiler.Passes() {
		add("pass", p.Name, p.Doc)
	}
	for _, r := range render.Renderers() {
		add("renderer", r.Name, r.Doc)
	}
	for _, c := range diag.Codes() {
		add("code", c.ID, c.Severity.String()+": "+c.Title)
	}
	return out
}

// What a policy calls a builtin is a rule with its options.
const (
	ruleKind    = "rule"
	optionKind  = "option"
	builtinKind = string(policy.KindBuiltin)
)

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [KIND]",
		Short: "Every event, kind, format, function, pass and code hookc knows",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := catalogue()
			if len(args) == 1 {
				all = ofKind(all, args[0])
				if len(all) == 0 {
					return cannot("nothing is of kind %q: %s", args[0], diag.DidYouMean(args[0], listKinds(), "`hookc list` shows everything"))
				}
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), all)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, l := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\n", l.Kind, l.Name, l.Doc)
			}
			return written("list", w.Flush())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return listKinds(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func ofKind(all []listed, kind string) []listed {
	var out []listed
	for _, l := range all {
		if l.Kind == kind || kind == builtinKind && (l.Kind == ruleKind || l.Kind == optionKind) {
			out = append(out, l)
		}
	}
	return out
}

func listKinds() []string {
	var out []string
	for _, l := range catalogue() {
		if !lists.Has(out, l.Kind) {
			out = append(out, l.Kind)
		}
	}
	return append(out, builtinKind)
}
