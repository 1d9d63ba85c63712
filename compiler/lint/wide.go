package lint

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeWide = diag.Define("HK155", diag.Warning, "matcher is wider than it looks")

var plainWord = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_]+$`) })

func wideMatchers(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		for i := range plan.Nodes {
			out.Add(wideMatcher(t, &plan.Nodes[i])...)
		}
	}
	return out
}

func wideMatcher(t *Target, n *dag.Node) diag.List {
	re, ok := n.Hook.Filter.Get(policy.FilterToolRegexp)
	if !ok || !original(n) || !plainWord().MatchString(re.Value) {
		return nil
	}
	var also []string
	for _, tool := range t.Tools.Known {
		if tool != re.Value && strings.Contains(tool, re.Value) {
			also = append(also, tool)
		}
	}
	if len(also) == 0 {
		return nil
	}
	return diag.List{codeWide.Report(re.Span, "%s: %q also matches %s", n.Hook.Name, re.Value, names(also)).
		WithHook(n.Hook.Name).WithHint("write ^%s$ to match that tool alone", re.Value)}
}
