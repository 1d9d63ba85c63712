package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/policy"
)

// ownKey is a hash of all that the search of a node's rules follows from, but for the
// hooks before it; "" where that is not known, and behind a hook that may change the
// event. Where the other hooks of a policy change, what was found under it is tried
// again.
func (p *place) ownKey(build string) string {
	n := &p.plan.Nodes[p.id]
	if build == "" || p.rewritten || n.Reads.Overlaps(policy.FieldPaths(policy.FieldFacts)) {
		return ""
	}
	body := ""
	switch b := n.Runner.(type) {
	case interface{ Written() string }:
		body = b.Written()
	case solve.Formed:
		body = b.Form()
	}
	if _, ruled := n.Runner.(solve.Ruled); ruled && body == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %s %q %q %s %q\n", build, p.plan.Event, p.world.Tools.Known, p.world.Tools.Open, n.Hook.Kind, body)
	for _, c := range n.Hook.Filter.Conditions {
		fmt.Fprintf(h, "%s %q\n", c.Key, c.Value.Value)
	}
	if f := n.Hook.File; f != nil {
		rego := f.Rego
		rego.Paths, rego.Data = nil, nil // They are in the body.
		fmt.Fprintf(h, "%+v\n", rego)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// again reports whether an event that was found earlier is what the search would find:
// that it would come to it first is known, so that it does if the event is accepted.
func (j *job) again() (found Rule, ok bool) {
	event := j.known[j.own]
	if j.own == "" || event == nil || !j.accepts(event, &seen{}) {
		return Rule{}, false
	}
	return Rule{Status: Fires, Witness: event, own: j.own}, true
}

// known are the events of a file that was kept, by what alone they follow from.
func known(content []byte) map[string]map[string]any {
	var in kept
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if d.Decode(&in) != nil {
		return nil
	}
	out := map[string]map[string]any{}
	for _, r := range in.Rules {
		if r.Own != "" && r.Status == Fires {
			out[r.Own] = r.Witness
		}
	}
	return out
}
