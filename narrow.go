package hookc

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// kept is what an engine keeps of a policy: the hooks of the one event it was
// narrowed to, or all. A server has an engine for each event of each project.
func (c *config) kept(p *policy.Policy) *policy.Policy {
	if c.compile.Event == "" {
		return p
	}
	out := *p
	out.Hooks = lists.DeleteFunc(lists.Copy(p.Hooks), func(h *policy.Hook) bool { return h.Event != c.compile.Event })
	return &out
}
