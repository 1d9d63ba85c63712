package dag

import (
	"context"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Kind is one kind of hook: the seam through which bodies reach the compiler.
// executor/runner has one value a kind, in one file each, and gives them to
// compiler.Config.
type Kind struct {
	Name policy.Kind
	// Timeout and Retry are the defaults of the kind; for an in-process kind
	// Timeout is the step budget.
	Timeout time.Duration
	Retry   int
	// Cost is the class estimate of one run (semantics.md §3.1).
	Cost time.Duration
	// OnError is the built-in default at class G and elsewhere.
	OnGuard, OnOther policy.Posture
	// Prepare makes a body ready: it compiles what can be compiled, infers
	// the effects of what it can see through and reports what is wrong with
	// the body at its own lines.
	Prepare func(h *policy.Hook) (Body, diag.List)
	// Native makes code of a body that Prepare made, so that it does without the
	// interpreter of its language: it changes the body's Runner, Engine, Brief and
	// Cost, and nothing of what the body says. It compares the two, and what
	// differs stays as it was, with a finding. nil is a kind that has no such code.
	Native func(h *policy.Hook, b *Body) diag.List
	// Begin is called when a compilation begins, if it is not nil: what the disk
	// held for an earlier one may have changed.
	Begin func()
	// Fuse makes one evaluation of several bodies, which are pure and see the
	// same version of the event. Members are the parts that can be in it, as
	// ascending indices; fewer than two make no fusion. fuse makes the evaluation,
	// which takes a while. nil is a kind whose bodies are cheapest one by one.
	Fuse func(parts []FusePart) (members []int, fuse func() FusedRun)
	// Digest identifies what a body is made of besides the hook itself: shared
	// Rego and data. It goes into the program's hash, also for hooks that are
	// not prepared; nil is nothing.
	Digest func(h *policy.Hook) string
	// Encode writes, for an artifact, what was made of a hook's body and is no
	// part of the hook: code that need not be compiled again. Its first byte is a
	// version of the kind's own. nil is a kind with nothing of that sort, and so
	// is an empty answer.
	Encode func(h *policy.Hook, body policy.Runner) []byte
	// Decode makes the body of a hook that compiled before, of what Encode wrote,
	// without parsing or compiling anything: that happens when it first runs, if
	// it must, and what is wrong then is an error of Run. It is not nil for a
	// kind whose hooks go into artifacts.
	Decode func(h *policy.Hook, code []byte) policy.Runner
	// Doc says in a line what the kind runs.
	Doc string
}

// Deferred is a body that is made ready when it is first asked for.
type Deferred interface {
	policy.Runner
	// Made is the body itself, made ready now if it was not.
	Made() policy.Runner
}

// Reasoned is a body that knows what of an event each of its rules looks at.
type Reasoned interface {
	// Reads lists what the rule written at a place looks at, nil when no rule
	// is. It is for explain, and may take a while.
	Reads(at diag.Span) []policy.Path
}

// Body is a hook's body made ready.
type Body struct {
	Runner policy.Runner
	// Effects are the kind's defaults or what was inferred; the compiler lays
	// the author's declarations over them.
	Effects policy.Effects
	// Always is what the body says whatever it reads (a constant rule that
	// cannot fail), for the unreachable-hook analysis.
	Always policy.Powers
	// Engine says how the body is evaluated, for explain; "" is the kind.
	Engine string
	// Brief is true of a body that a look at the clock takes a good part of:
	// several in a row are timed together.
	Brief bool
	// Cost overrides the kind's class estimate when it is not 0.
	Cost time.Duration
	// Unindexed are the body's rules that are evaluated for every event.
	Unindexed []Unindexed
	// Fresh reports whether Prepare would make the same of the same hook again,
	// in the compilation that has begun last. nil is a body that is always made
	// again.
	Fresh func() bool
}

// Unindexed is a rule whose body has no test by which an index can leave it
// out.
type Unindexed struct {
	// At is where the body is written; Hint says how to write it.
	At   diag.Span
	Hint string
}

// Broken is the runner of a body that did not compile: it fails, so that
// on_error decides and nothing passes in silence.
//
//go:noinline
func Broken(found diag.List) policy.Runner {
	text := "the body does not compile"
	var at diag.Span
	for _, d := range found {
		if d.Severity == diag.Error {
			text, at = d.Text, d.Span
			break
		}
	}
	return policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) {
		return policy.Result{}, &policy.HookError{Kind: policy.ErrParse, Text: text, At: at}
	})
}
