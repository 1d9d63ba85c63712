package laws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hookc/hookc/policy"
)

// run is the mock body: it notes the call, takes its time and answers.
func (w *world) run(ctx context.Context, name string, b *body, in *policy.Context, attempt int) (policy.Result, error) {
	text := jsonOf(in)
	w.mu.Lock()
	w.heard = append(w.heard, heard{name, attempt, text})
	w.mu.Unlock()
	r, err, hangs := w.answer(b, in, text, attempt)
	if !b.process {
		return r, err
	}
	patience := time.NewTimer(w.takes(b, text, attempt))
	defer patience.Stop()
	if hangs {
		patience.Stop()
	}
	select {
	case <-patience.C:
		return r, err
	case <-ctx.Done():
		return policy.Result{}, context.Cause(ctx)
	}
}

// takes is how long a call takes: less than mockTimeout, and never a round
// number of milliseconds, so that no two timers meet.
func (w *world) takes(b *body, in string, attempt int) time.Duration {
	if b.takes > 0 {
		return b.takes
	}
	rng := draw(w.clock, "takes", b.key, in, fmt.Sprint(attempt))
	return time.Duration(1+rng.IntN(12_000))*time.Microsecond + 137*time.Nanosecond
}

// answer is what a body says as a function of the seed, its key, what it is
// given and the attempt. A body that hangs never answers.
func (w *world) answer(b *body, in *policy.Context, text string, attempt int) (r policy.Result, err error, hangs bool) {
	if b.fixed != nil {
		r, err = b.fixed(in, attempt)
		return r, err, false
	}
	rng := draw(w.seed, "answer", b.key, text, fmt.Sprint(attempt))
	if rng.IntN(100) < b.failing {
		if b.process && rng.IntN(5) == 0 {
			return r, nil, true
		}
		kinds := []policy.ErrKind{policy.ErrExit, policy.ErrParse, policy.ErrEval}
		return r, policy.Failf(kinds[rng.IntN(3)], "failure %d of %s", rng.IntN(3), b.key), false
	}
	return w.said(rng, b), nil, false
}

// said is a random answer: often nothing, mostly what the body may say.
func (w *world) said(rng *rand.Rand, b *body) policy.Result {
	var r policy.Result
	if rng.IntN(3) == 0 {
		return r
	}
	if rng.IntN(2) == 0 {
		r.Verdict = policy.Verdict(rng.IntN(5))
		r.Reasons = []policy.Reason{{Text: fmt.Sprint(b.key, ":reason", rng.IntN(3))}}
	}
	if rng.IntN(5) == 0 {
		r.Control = policy.Control(rng.IntN(4))
	}
	list := func(what string, percent int) []string {
		if rng.IntN(100) >= percent {
			return nil
		}
		return []string{fmt.Sprint(b.key, ":", what, rng.IntN(3))}
	}
	r.Context, r.System, r.Feedback = list("context", 20), list("system", 20), list("feedback", 20)
	if r.Control == policy.Halt {
		r.StopReasons = list("stop", 50)
	}
	if rng.IntN(12) == 0 {
		r.Inject = []any{map[string]any{"role": "user", "content": b.key}}
	}
	r.Suppress = rng.IntN(20) == 0
	for _, name := range w.fixture.writes {
		if rng.IntN(3) > 0 {
			continue
		}
		p, _ := policy.ParsePath(name)
		switch value := any(fmt.Sprint(rng.IntN(3))); {
		case p.Field == policy.FieldToolConfig:
			r.ToolConfig = &policy.ToolConfig{Mode: []string{"AUTO", "ANY", "NONE"}[rng.IntN(3)], Names: []string{b.key}}
		case len(p.Keys) > 0 && rng.IntN(4) == 0:
			r.Patch = r.Patch.Then(policy.Remove(p))
		case len(p.Keys) > 0 && rng.IntN(6) == 0:
			r.Patch = r.Patch.Then(policy.Replace(policy.Path{Field: p.Field}, map[string]any{p.Keys[0]: value}))
		default:
			r.Patch = r.Patch.Then(policy.Replace(p, value))
		}
	}
	return r
}

func jsonOf(c *policy.Context) string {
	text, err := c.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(text)
}
