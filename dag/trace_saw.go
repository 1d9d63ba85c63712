package dag

import (
	"github.com/hookc/hookc/policy"
)

// maxSaw is how much of a value is shown, in characters.
const maxSaw = 80

// saw is what the rule of node v that spoke looks at, with the values that made
// it true; a copy made by recheck saw what the chain made of the event.
func (t *tracer) saw(v int) []string {
	h, n := &t.did[v], &t.plan.Nodes[v]
	body, ok := n.Runner.(Reasoned)
	if !ok || h.Status != policy.StatusRan || h.At.IsZero() {
		return nil
	}
	in := t.in
	if n.RecheckOf >= 0 && t.d.Final != nil {
		in = t.d.Final
	}
	var out []string
	for _, path := range body.LooksAt(h.At) {
		value := "absent"
		if found, present := in.At(path); present {
			value = cut(valueText(found), maxSaw)
		}
		out = append(out, path.String()+" = "+value)
	}
	return out
}

func valueText(v any) string {
	text, err := policy.EncodeJSON(v)
	if err != nil {
		return "no JSON value"
	}
	return string(text)
}
