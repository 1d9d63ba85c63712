package witness

import (
	"strings"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// FilterOf is when the filter of a node lets an event through.
func FilterOf(n *dag.Node) *solve.Formula {
	if n.Matcher == nil {
		return solve.True
	}
	_, missing := n.Hook.Filter.Get(policy.FilterMissing)
	var out []*solve.Formula
	for i := range n.Matcher.Atoms {
		out = append(out, atomOf(&n.Matcher.Atoms[i], missing))
	}
	return solve.And(out...)
}

// atomOf is when one condition of a filter holds.
func atomOf(a *policy.Atom, missing bool) *solve.Formula {
	t := solve.Input.Member(a.Field.String())
	written := ""
	if len(a.Values) > 0 {
		written = a.Values[0]
	}
	at := solve.Place{Source: string(a.Key) + ": " + written, At: a.Origin}
	like := solve.True
	if l, err := solve.Expression(written); err == nil {
		like = solve.Match(t, l, nil, at)
	}
	switch {
	case missing:
		return solve.Unknown("a filter that what is missing passes", like)
	case a.Op == policy.AtomIn:
		words := a.Values
		if a.Key == policy.FilterToolName || a.Key == policy.FilterToolMatcher {
			at.Source = string(a.Key) + ": " + strings.Join(words, "|")
		}
		return solve.Match(t, solve.Words(words...), nil, at)
	case a.Op == policy.AtomPrefix:
		return solve.Match(t, solve.Prefix(written), nil, at)
	case a.Key == policy.FilterCommand || a.Key == policy.FilterToolRegexp:
		if l, err := solve.Expression(written); err == nil {
			return solve.Match(t, l, nil, at)
		}
	case a.Key == policy.FilterPath:
		if l, err := solve.GlobOf(written, "/"); err == nil {
			return solve.And(solve.Is(t, solve.String, at), solve.Unknown("a glob of paths", solve.Match(t, l, nil, at)))
		}
	case a.Key == policy.FilterNotMode:
		return solve.Not(solve.Match(t, solve.Words(a.Values...), nil, at))
	case a.Key == policy.FilterPattern || a.Key == policy.FilterLeafPattern:
		if l, err := solve.Expression(written); err == nil {
			text := t.Member("command")
			if l.Empty() {
				return solve.Match(text, l, nil, at)
			}
			return solve.Unknown("a pattern of any text of the call", solve.Match(text, l, nil, at))
		}
	}
	return solve.Unknown("the condition "+string(a.Key), like)
}
