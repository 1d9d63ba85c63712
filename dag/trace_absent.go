package dag

import "github.com/hookc/hookc/policy"

// left lists the hooks of an event that its plan leaves out, and why: a trace
// names every loaded hook.
func (p *Program) left(e policy.Event) []TraceHook {
	var out []TraceHook
	for _, entry := range p.Hooks {
		if h := entry.Hook; h.Event == e && entry.Status != Live {
			out = append(out, TraceHook{ID: "–", Name: h.Name, Label: h.Name, Kind: h.Kind, Status: policy.Status(entry.Status),
				At: h.Span.String(), Why: entry.Reason})
		}
	}
	return out
}
