// Package decide decides one event as hookc run does, for whoever asks: the
// command line that is read, the caller whose folder and environment count, the
// policy that is opened, and the answer in an agent's words.
package decide

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// MaxInput is the largest event accepted, in bytes.
const MaxInput = 32 << 20

// Subject is an event to be decided: what it says, and the folders whose
// policies decide.
type Subject struct {
	In    *policy.Context
	Event policy.Event
	// Project is where the policy is looked for: the agent may have wandered off.
	Project string
	Around  []string
	// warnings say why it cannot be told whose policies decide.
	warnings []policy.Warning
	// answers are what hooks answer, or answered, where the event is decided before it
	// comes; nil for most events.
	answers *runner.Answers
	// log is how it is logged, nil for not at all.
	log *keep.One
	// asked is who may be asked, nil for nobody.
	asked *approval.Caller
}

// Asking says who may be asked: the agent of a call, or with nil whoever wants the
// event decided. until is when it must have its answer, nil where the context says so.
func (e Subject) Asking(from *Caller, call *agent.Call, until func() time.Time) Subject {
	e.asked = &approval.Caller{CanAsk: !headless(from, call), Until: until}
	if call != nil {
		e.asked.CanAsk, e.asked.Agent = e.asked.CanAsk && call.CanAsk(), call.Agent()
	}
	return e
}

// headless reports whether the environment says that nobody can be asked. Claude Code
// names what it was started as: by -p or as an action of GitHub it asks nobody.
func headless(from *Caller, call *agent.Call) bool {
	if said := from.Getenv("HOOKC_HEADLESS"); said != "" || call == nil || !strings.HasPrefix(call.Agent(), "claude") {
		return said != "" && said != "0"
	}
	as := from.Getenv("CLAUDE_CODE_ENTRYPOINT")
	return as == "sdk-cli" || as == "claude-code-github-action"
}

// SubjectOf is an event as run, serve and explain decide it. It does not change
// any more.
func SubjectOf(in *policy.Context, event policy.Event) Subject {
	return subjectOf(in, event, &agent.Call{})
}

// subjectOf is SubjectOf of what came with a call. What a variable alone says is the project
// is it where the session began in it; elsewhere no more than its policies count.
func subjectOf(in *policy.Context, event policy.Event, call *agent.Call) Subject {
	around, warnings := memory.Around(in)
	if root := call.Named; root != "" && !in.Has(policy.FieldProjectRoot) {
		holds := func(at string) bool { return paths.Narrows(root, at) }
		if slices.ContainsFunc(around, holds) {
			in.Set(policy.FieldProjectRoot, root)
		} else {
			around = append(around, root)
			warnings = append(warnings, policy.Warning{Code: codeIgnoredVariable,
				Text: fmt.Sprintf("%s is ignored: the agent is not in the project %s that it names", call.NamedBy, spell.Line(root))})
		}
	}
	in = in.Frozen(event)
	if cwd := in.Text(policy.FieldCwd); unspelled(cwd) {
		warnings = append(warnings, policy.Warning{Code: codeUnspelled,
			Text: fmt.Sprintf("the working directory %s is not there: policies of a project whose name is not UTF-8 do not apply", spell.Line(cwd))})
	}
	return Subject{In: in, Event: event, Project: in.Text(policy.FieldProjectRoot), Around: around, warnings: warnings}
}

// Fire decides the event by an engine.
func (e Subject) Fire(ctx context.Context, eng *hookc.Engine, serial bool) (*policy.Decision, error) {
	ctx = approval.With(runner.WithAnswers(ctx, e.answers), e.asked)
	fire := eng.Fire
	if serial {
		fire = eng.FireSerial
	}
	d, err := fire(ctx, e.Event, e.In)
	if d != nil {
		d.Warnings = append(slices.Clip(d.Warnings), e.warnings...)
	}
	return d, err
}

var codeUnspelled = diag.Define("HK166", diag.Warning, "the working directory has no name in JSON").Guarding()

// unspelled reports whether a folder's name cannot be what it is called: what was not
// UTF-8 was replaced, and nothing is there.
func unspelled(dir string) bool {
	if !strings.ContainsRune(dir, utf8.RuneError) {
		return false
	}
	_, err := os.Stat(dir)
	return err != nil
}

// OneEvent compiles for a process that decides one event: other events are
// left out, and so is what pays only when there are more.
//
//go:noinline
func OneEvent(event policy.Event) hookc.Option {
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event, c.Once = event, true })
}

// EveryEvent compiles for one that decides all there are of a kind.
//
//go:noinline
func EveryEvent(event policy.Event) hookc.Option {
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event = event })
}
