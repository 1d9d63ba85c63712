package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

func newExplain() *cobra.Command {
	var s sources
	var inputs []string
	var asJSON, chain, witnesses, rules bool
	cmd := &cobra.Command{
		Use:               "explain --input FILE [EVENT]",
		Short:             "Show what one real event does: each hook, and who decides",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: decide.EventArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if witnesses {
				return explainWitnesses(cmd, &s, asJSON)
			}
			if len(inputs) == 0 {
				return cannot("explain needs --input FILE, an event as JSON (- for stdin)")
			}
			e := explainer{sources: &s, json: asJSON, chain: chain, rules: rules, drawn: map[string]bool{}}
			for _, path := range inputs {
				if err := e.explain(cmd, path, args); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.flags(cmd)
	s.Passes(cmd)
	cmd.Flags().StringArrayVarP(&inputs, "input", "i", nil, "event as JSON, in `FILE` or - (repeatable)")
	cmd.Flags().BoolVar(&witnesses, "witness", false, "show for each rule an event that makes it fire")
	cmd.Flags().BoolVar(&rules, "rules", false, "ask the rules alone: start no process, ask no model")
	cmd.Flags().BoolVar(&chain, "chain", false, "draw the compiled chain of the event first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the trace as JSON")
	return cmd
}

// explainer traces the events of one command line.
type explainer struct {
	*sources
	json, chain, rules bool
	// drawn are the chains already on the page, by policy, event and tool.
	drawn map[string]bool
}

// explain traces one event.
func (e *explainer) explain(cmd *cobra.Command, path string, args []string) error {
	in, event, err := openEvent(cmd.Context(), cmd.InOrStdin(), path, args)
	if err != nil {
		return err
	}
	asked := decide.SubjectOf(in, event)
	in = asked.In
	options, done, err := e.Options(cmd, nil, asked.Project)
	if err != nil {
		return err
	}
	defer done()
	if !e.chain { // the picture shows where the event stands among the others
		options = append(options, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event = event }))
	}
	if e.rules {
		if options, err = rulesAlone(cmd.Context(), options, event); err != nil {
			return err
		}
	}
	eng, err := decide.Open(cmd.Context(), append(options, hookc.SkipVerify(), hookc.Inspect()))
	if err != nil {
		return err
	}
	begun := time.Now()
	d, err := asked.Fire(cmd.Context(), eng, false)
	elapsed := time.Since(begun)
	if err != nil {
		return cannot("%v", err)
	}
	var without *policy.Decision
	if d.By != "" {
		if without, err = eng.Without(cmd.Context(), event, in, d); err != nil {
			return cannot("%v", err)
		}
	}
	if err := eng.Close(); err != nil {
		return cannot("%v", err)
	}
	program, out := eng.Program(), cmd.OutOrStdout()
	trace := render.Trace(program, program.Plan(event), d, in, render.TraceOptions{Without: without, Elapsed: elapsed})
	if e.json {
		return writeJSON(out, trace)
	}
	tool := in.Text(policy.FieldToolName)
	if which := program.Hash + " " + string(event) + " " + tool; e.chain && !e.drawn[which] {
		e.drawn[which] = true
		if err := draw(out, "text", explained(program, event, tool)); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	text, _ := render.FindTraceRenderer("text")
	if err := text.Render(out, trace, style(out)); err != nil {
		return cannot("the trace cannot be written: %v", err)
	}
	for _, line := range decide.FleetLines(cmd.Context()) {
		fmt.Fprintln(out, line)
	}
	if d.Action == policy.Cancelled {
		return exitError{Code: exitInterrupted, Text: "hookc: cancelled"}
	}
	return nil
}

// rulesAlone are the options by which hooks that are no rules say nothing.
func rulesAlone(ctx context.Context, options []hookc.Option, event policy.Event) ([]hookc.Option, error) {
	options = append(options, host.Execution[hookc.Option](func(o *executor.Options) {
		o.Async = func(context.Context, *dag.Node, *policy.Context) error { return nil }
	}))
	eng, err := decide.Open(ctx, append(lists.Copy(options), hookc.SkipVerify()))
	if err != nil {
		return nil, err
	}
	silent := map[string]map[string]any{}
	if plan := eng.Program().Plan(event); plan != nil {
		for i := range plan.Nodes {
			if h := plan.Nodes[i].Hook; !h.Kind.InProcess() {
				silent[h.Name] = map[string]any{}
			}
		}
	}
	if err := eng.Close(); err != nil {
		return nil, cannot("%v", err)
	}
	return append(options, hookc.Answers(silent)), nil
}

func openEvent(ctx context.Context, stdin io.Reader, path string, args []string) (*policy.Context, policy.Event, error) {
	if path == "-" {
		return readEvent(ctx, stdin, args)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", cannot("%v", err)
	}
	defer f.Close()
	return readEvent(ctx, f, args)
}
