package runner

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// moved remembers what became of Rego that stands in a policy file, by its text. A
// change anywhere in the file gives all of its hooks other places; while an editor
// types, only the hook that changed is compiled again, and findings of the others are
// moved to where they are now. Their bodies still name the old places.
type moved struct {
	make   func(*policy.Hook) (dag.Body, diag.List)
	digest func(*policy.Hook) string

	mu          sync.Mutex
	used, older map[movedKey]*movedHook
}

// movedKey is what a compilation depends on, places and shared files aside.
type movedKey struct {
	event              policy.Event
	name, text, config string
	timeout            time.Duration
	opinion            bool
}

type movedHook struct {
	hook  *policy.Hook
	body  dag.Body
	found diag.List
}

// begin forgets what the compilation before the last one made.
func (m *moved) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used != nil {
		m.used, m.older = nil, m.used
	}
}

// prepare is the Kind's Prepare. A body is fresh when prepare gives it again.
func (m *moved) prepare(h *policy.Hook) (dag.Body, diag.List) {
	key := movedKey{h.Event, h.Name, h.Body.Source.Value, "", h.Timeout, h.Body.AllowIsOpinion}
	if h.File != nil {
		r := &h.File.Rego
		key.config = fmt.Sprint(h.File.Dir, r.Version, r.Forbid, r.Forbid == nil, values(r.Paths), values(r.Data), m.digest(h))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.used[key]
	if known == nil {
		known = m.older[key]
	}
	if known == nil || !known.move(h) {
		known = &movedHook{hook: h}
		known.body, known.found = m.make(h)
		known.body.Fresh = nil
	}
	if m.used == nil {
		m.used = map[movedKey]*movedHook{}
	}
	m.used[key] = known
	return known.body, known.found
}

func values(texts []diag.Text) []string {
	var out []string
	for _, t := range texts {
		out = append(out, t.Value)
	}
	return out
}

// move moves the findings to where the hook is now; false when that cannot be told.
func (k *movedHook) move(h *policy.Hook) bool {
	was, is := k.hook.Span.Source, h.Span.Source
	from, to := k.hook.Body.Source.Span, h.Body.Source.Span
	if was == nil || is == nil || was.Name != is.Name || from.Source == nil || to.Source == nil || from.Source.Name != to.Source.Name || textAt(from) != textAt(to) {
		return false
	}
	found := make(diag.List, len(k.found))
	for i, d := range k.found {
		switch at := d.Span; {
		case at.Source == from.Source && at.Start >= from.Start && at.End <= from.End && at.End > 0:
			d.Span = diag.Span{Source: to.Source, Start: at.Start - from.Start + to.Start, End: at.End - from.Start + to.Start}
		case at.Source != was:
		case at.End == 0:
			d.Span.Source = is
		case at == k.hook.Span:
			d.Span = h.Span
		default:
			return false
		}
		found[i] = d
	}
	k.hook, k.found = h, found
	return true
}

// textAt is what stands in a file at a place.
func textAt(s diag.Span) string {
	return strings.TrimRight(s.Source.Content[s.Start:min(s.End, len(s.Source.Content))], " \r\n")
}
