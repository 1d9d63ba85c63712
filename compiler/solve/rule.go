package solve

import (
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Rule is one rule of a hook: when it speaks, as far as that was understood, and
// whether it does on an event.
type Rule struct {
	// Name is that of its entry point, or of what it says; At is where it is written.
	Name string
	At   diag.Span
	When *Formula
	// Says is what it says, where that is the same on every event; "" is not known.
	Says string
	// Form is the same for rules that were made in the same way, with all that they
	// use; "" is not known.
	Form string
	// Sure says that what it tests cannot make it fail.
	Sure bool
	// Fires reports whether the rule, and not another of its hook, speaks in what
	// the hook is given.
	Fires func(in *policy.Context) bool
	// Missing are references to documents that have nothing there.
	Missing []Missing
}

// Missing is a reference to what no document has.
type Missing struct {
	Ref   string
	At    diag.Span
	Meant string
}

// Ruled is a body that knows its rules.
type Ruled interface{ Rules() []Rule }

// Formed is a body that has a form: bodies of one form answer every event alike.
type Formed interface{ Form() string }

// Fix says how to mend the tests of a contradiction, "" where nothing is known.
func (c *Contradiction) Fix() string {
	for i, a := range c.Atoms {
		if !c.Holds[i] || a.a == nil {
			continue
		}
		var words []string
		if a.op == isEqual {
			if text, ok := a.b.Text(); ok {
				words = []string{text}
			}
		} else if a.op == isMatch {
			words = a.lang.Examples(2)
		}
		if len(words) == 0 {
			if a.op == isMatch && a.lang.Empty() {
				return "no text matches the pattern: ^ and $ mean the ends of the text, \\b for the edge of a word"
			}
			if fix := a.typeFix(); fix != "" {
				return fix
			}
			continue
		}
		if fix := c.textFix(a, words[0]); fix != "" {
			return fix
		}
	}
	return c.plainFix()
}

// plainFix says what to do about a contradiction of which nothing more is known.
func (c *Contradiction) plainFix() string {
	for _, fact := range c.Facts {
		of, is, known := spell.Cut(fact, " is ")
		switch {
		case strings.Contains(fact, " is never there at "):
			return "leave it out, or write the rule for an event that has it"
		case known && c.Term != nil && "input."+strings.TrimPrefix(of, "input.") == c.Term.String() && strings.Count(is, " ") < 5:
			return "compare " + of + " with " + is
		}
	}
	for _, a := range c.Atoms[min(1, len(c.Atoms)):] {
		if a.Source != c.Atoms[0].Source {
			return "leave out one of them, or write a rule for each"
		}
	}
	return ""
}

// letters is the function, lower or upper, that a term was made by, "" if there is none.
func (t *Term) letters() string {
	for ; t.op == isCall || t.op == isElement || t.op == isMember; t = t.args[0] {
		if t.name == "lower" || t.name == "upper" {
			return t.name
		}
		if len(t.args) == 0 {
			break
		}
	}
	return ""
}

// textFix says which text may be meant.
func (c *Contradiction) textFix(a *Atom, word string) string {
	switch name := a.a.letters(); {
	case name == "lower" && strings.ToLower(word) != word:
		return "lower gives small letters: compare with " + strconv.Quote(strings.ToLower(word))
	case name == "upper" && strings.ToUpper(word) != word:
		return "upper gives capital letters: compare with " + strconv.Quote(strings.ToUpper(word))
	case strings.Contains(word, "\b"):
		return "\"\\b\" in double quotes is a backspace: write the pattern between backquotes"
	case a.usual != nil && strings.HasPrefix(a.Source, "path.within"):
		return "agents send absolute paths: name the folder from /, or make it absolute with path.abs"
	case a.usual != nil:
		return "agents send absolute paths: begin the glob with **/"
	}
	if len(c.Atoms) > 1 {
		return ""
	}
	switch words := shellWords(a.a); {
	case words != nil:
		return diag.DidYouMean(word, words, "")
	case a.a.id == field(policy.FieldToolKind).id:
		if known := toolcall.KindOf(word); known != toolcall.KindOther {
			return strconv.Quote(word) + " is a tool's name, and its kind is " + known
		}
		return diag.DidYouMean(word, kindsOfTools, "kinds are "+strings.Join(kindsOfTools, ", "))
	case a.a.id == field(policy.FieldToolName).id && strings.Contains(word, "|"):
		return "a name is one tool's: list several as tool_matcher: " + word + ", or as {\"" + strings.ReplaceAll(word, "|", "\", \"") + "\"} in a rule"
	case a.a.id == field(policy.FieldToolName).id:
		for _, n := range toolcall.Names() {
			if strings.EqualFold(n, word) && n != word {
				return "the tool is called " + strconv.Quote(n) + "; tool_kind: " + toolcall.KindOf(n) + " is true of every agent's"
			}
		}
		return diag.DidYouMean(word, toolcall.Names(), "")
	}
	for _, fact := range c.Facts {
		if _, words, is := spell.Cut(fact, " is one of "); is && strings.HasPrefix(fact, "facts.") {
			return diag.DidYouMean(word, strings.Split(words, ", "), "it is declared under facts:")
		}
	}
	if f, ok := policy.ParseField(strings.TrimPrefix(a.a.String(), "input.")); ok && usualValues[f] != nil {
		return diag.DidYouMean(word, usualValues[f], "known are "+strings.Join(usualValues[f], ", "))
	}
	return ""
}

// typeFix says which type would be compared.
func (a *Atom) typeFix() string {
	v, constant := a.b, false
	if v != nil {
		_, constant = v.Constant()
	}
	if !constant {
		return ""
	}
	name, _ := a.a.Called()
	text, isText := v.Text()
	switch {
	case name == "count" && isText:
		return "count gives a number: write " + text + " without quotes"
	case kindOf(v.value)&(List|SetKind) != 0:
		return "it is no list: compare with its text, or split it"
	}
	return ""
}
