package runner

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// Answers is what the processes and models of an event answered where the event was
// decided before it came (agent.Agent.RefusedBefore): when it comes, they answer the
// same and are not run again. It is safe for concurrent use.
type Answers struct {
	mu sync.Mutex
	// ahead is set where the event did not come yet; kept where what is answered
	// is to be kept.
	ahead, kept bool
	answers     map[string]keptAnswer
}

// keptAnswer is what one hook answered last: an outcome, or why it failed.
type keptAnswer struct {
	Outcome agent.Outcome
	Kind    policy.ErrKind
	Error   string
}

// longestAnswers bounds what is kept of one event, in bytes.
const longestAnswers = 256 << 10

// AnswersAhead is for an event that is decided before it comes. Hooks that nobody waits
// for can refuse nothing and begin when it comes.
func AnswersAhead() *Answers {
	s := Keeping(nil)
	s.ahead = true
	return s
}

// Keeping keeps what the hooks of an event answer, beside what before holds,
// which may be nil.
func Keeping(before *Answers) *Answers {
	if before == nil {
		before = &Answers{answers: map[string]keptAnswer{}}
	}
	before.kept = true
	return before
}

// AnswersBefore is for an event that comes, of which Bytes was kept; nil if there is none.
func AnswersBefore(data []byte) *Answers {
	s := &Answers{}
	if json.Unmarshal(data, &s.answers) != nil {
		return nil
	}
	return s
}

// Bytes is what is to be kept, nil for nothing.
func (s *Answers) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := json.Marshal(s.answers)
	if len(s.answers) == 0 || err != nil || len(data) > longestAnswers {
		return nil
	}
	return data
}

type answersKey struct{}

// WithAnswers is for the hooks of one event; s may be nil.
func WithAnswers(ctx context.Context, s *Answers) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, answersKey{}, s)
}

// Waits reports whether a hook that nobody waits for is not to begin yet.
func Waits(ctx context.Context) bool {
	s, _ := ctx.Value(answersKey{}).(*Answers)
	return s != nil && s.ahead
}

// answered is what a hook answers: what it answered before, else what run does.
func answered(ctx context.Context, h *policy.Hook, run func() (agent.Outcome, error)) (agent.Outcome, error) {
	s, _ := ctx.Value(answersKey{}).(*Answers)
	if s == nil {
		return run()
	}
	s.mu.Lock()
	before, known := s.answers[h.Name]
	s.mu.Unlock()
	switch {
	case s.ahead || !known:
	case before.Kind != "":
		return before.Outcome, policy.Failf(before.Kind, "%s", before.Error)
	default:
		return before.Outcome, nil
	}
	out, err := run()
	if !s.kept {
		return out, err
	}
	now := keptAnswer{Outcome: out}
	if err != nil {
		now.Kind, now.Error = policy.KindOf(err), err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[h.Name] = now
	return out, err
}
