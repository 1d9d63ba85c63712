package format

import (
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// fileSwitch is a key of one file of an agent's configuration that holds for
// hooks of other files too, such as disableAllHooks.
type fileSwitch struct {
	agent, name string
	tier        policy.Tier
	on          bool
	at          diag.Span
}

// noteSwitch records a boolean key of a file; one that is no boolean is
// reported and passed over. Of a file that is not trusted nothing counts.
func (r *settingsReader) noteSwitch(n *Node, name string) {
	if n == nil || n.IsNull() || r.in.Untrusted != "" {
		return
	}
	on, ok := n.Bool()
	if !ok {
		r.report(codeNative.Report(n.Span, "%s is true or false; this is %s: it is passed over", name, n.what()))
		return
	}
	r.l.switches = append(r.l.switches, fileSwitch{r.id, name, r.in.Tier, on, n.Span})
}

// switched is the value of a key by the rank of its file, the first of the
// ranks that sets it; found is false when none does.
func (l *Loader) switched(agent, name string, ranks ...policy.Tier) (s fileSwitch, found bool) {
	for _, tier := range ranks {
		for _, s := range l.switches {
			if s.agent == agent && s.name == name && s.tier == tier {
				return s, true
			}
		}
	}
	return fileSwitch{}, false
}
