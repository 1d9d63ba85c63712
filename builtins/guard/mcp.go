package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var mcpGuardRule = rule.Rule{
	Name: "mcp-guard",
	Doc:  "lets only listed MCP servers and tools be called",
	Options: []rule.OptionSpec{
		{Name: "servers", Texts: true, Doc: "servers whose tools may be called, `*` being any text"},
		{Name: "tools", Texts: true, Doc: "single tools that may be called: server/tool, or a tool's whole name where the agent does not say the server"},
		{Name: "deny", Texts: true, Doc: "servers, server/tool or whole names that are denied although they are listed"},
		{Name: "otherwise", Type: policy.StringType, Doc: "ask or deny for what is not listed; not written: deny"},
	},
	New: newMCPGuard,
}

// mcpGuard is an allow-list of servers and tools.
type mcpGuard struct {
	by                   policy.By
	servers, tools, deny []string
	otherwise            policy.Verdict
}

func newMCPGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &mcpGuard{by: policy.By{Name: h.Name, At: h.Span}, servers: s.exceptions("servers"), tools: s.exceptions("tools"),
		deny: opts.Texts("deny"), otherwise: s.verdict("otherwise", policy.Deny)}
	s.needs(policy.FieldToolName)
	return rule.Made{
		Runner: g,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldToolName, policy.FieldToolInput, policy.FieldMCP), World: policy.WorldNone, Spec: true,
			May: powersFor(policy.Deny, g.otherwise)},
	}, s.found
}

// Run judges a call of an MCP server's tool by its name, and says nothing of
// other calls.
func (g *mcpGuard) Run(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
	name := in.Text(policy.FieldToolName)
	calls, isMCP := mcpCalls(in, name)
	if !isMCP {
		return policy.Result{}, nil
	}
	says := guardSays{by: g.by}
	switch denied := g.denied(calls, name); {
	case denied != "":
		says.add(policy.Deny, func() string {
			return fmt.Sprintf("the tool %q is denied (%s); instead: %s", name, denied, g.instead())
		})
	case !g.listed(calls, name):
		says.add(g.otherwise, func() string {
			return fmt.Sprintf("the tool %q is of no server that may be called here; instead: %s", name, g.instead())
		})
	}
	return says.result(), nil
}

func (g *mcpGuard) instead() string {
	list := lists.Concat(g.servers, g.tools)
	if len(list) == 0 {
		return "use the agent's own tools, or ask the user to add the server to the policy"
	}
	return "use one of " + strings.Join(list, ", ") + ", or ask the user to add this one to the policy"
}

// mcpCall is a reading of a tool's name as server and tool.
type mcpCall struct{ server, tool string }

// mcpCalls lists the readings of a call: the agent's own word where it sends
// one, else every way in which the name can be cut. Names such as
// mcp__a__b__c can be cut in two ways, and none of them is to be trusted over
// the other. A name that does not say the server has no reading, but for an
// agent's own tool that takes the server as an argument. No agent has tools of
// its own with __ or - in the name: those are of servers.
func mcpCalls(in *policy.Context, name string) ([]mcpCall, bool) {
	if v, ok := in.Get(policy.FieldMCP); ok {
		if calls := namedCalls(v, name, true); len(calls) > 0 {
			return calls, true
		}
	}
	kind := toolcall.KindOf(name)
	if strings.Contains(strings.ToLower(name), "mcp") && kind == toolcall.KindOther {
		value, _ := in.Get(policy.FieldToolInput)
		return namedCalls(value, name, false), true
	}
	switch {
	case kind == toolcall.KindOther && strings.Contains(name, "__"):
		return cuts(name, "__"), true
	case kind == toolcall.KindOther && strings.Contains(name, "-"):
		return cuts(name, "-"), true
	case kind != toolcall.KindMCP:
		return nil, in.Has(policy.FieldMCP)
	case strings.HasPrefix(name, "mcp__"):
		return cuts(name[len("mcp__"):], "__"), true
	case strings.HasPrefix(name, "@"):
		return cuts(name[1:], "/"), true
	}
	return nil, true
}

// serverKeys are the arguments with which an agent's own tools for MCP name the
// server: ReadMcpResourceTool, read_mcp_resource, use_mcp_tool. toolKeys name the tool.
var serverKeys, toolKeys = losses.Words("server servername mcpservername serverid"), losses.Words("tool toolname mcptoolname")

// namedCalls are the calls that an object may mean, one for each server and tool that it
// names. Its `name` is that of the server in what an agent says of the call, where own is
// true, and else that of the tool.
func namedCalls(v any, name string, own bool) []mcpCall {
	m, _ := v.(map[string]any)
	servers, tools := textsOf(m, serverKeys()), textsOf(m, toolKeys())
	also, _ := m["name"].(string)
	switch {
	case own && len(servers) == 0 && also != "":
		servers = []string{also}
	case !own && len(tools) == 0 && also != "":
		tools = []string{also}
	}
	if len(tools) == 0 {
		tools = []string{name}
	}
	var out []mcpCall
	for _, server := range servers {
		for _, tool := range tools {
			out = append(out, mcpCall{server, tool})
		}
	}
	return out
}

// textsOf are the texts of an object under some keys.
func textsOf(m map[string]any, keys map[string]bool) (out []string) {
	for _, key := range lists.Keys(m) {
		if s, ok := m[key].(string); ok && s != "" && keys[toolcall.Plain(key)] {
			out = append(out, s)
		}
	}
	return out
}

// cuts are the ways to cut a name at a separator.
//
//go:noinline
func cuts(name, sep string) []mcpCall {
	var out []mcpCall
	for i := 1; i+len(sep) < len(name); i++ {
		if strings.HasPrefix(name[i:], sep) {
			out = append(out, mcpCall{name[:i], name[i+len(sep):]})
		}
	}
	return out
}

// denied returns the entry that denies a call in any of its readings.
func (g *mcpGuard) denied(calls []mcpCall, name string) string {
	for _, entry := range g.deny {
		if wildcard(entry, name) || slices.ContainsFunc(calls, func(c mcpCall) bool { return c.is(entry) }) {
			return entry
		}
	}
	return ""
}

func (c mcpCall) is(entry string) bool {
	return wildcard(entry, c.server) || wildcard(entry, c.server+"/"+c.tool)
}

// listed reports whether a call is on a list in every one of its readings.
func (g *mcpGuard) listed(calls []mcpCall, name string) bool {
	if wildcardAny(g.tools, name) {
		return true
	}
	for _, c := range calls {
		if !wildcardAny(g.servers, c.server) && !wildcardAny(g.tools, c.server+"/"+c.tool) {
			return false
		}
	}
	return len(calls) > 0
}
