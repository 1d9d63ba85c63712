package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// jsRegexp is a part of a pattern, written for RE2 and for the engine that
// backtracks; hard is true when RE2 cannot express it.
type jsRegexp struct {
	linear, full string
	hard         bool
}

//go:noinline
func (r jsRegexp) then(s jsRegexp) jsRegexp {
	return jsRegexp{r.linear + s.linear, r.full + s.full, r.hard || s.hard}
}

// both is a text that means one thing to both engines.
func both(s string) jsRegexp { return jsRegexp{linear: s, full: s} }

// jsParser reads a pattern by the grammar of ECMA-262, Annex B included, over
// UTF-16 code units.
type jsParser struct {
	text []rune
	at   int
	// groups is how many capturing groups the whole pattern has, names those
	// that have one, by number.
	groups int
	names  map[string]int
	failed *Error
	depth  int
}

// maxJSDepth bounds the nesting of groups.
const maxJSDepth = 200

func newJSParser(text string) *jsParser {
	return &jsParser{text: units(text), names: map[string]int{}}
}

func (p *jsParser) fail(start int, format string, args ...any) jsRegexp {
	if p.failed == nil {
		before := string(utf16Decode(p.text[:start]))
		p.failed = &Error{Text: fmt.Sprintf(format, args...), Start: len(before), End: len(string(utf16Decode(p.text)))}
	}
	p.at = len(p.text)
	return jsRegexp{}
}

func (p *jsParser) more() bool { return p.at < len(p.text) }

//go:noinline
func (p *jsParser) peek(n int) rune {
	if p.at+n < len(p.text) {
		return p.text[p.at+n]
	}
	return -1
}

//go:noinline
func (p *jsParser) take(s string) bool {
	for i, r := range s {
		if p.peek(i) != r {
			return false
		}
	}
	p.at += len(s)
	return true
}

func (p *jsParser) pattern() (jsRegexp, *Error) {
	p.count()
	out := p.disjunction()
	if p.failed == nil && p.more() {
		p.fail(p.at, "unmatched )")
	}
	return out, p.failed
}

// count numbers the groups, which what comes before them may refer to.
func (p *jsParser) count() {
	class := false
	for i := 0; i < len(p.text); i++ {
		switch r := p.text[i]; {
		case r == '\\':
			i++
		case r == '[':
			class = true
		case r == ']':
			class = false
		case r != '(' || class:
		case i+1 < len(p.text) && p.text[i+1] == '?':
			if i+3 < len(p.text) && p.text[i+2] == '<' && p.text[i+3] != '=' && p.text[i+3] != '!' {
				p.groups++
				p.name(i + 3)
			}
		default:
			p.groups++
		}
	}
}

// name notes the name of a group that begins at i.
func (p *jsParser) name(i int) {
	rest := p.text[i:]
	end := slices.Index(rest, '>')
	if end <= 0 {
		return // reported where the group is read
	}
	name := string(rest[:end])
	if _, twice := p.names[name]; twice {
		p.fail(i, "duplicate capture group name %q", name)
		return
	}
	p.names[name] = p.groups
}

func (p *jsParser) disjunction() jsRegexp {
	if p.depth++; p.depth > maxJSDepth {
		return p.fail(p.at, "groups are nested too deeply")
	}
	defer func() { p.depth-- }()
	out := p.alternative()
	for p.failed == nil && p.peek(0) == '|' {
		p.at++
		out = out.then(both("|")).then(p.alternative())
	}
	return out
}

func (p *jsParser) alternative() jsRegexp {
	var out jsRegexp
	for p.failed == nil && p.more() && p.peek(0) != '|' && p.peek(0) != ')' {
		out = out.then(p.term())
	}
	return out
}

// word is \b, which neither engine reads as JavaScript does for every text.
const jsWord = `[0-9A-Za-z_]`

