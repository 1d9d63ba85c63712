package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
	"github.com/hookc/hookc/policy/source/tree"
)

// value is what a matcher is held against: a field, or a key the agent sends that
// has no field.
type value struct {
	field  policy.Field
	raw    string
	base   bool
	absent agent.Absent
}

// looked is what the matchers of an event are held against; false for nothing.
func (r *settingsReader) looked(event policy.Event) (value, bool) {
	v := value{r.at.Field, r.at.Raw, r.at.Base, r.Reading.Matcher.Absent}
	if v.field == policy.FieldEvent && v.raw == "" {
		v.field = policy.FieldToolName
	}
	if v.field == policy.FieldToolName && v.absent != agent.AbsentIsEmpty {
		v.absent = agent.AbsentFails
	}
	return v, !r.at.Nothing && (r.at.Field != policy.FieldEvent || v.raw != "" || event.Spec().CanRead(policy.FieldToolName))
}

// conditions are those that a group's matcher makes; ok is false when its hooks
// can never run, which has been reported.
func (r *settingsReader) conditions(event policy.Event, native string, group *tree.Node) (c []policy.Condition, ok bool) {
	if r.matcher != nil {
		return r.matcher(r, event, native, group)
	}
	if key := r.Reading.EventKey; key != "" && len(r.dialect.Can(event)) > 1 { // other events of the agent are the same one: its own name tells them apart
		c = append(c, rawIs(group.Span, key, native))
	}
	m := group.Get("matcher")
	if m != nil && r.Matchers.Key != "" && m.Shape == tree.Map {
		m = m.Get(r.Matchers.Key)
	}
	if m == nil || m.IsNull() {
		return c, true
	}
	own, ok := r.text(event, native, m)
	return append(c, own...), ok
}

// text reads a matcher that is there.
func (r *settingsReader) text(event policy.Event, native string, m *tree.Node) ([]policy.Condition, bool) {
	how := &r.Reading.Matcher
	v, looked := r.looked(event)
	if !m.IsText() {
		return nil, r.notText(m, native, looked)
	}
	text := m.Text.Value
	if how.Trim {
		text = strings.TrimSpace(text)
	}
	if text == "" || text == "*" && how.Star || how.Flavour == nil && r.Matchers.All(text) {
		return nil, true
	}
	if !looked && how.Absent != agent.AbsentIsEmpty {
		r.nothing(m, native)
		return nil, true
	}
	switch {
	case how.Flavour == nil:
		covers := r.Matchers.Covers
		return []policy.Condition{nativeTest(m.Text, v.field, func(tool string) bool {
			hit, told := covers(text, tool)
			return hit || !told
		})}, true
	case r.at.Word:
		r.word(m, native, v.field, text)
		return []policy.Condition{v.test(m.Text, func(s string) bool { return s == text })}, true
	}
	list, separators := r.Matchers.List, r.Matchers.Separators
	if r.at.List != "" {
		list, separators = r.at.List, r.at.Separators
	}
	if list != "" && pattern.Lists(text, list) {
		return []policy.Condition{r.names(v, m.Text, pattern.Listed(text, separators))}, true
	}
	return r.expression(v, native, m, text, looked)
}

// notText reports a matcher that is no text, and whether the hooks run.
func (r *settingsReader) notText(m *tree.Node, native string, looked bool) bool {
	if !r.Reading.Matcher.Loose {
		r.passed(m.Span, lists.First(r.Reading.Matcher.NotText, "a matcher is text; this is %s: its hooks never run"), m.What())
		return false
	}
	if counts(m) && looked {
		what := "here it matches all"
		if r.faithful() {
			what = "and so does --faithful"
		}
		r.report(codeMatcher.Report(m.Span, "a matcher is text; at this one %s gives up on every hook of %s, %s", r.id, native, what).
			WithHint("write the tools' names as one text, such as write_file|replace"))
	}
	return true
}

// nothing reports a matcher where there is nothing to match.
func (r *settingsReader) nothing(m *tree.Node, native string) {
	switch text := r.Reading.Matcher.Nothing; {
	case r.Reading.Matcher.Loose:
		r.report(codeMatcher.Report(m.Span, "%s looks at no matcher: these hooks always run", native).WithHint("remove it"))
	case text != "":
		r.passed(m.Span, text, native)
	default:
		r.passed(m.Span, "%s has nothing to match: the matcher is passed over and the hooks always run", native)
	}
}

// word reports a matcher that is compared as a whole with a value it cannot be.
func (r *settingsReader) word(m *tree.Node, native string, f policy.Field, text string) {
	switch {
	case len(r.at.Words) > 0 && !lists.Has(r.at.Words, text):
		r.report(codeMatcher.Report(m.Span, "the matcher of %s is compared as a whole with %s, which is never %q: these hooks never run", native, f, text).
			WithHint("write one group for each of %s", strings.Join(r.at.Words, ", ")))
	case len(r.at.Words) == 0 && strings.ContainsAny(text, "|*^$()[]"):
		r.report(codeMatcher.Report(m.Span, "the matcher of %s is compared as a whole with %s: %q never is", native, f, text).
			WithHint("write one group for each word"))
	}
}

