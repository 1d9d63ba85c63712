// Package host has the options of an engine that are for hookc's own commands: they
// name types that nobody else is promised. An option is a hookc.Option, which is what O
// means everywhere.
package host

import (
	"time"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/rego"
)

// Config is what the options change.
type Config struct {
	Compile *compiler.Config
	Execute *executor.Options
	Kinds   *runner.Options
	Inputs  *[]source.Input
	// Last says where the last plan is kept.
	Last func(*state.Dir)
	// Trials has hooks ask the dag.Trial of a firing.
	Trials func(rules []string)
	// Drafts has what is compiled kept, and files read as they are in an editor.
	Drafts func(kept *any, moving bool, draft func(path string) (string, bool))
	// Fit says what is wrong with a program that is to come into force.
	Fit *func(*dag.Program) error
}

// Option makes a hookc.Option of a change. Package hookc sets it.
var Option func(change func(Config)) any

// Compiler changes how policies are compiled: narrowing to one event, switching
// passes off, strictness.
func Compiler[O any](change func(*compiler.Config)) O {
	return Option(func(c Config) { change(c.Compile) }).(O)
}

// Execution changes how plans run: where the duplicate guard and the gate counters
// live, what observes hooks.
func Execution[O any](change func(*executor.Options)) O {
	return Option(func(c Config) { change(c.Execute) }).(O)
}

// Replay is for a command that decides recorded events, asks for no metrics and keeps no
// event: counters that all cores write to cost a brief rule a good part of its time.
func Replay(o *executor.Options) {
	o.SpareEvents = true
	o.Count = func(*dag.Node) func(policy.Status, int, time.Duration) {
		return func(policy.Status, int, time.Duration) {}
	}
	o.Filtered = func(*dag.Plan) (func([]int), func()) { return func([]int) {}, func() {} }
	o.Together = func(*dag.Plan, []int) (func(int, time.Duration, bool), func()) {
		return func(int, time.Duration, bool) {}, func() {}
	}
}

// Debug is told of every attempt of a bash or llm hook.
func Debug[O any](f func(runner.DebugRecord)) O {
	return Option(func(c Config) { c.Kinds.Debug = f }).(O)
}

// Input adds one source exactly as described.
func Input[O any](in source.Input) O {
	return Option(func(c Config) { *c.Inputs = append(*c.Inputs, in) }).(O)
}

// Eyes has what native code of Rego says looked at by eyes of the host's, which
// several engines can share, instead of the engine's own: who keeps what they
// rejected, and tells of it, is the host.
func Eyes[O any](e *rego.Eyes) O {
	return Option(func(c Config) { c.Kinds.Eyes = e }).(O)
}

// KeepLast keeps the plan that an engine compiles in a state folder, and lets Open
// decide by it while a file of the policy was written less than a second ago: such a
// file may be half written. Every Decision says so then. It is for processes that
// decide one event; an engine that is there longer keeps its plan when a Reload fails.
func KeepLast[O any](dir *state.Dir) O {
	return Option(func(c Config) { c.Last(dir) }).(O)
}

// Trials is for tests of policies: hooks that start a process or ask a model, and
// the rules that are named, ask the dag.Trial that the context of a firing carries
// what they answer before they are run.
func Trials[O any](rules ...string) O {
	return Option(func(c Config) { c.Trials(rules) }).(O)
}

// Covered has cover see which parts of rules the serial definition evaluates
// (FireSerial). It leaves out all optional passes, native Rego among them: what
// they leave out, or evaluate together, would not be seen.
func Covered[O any](cover dag.Cover) O {
	return Option(func(c Config) {
		c.Kinds.Cover, c.Compile.Without = cover, nil
		for _, p := range compiler.Passes() {
			if !p.Required {
				c.Compile.Without = append(c.Compile.Without, p.Name)
			}
		}
	}).(O)
}

// Drafts is for an editor, which compiles a policy again and again: what is made once
// is kept for the next Compile, and a file that draft knows is read as the editor has
// it. The option is made once and serves one Compile at a time, always with the same
// other options but inputs and folders. With moving the program is good for its
// findings alone: bodies name the places where they were.
func Drafts[O any](moving bool, draft func(path string) (string, bool)) O {
	var kept any
	return Option(func(c Config) { c.Drafts(&kept, moving, draft) }).(O)
}

// Fit has Open and every Reload refuse a policy whose program is not fit for the host:
// the error is fit's, and a Reload leaves the policy before in force.
func Fit[O any](fit func(*dag.Program) error) O {
	return Option(func(c Config) { *c.Fit = fit }).(O)
}
