package executor

import "github.com/hookc/hookc/policy"

// Reused is memory for Decisions of which none is kept. The zero Reused is
// ready. It serves one event at a time.
type Reused struct {
	decision policy.Decision
	// made is the event of Make, nil where something may have kept it.
	made *policy.Context
	// Decision.Hooks are the template of of, a pick of in, but for the pick's loose
	// nodes, for loud, which ascend, and from the node blank on, where nothing has
	// been started; nothing is known of them when in is nil.
	in    *schedule
	of    *pick
	loud  []int32
	blank int
}

// Take is the event that was decided last, or nil. It is spare where nobody holds it.
func (m *Reused) Take() *policy.Context {
	if m.made != nil && m.made == m.decision.Final {
		policy.Spare(m.made)
	}
	m.made = nil
	return m.decision.Final
}

// Make notes that in was made for m's next decision, and is held by nobody else.
func (m *Reused) Make(in *policy.Context) *Reused {
	m.made = in
	return m
}

// trace appends the template of a pick: what becomes of each node when all that
// are picked are silent, as far as it is known without asking them.
func (w *schedule) trace(p *pick, into []policy.HookTrace) []policy.HookTrace {
	if b := p.batch; b != nil && len(b.nodes) == len(w.ran) {
		return append(into, w.ran...)
	}
	into = append(into, w.filtered...)
	p.batch.lay(into, w.ran, 0)
	return into
}

// lay makes the trace of a firing the template of its pick, but from r.blank on.
func (r *inlineRun) lay(m *Reused) {
	w, p, hooks := r.w, r.pick, m.decision.Hooks
	r.answer.Hooks, r.loud, r.blank = hooks, m.loud[:0], len(w.blank)
	switch {
	case m.in != w || m.of != p && m.blank < len(hooks):
		r.answer.Hooks = w.trace(p, hooks[:0])
	case m.of == p:
		r.blank = m.blank
		restore(hooks, w.filtered, p.loose, m.blank)
		restore(hooks, w.ran, m.loud, m.blank)
	default:
		restore(hooks, w.filtered, m.of.loose, m.blank)
		m.of.batch.lay(hooks, w.filtered, 0)
		p.batch.lay(hooks, w.ran, 0)
	}
}

// restore copies the traces of nodes, which ascend, as far as one.
func restore[N int | int32](to, from []policy.HookTrace, nodes []N, end int) {
	for _, i := range nodes {
		if int(i) >= end {
			return
		}
		to[i] = from[i]
	}
}

// reach makes sure that the template reaches as far as the node n, inclusively.
func (r *inlineRun) reach(n int) {
	if n < r.blank {
		return
	}
	w, p, hooks := r.w, r.pick, r.answer.Hooks
	copy(hooks[r.blank:], w.filtered[r.blank:])
	p.batch.lay(hooks, w.ran, r.blank)
	r.blank = len(hooks)
}

// clip ends the trace, which reaches as far, before the node n: nothing from there
// on has been started.
func (r *inlineRun) clip(n int) {
	if n < r.blank {
		copy(r.answer.Hooks[n:r.blank], r.w.blank[n:r.blank])
		r.blank = n
	}
}

// keep notes in m what is known of its trace.
func (r *inlineRun) keep(m *Reused) {
	m.in, m.of, m.loud, m.blank = r.w, r.pick, r.loud, r.blank
	if r.dirty || len(r.w.absent) > 0 {
		m.in, m.of = nil, nil
	}
}