// names is the condition that a value is one of several names.
func (r *settingsReader) names(v value, written diag.Text, names []string) policy.Condition {
	if v.raw != "" || v.absent != agent.AbsentFails {
		return v.test(written, func(s string) bool { return lists.Has(names, s) })
	}
	how := &r.Reading.Matcher
	if how.AliasOf != "" && lists.Has(names, how.AliasOf) && !lists.Has(names, how.Alias) {
		names = append(names, how.Alias)
	}
	if v.field == policy.FieldToolName {
		r.knownNames(written, names)
	}
	return nativeNames(written, v.field, names...)
}

// knownNames reports names in a matcher that are no tools of the agent.
func (r *settingsReader) knownNames(written diag.Text, names []string) {
	profile := r.dialect.Profile
	for _, name := range names {
		open := func(glob string) bool {
			ok, err := path.Match(glob, name)
			return ok || err != nil
		}
		if len(profile.Tools) == 0 || name == "" || lists.Has(profile.Tools, name) || slices.ContainsFunc(profile.Open, open) {
			continue
		}
		r.report(codeMatcher.Report(written.Span, "%s has no tool %q: the hooks never run for it", r.id, name).
			WithHint("%s", diag.DidYouMean(name, profile.Tools, "names are compared as they are written")))
	}
	for _, name := range names {
		if r.Reading.Matcher.Servers && strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 {
			r.report(codeNative.Report(written.Span, "%q is the name of an MCP server and no tool's: these hooks never run for it", name).
				WithHint("write %s__.* for all of its tools", name))
		}
	}
	if at := &r.at; at.Missing != "" && !lists.Has(names, at.Missing) && slices.ContainsFunc(names, func(n string) bool { return lists.Has(at.Missed, n) }) {
		r.report(codeMatcher.Report(written.Span, "%s", at.MissedText).WithHint("%s", at.MissedHint))
	}
}

// expression is a regular expression on a value.
func (r *settingsReader) expression(v value, native string, m *tree.Node, text string, looked bool) ([]policy.Condition, bool) {
	how := &r.Reading.Matcher
	p, err := compileMatcher(how.Flavour, text, how.Whole)
	switch {
	case err != nil && how.Loose:
		return []policy.Condition{r.taken(v, m, text, err)}, true
	case err != nil:
		r.passed(m.Span, how.NotPattern, text, err)
		return nil, false
	case !looked && p.Match(""):
		return nil, true
	case !looked:
		r.passed(m.Span, "%s has nothing to match, and %q does not match nothing: the hook never runs", native, text)
		return nil, false
	}
	if v.raw == "" && v.field == policy.FieldToolName && !r.mayMatch(p) {
		r.matchesNone(m, text)
	}
	if names, ok := exactNames(text); how.Loose && ok && v.field == policy.FieldToolName {
		return []policy.Condition{nativeNames(m.Text, v.field, names...)}, true
	}
	c := v.test(m.Text, p.Match)
	switch also := r.at.Called; {
	case also != nil: // the hook may name the tool in another agent's words
		c = v.test(m.Text, func(tool string) bool { return p.Match(tool) || p.Match(also[tool]) })
		c.Atom.Values = append(c.Atom.Values, native) // the same words mean another test
	case v.field.Derived():
		c.Atom.Reads = append(c.Atom.Reads, v.field.Spec().From...)
	case v.raw == "" && v.absent == agent.AbsentFails:
		c.Atom.Literals = p.Literals()
	}
	return []policy.Condition{c}, true
}

func compileMatcher(f *pattern.Flavour, text string, whole bool) (*pattern.Pattern, error) {
	if whole {
		return pattern.WholeECMAScript(text)
	}
	return f.Compile(text)
}

// matchesNone reports an expression that finds none of the agent's tools.
func (r *settingsReader) matchesNone(m *tree.Node, text string) {
	if r.Reading.Matcher.Loose {
		r.report(codeMatcher.Report(m.Span, "%q matches no tool of %s that hookc knows: these hooks may never run", text, r.id).WithHint("%s", r.instead(text)))
		return
	}
	r.report(codeMatcher.Report(m.Span, "%q matches no tool of %s: these hooks never run", text, r.id).
		WithHint("%s", diag.DidYouMean(text, r.dialect.Profile.Tools, "")))
}

// taken is a text that is no expression, and so a name.
func (r *settingsReader) taken(v value, m *tree.Node, text string, err error) policy.Condition {
	if v.field != policy.FieldToolName {
		r.report(codeMatcher.Report(m.Span, "%q is no regular expression (%v): it is compared as a whole", text, err))
		return v.test(m.Text, func(s string) bool { return s == text })
	}
	r.report(codeMatcher.Report(m.Span, "%q is no regular expression (%v): it is taken for a tool's name, and these hooks run for no other", text, err).
		WithHint("%s", r.instead(text)))
	return nativeNames(m.Text, v.field, text)
}

