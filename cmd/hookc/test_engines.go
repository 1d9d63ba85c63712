package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// bothEngines has the Rego of a case evaluated by native code, as serve and a gate
// have it, and by OPA, as `run` of sources has it, and says where they differ.
type bothEngines struct {
	kept    doubts
	mu      sync.Mutex
	differs []string
}

func newBothEngines() *bothEngines { return &bothEngines{kept: openDoubts()} }

// eyes ask both, of all code that is in use.
func (b *bothEngines) eyes() hookc.Option {
	e := rego.NewEyes(true, b.kept.rejected(), b.differ)
	e.Leaves(b.kept.left(), nil)
	return host.Eyes[hookc.Option](e)
}

// differ notes what differs, and ends the use of the code.
func (b *bothEngines) differ(d rego.Difference) {
	b.kept.report(d)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.differs = append(b.differs, fmt.Sprintf("%s: its native code says %s, and OPA, which `hookc run` asks, %s", d.Hook, masked(d.Native), masked(d.Topdown)))
}

// text says where they differed.
func (b *bothEngines) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.differs, "\n")
}

// enginesOf says which engine evaluated which rules of an event.
func enginesOf(eng *hookc.Engine, d *policy.Decision, in *policy.Context) string {
	p := eng.Program()
	return render.Trace(p, p.Plan(d.Event), d, in, render.TraceOptions{}).Engines()
}

// engine prints what evaluated the rules of a case.
func (o *outcome) engine(out io.Writer) {
	if o.Engine != "" {
		fmt.Fprintf(out, "     engine: %s\n", o.Engine)
	}
}

// runCase fires one case and says in what the Decision differs, or both engines of
// Rego do, "" in nothing.
func runCase(ctx context.Context, c source.Case, options []hookc.Option, under *policy.Policy) (text, engine string, err error) {
	event, ok := policy.ParseEvent(c.Native)
	if !ok {
		return fmt.Sprintf("unknown event %q: %s", c.Native, diag.DidYouMean(c.Native, policy.EventNames(), "name it in the field \"event\"")), "", nil
	}
	if text := strayAnswer(c, under); text != "" {
		return text, "", nil
	}
	both := newBothEngines()
	eng, err := open(ctx, append(slices.Clone(options), hookc.Answers(c.Answers), hookc.SkipVerify(), both.eyes()))
	if err != nil {
		return "", "", err
	}
	d, err := eng.Fire(ctx, event, c.Event)
	if err != nil {
		return "", "", cannot("%v", err)
	}
	if err := eng.Close(); err != nil {
		return "", "", cannot("%v", err)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return "", "", cannot("%v", err)
	}
	got, err := policy.DecodeJSON(raw)
	if err != nil {
		return "", "", cannot("%v", err)
	}
	text = strings.Join(differences(c.Expect, got.(map[string]any)), "\n")
	return strings.Trim(both.text()+"\n"+text, "\n"), enginesOf(eng, d, c.Event), nil
}