// term reads an assertion, or an atom and its quantifier.
func (p *jsParser) term() jsRegexp {
	switch start := p.at; {
	case p.take("^"):
		return both(`\A`)
	case p.take("$"):
		return both(`\z`)
	case p.take(`\b`):
		return jsRegexp{linear: `\b`, full: `(?:(?<=` + jsWord + `)(?!` + jsWord + `)|(?<!` + jsWord + `)(?=` + jsWord + `))`}
	case p.take(`\B`):
		return jsRegexp{linear: `\B`, full: `(?:(?<=` + jsWord + `)(?=` + jsWord + `)|(?<!` + jsWord + `)(?!` + jsWord + `))`}
	case p.take("(?<="):
		return p.around("(?<=", start)
	case p.take("(?<!"):
		return p.around("(?<!", start)
	case p.take("(?="):
		return p.quantified(p.around("(?=", start))
	case p.take("(?!"):
		return p.quantified(p.around("(?!", start))
	case p.take("("):
		return p.quantified(p.group(start))
	case p.take("."):
		return p.quantified(jsSet{not: true, parts: jsLines}.write())
	case p.take("["):
		return p.quantified(p.class(start))
	case p.take(`\`):
		return p.quantified(p.escape(start))
	case strings.ContainsRune("*+?", p.peek(0)), p.braced():
		return p.fail(start, "nothing to repeat")
	}
	p.at++
	return p.quantified(jsLiteral(p.text[p.at-1]))
}

func (p *jsParser) close(start int) {
	if p.failed == nil && !p.take(")") {
		p.fail(start, "unterminated group")
	}
}

func (p *jsParser) around(open string, start int) jsRegexp {
	in := p.disjunction()
	p.close(start)
	return jsRegexp{full: "(?:" + open + in.full + "))", hard: true}
}

// group reads a group after its parenthesis.
func (p *jsParser) group(start int) jsRegexp {
	open := "("
	switch {
	case p.take("?:"):
		open = "(?:"
	case p.take("?<"):
		end := slices.Index(p.text[p.at:], '>')
		if end <= 0 || !jsName(p.text[p.at:p.at+end]) {
			return p.fail(start, "invalid capture group name")
		}
		p.at += end + 1
	case p.peek(0) == '?':
		return p.fail(start, "invalid group")
	}
	in := p.disjunction()
	p.close(start)
	return both(open).then(in).then(both(")"))
}

// jsName reports whether a group may be called so. JavaScript takes letters of
// every script; names in matchers are ASCII.
func jsName(name []rune) bool {
	for i, r := range name {
		letter := r == '$' || r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return len(name) > 0
}

// braced reports whether {n}, {n,} or {n,m} stands here; a brace of any other
// kind is an ordinary character.
func (p *jsParser) braced() bool {
	_, _, n := p.braces()
	return n > 0
}

// braces reads a count without taking it; n is its length, max -1 if there is none.
func (p *jsParser) braces() (from, to string, n int) {
	if p.peek(0) != '{' {
		return "", "", 0
	}
	digits := func() string {
		begin := n
		for r := p.peek(n); r >= '0' && r <= '9'; r = p.peek(n) {
			n++
		}
		return string(p.text[p.at+begin : p.at+n])
	}
	n = 1
	if from = digits(); from == "" {
		return "", "", 0
	}
	to = from
	if p.peek(n) == ',' {
		n++
		to = digits()
	}
	if p.peek(n) != '}' {
		return "", "", 0
	}
	return from, to, n + 1
}

// maxJSCount is where a count stops to matter: no text is as long.
const maxJSCount = 100_000

// quantified reads the quantifier of an atom. Whether it is greedy does not
// change whether a text matches, but what a later reference refers to.
func (p *jsParser) quantified(atom jsRegexp) jsRegexp {
	if p.failed != nil {
		return atom
	}
	count := ""
	switch r := p.peek(0); {
	case r == '*' || r == '+' || r == '?':
		p.at++
		count = string(r)
	case r == '{':
		from, to, n := p.braces()
		if n == 0 {
			return atom
		}
		low, lowErr := strconv.Atoi(from)
		high, highErr := strconv.Atoi(to)
		if to != "" && (lowErr == nil && highErr == nil && low > high || lowErr != nil && highErr == nil) {
			return p.fail(p.at, "numbers out of order in {} quantifier")
		}
		p.at += n
		count = jsCount(low, lowErr, high, highErr, to)
	default:
		return atom
	}
	if p.take("?") {
		count += "?"
	}
	return both("(?:").then(atom).then(both(")" + count))
}

func jsCount(low int, lowErr error, high int, highErr error, to string) string {
	if lowErr != nil || low > maxJSCount {
		low = maxJSCount
	}
	if to == "" || highErr != nil || high > maxJSCount {
		return fmt.Sprintf("{%d,}", low)
	}
	return fmt.Sprintf("{%d,%d}", low, high)
}