// test is the condition that the value passes a test.
func (v value) test(written diag.Text, test func(string) bool) policy.Condition {
	if v.raw != "" {
		return rawTest(written, written.Value, func(sent map[string]any) bool {
			s, ok := sent[v.raw].(string)
			if v.base {
				s = path.Base(s)
			}
			return !ok || test(s)
		})
	}
	c := nativeTest(written, v.field, test)
	plain := c.Atom.Test
	switch v.absent {
	case agent.AbsentHolds:
		c.Atom.Test = func(in *policy.Context) bool { return !in.Has(v.field) || plain(in) }
	case agent.EmptyHolds:
		c.Atom.Test = func(in *policy.Context) bool { return in.Text(v.field) == "" || plain(in) }
	case agent.AbsentIsEmpty:
		c.Atom.Test = func(in *policy.Context) bool { return test(in.Text(v.field)) }
	}
	return c
}

// rawTest is the condition that what the agent sent passes a test.
//
//go:noinline
func rawTest(written diag.Text, text string, test func(sent map[string]any) bool) policy.Condition {
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldRaw, Values: []string{text}, Reads: []policy.Field{policy.FieldRaw},
		Test: func(in *policy.Context) bool {
			v, _ := in.Get(policy.FieldRaw)
			m, _ := v.(map[string]any)
			return test(m)
		},
	}}
}

// rawIs is the condition that a key of what the agent sent has a value, or is
// not there.
func rawIs(at diag.Span, key, value string) policy.Condition {
	return rawTest(diag.NewText(value, at, nil), value, func(sent map[string]any) bool {
		s, ok := sent[key].(string)
		return !ok || s == value
	})
}

// nativeNames is the condition that a field is one of several texts.
//
//go:noinline
func nativeNames(written diag.Text, f policy.Field, names ...string) policy.Condition {
	c := nativeTest(written, f, func(s string) bool { return lists.Has(names, s) })
	c.Atom.Op, c.Atom.Values = policy.AtomIn, names
	return c
}

// nativeTest is the condition that a text field passes a test. A field that is
// absent never does.
//
//go:noinline
func nativeTest(written diag.Text, f policy.Field, test func(string) bool) policy.Condition {
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: f, Values: []string{written.Value}, Reads: []policy.Field{f},
		Test: func(c *policy.Context) bool {
			v, ok := c.Get(f)
			s, isText := v.(string)
			return ok && isText && test(s)
		},
	}}
}

// counts is JavaScript's opinion of a value that is no text.
func counts(n *tree.Node) bool {
	if n.Shape != tree.Scalar {
		return true
	}
	if on, ok := n.Bool(); ok {
		return on
	}
	v, ok := n.Float()
	return ok && v != 0
}

var wholeNames = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^\^(?:([A-Za-z0-9_-]+)|\((?:\?:)?([A-Za-z0-9_|-]+)\))\$$`)
})

// exactNames are the names that a regular expression for a whole name lists.
func exactNames(text string) ([]string, bool) {
	m := wholeNames().FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	names := strings.Split(m[1]+m[2], "|")
	return lists.Distinct(names), !lists.Has(names, "")
}

// mayMatch reports whether a pattern matches a tool the agent is known to
// have, or one it may have. Names of MCP servers are anybody's: a pattern that
// matches what every such name begins with, or that speaks of them, may match.
func (r *settingsReader) mayMatch(p *pattern.Pattern) bool {
	profile := r.dialect.Profile
	if len(profile.Tools) == 0 || slices.ContainsFunc(profile.Tools, p.Match) {
		return true
	}
	for _, glob := range profile.Open {
		open := strings.TrimRight(glob, "*")
		if strings.Contains(p.String(), strings.TrimRight(open, "_")) || p.Match(open+"server_tool") {
			return true
		}
	}
	return false
}

// instead says what to write for a pattern that matches nothing.
func (r *settingsReader) instead(text string) string {
	var names []string
	for _, word := range strings.FieldsFunc(strings.TrimPrefix(text, "(?i)"), func(c rune) bool { return strings.ContainsRune("|()^$ *", c) }) {
		name := r.dialect.Profile.Called[strings.ToLower(word)]
		if !lists.Has(r.dialect.Profile.Tools, name) {
			name = diag.Suggest(strings.ToLower(word), r.dialect.Profile.Tools)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return "did you mean " + strings.Join(names, "|") + "?"
	}
	return "tools: " + strings.Join(r.dialect.Profile.Tools, ", ")
}

var codeMatcher = diag.Define("HK033", diag.Warning, "matcher that is not what it seems").Guarding()
