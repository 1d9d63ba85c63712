package compiler

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/glyph"
)

var codeUnseen = diag.Define("HK133", diag.Warning, "character that nobody sees").Guarding()
var codeAlike = diag.Define("HK134", diag.Warning, "letter that looks like another").Guarding()

// content are the conditions on what a call holds, in which any text may stand;
// the others compare with names.
var content = []policy.FilterKey{policy.FilterCommand, policy.FilterPattern, policy.FilterLeafPattern, policy.FilterPath,
	policy.FilterPaths, policy.FilterCommands}

// glyphs looks for what cannot be seen in what a hook is written with.
type glyphs struct {
	u     *unit
	h     *policy.Hook
	found diag.List
}

// checkGlyphs reports what cannot be seen in the names and the filter of a hook.
func (u *unit) checkGlyphs(h *policy.Hook) {
	g := &glyphs{u: u, h: h}
	g.name("the hook's name", h.Name, h.Span)
	if h.Group != nil {
		g.name("the group's name", h.Group.Name, h.Group.Span)
	}
	g.filter()
	u.reportAll(h, g.found)
}

// bodyGlyphs are the findings on what cannot be seen in the rules of a hook.
func (u *unit) bodyGlyphs(h *policy.Hook) diag.List {
	g := &glyphs{u: u, h: h}
	for i := range h.Body.Rules {
		c := h.Body.Rules[i].Condition
		if !g.seen("the rule", c, "\n\r\t") {
			g.letters("the rule", c)
		}
	}
	if h.Kind == policy.KindRego {
		g.seen("the module", h.Body.Source, "\n\r\t")
	}
	return g.found
}

func (g *glyphs) filter() {
	h := g.h
	for i := range h.Filter.Conditions {
		c := &h.Filter.Conditions[i]
		key := string(c.Key)
		if lists.Among(content, c.Key) || c.Atom != nil && c.Atom.Field != policy.FieldToolName {
			g.seen(key, c.Value, "\n\t")
			continue
		}
		if !g.seen(key, c.Value, "") {
			g.letters(key, c.Value)
		}
		if c.Key == policy.FilterToolName && strings.Trim(c.Value.Value, " ") != c.Value.Value {
			g.report(codeUnseen.Report(c.Value.Span, "%s: %s %q begins or ends with a blank, which counts", h.Name, key, c.Value.Value).
				WithHint("no tool is called so: take the blank out"))
		}
	}
}

// seen reports the first character of a text that nobody sees, but those
// that may stand in it.
func (g *glyphs) seen(what string, t diag.Text, may string) bool {
	at := unseen(t.Value, may)
	if at < 0 {
		return false
	}
	r, n := utf8.DecodeRuneInString(t.Value[at:])
	g.report(codeUnseen.Report(t.At(at, at+n), "%s: %s holds U+%04X, which nobody sees", g.h.Name, what, r).
		WithHint(`take it out; a pattern that is to find it says \x{%04X}`, r))
	return true
}

// unseen is where the first such character is, or -1. What joins or shapes
// letters of another alphabet, or symbols, belongs to them.
func unseen(text, may string) int {
	last := rune(0)
	for i, r := range text {
		if glyph.Unseen(r) && !strings.ContainsRune(may, r) && !(glyph.Shaping(r) && last > 0x7f && !glyph.Unseen(last)) {
			return i
		}
		last = r
	}
	return -1
}

// name reports a name that is not what it looks like.
func (g *glyphs) name(what, name string, at diag.Span) {
	if ascii(name) && unseen(name, "") < 0 {
		return
	}
	t := diag.Text{Value: name, Span: at}
	if g.seen(what, t, "") {
		return
	}
	if i := glyph.Mixed(name); i >= 0 {
		g.alike(what, t, i)
		return
	}
	for _, other := range g.u.policy.Hooks {
		if other.Name != name && glyph.Skeleton(other.Name) == glyph.Skeleton(name) {
			g.report(codeAlike.Report(at, "%s: %s looks like %q, which another hook is called", g.h.Name, what, other.Name).
				WithHint("call one of them something else"))
			return
		}
	}
}

// letters reports a condition on names that looks like one on others.
func (g *glyphs) letters(what string, t diag.Text) {
	if ascii(t.Value) {
		return
	}
	at := glyph.Mixed(t.Value)
	if at < 0 && what != "the rule" {
		at = glyph.Mark(t.Value)
	}
	if at >= 0 {
		g.alike(what, t, at)
		return
	}
	for _, word := range strings.FieldsFunc(t.Value, func(r rune) bool { return strings.ContainsRune(`|()^$ "'=,[]{}`, r) }) {
		if ascii(word) {
			continue
		}
		if tool, ok := g.u.looks()[glyph.Skeleton(word)]; ok {
			g.alike(what+" ("+tool+")", t, strings.Index(t.Value, word))
			return
		}
	}
}

func (g *glyphs) alike(what string, t diag.Text, at int) {
	for ; at < len(t.Value) && t.Value[at] < utf8.RuneSelf; at++ {
	}
	r, n := utf8.DecodeRuneInString(t.Value[at:])
	like := ""
	if c, ok := glyph.Base(r); ok {
		like = fmt.Sprintf(", which looks like %q", string(rune(c)))
	}
	g.report(codeAlike.Report(t.At(at, at+n), "%s: %s has the character U+%04X%s", g.h.Name, what, r, like).
		WithHint("names are compared letter by letter: write the one that is meant"))
}

// knownTools are the names of tools that agents have or the policy knows, by
// what they look like.
func (u *unit) knownTools() map[string]string {
	out := map[string]string{}
	add := func(names ...string) {
		for _, n := range names {
			out[glyph.Skeleton(n)] = n
		}
	}
	add("Bash", "Read", "Write", "Edit", "Grep", "Glob", "Task", "Shell", "WebFetch", "WebSearch", "NotebookEdit")
	for _, d := range agent.All() {
		if d.Profile != nil {
			add(d.Profile.Tools...)
		}
	}
	add(u.policy.Tools.Known...)
	return out
}

//go:noinline
func (g *glyphs) report(d diag.Diagnostic) { g.found.Add(d) }

//go:noinline
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkCatalogue reports what cannot be seen in the names of tools that the policy
// lists.
func (u *unit) checkCatalogue() {
	g := &glyphs{u: u, h: &policy.Hook{Name: "tools"}}
	for _, name := range lists.Concat(u.policy.Tools.Known, u.policy.Tools.Open) {
		t := diag.Text{Value: name, Span: u.policy.Tools.Span}
		if !ascii(name) || unseen(name, "") >= 0 {
			if at := glyph.Mixed(name); !g.seen("a name", t, "") && at >= 0 {
				g.alike("a name", t, at)
			}
		}
	}
	u.diags.Add(g.found...)
}
