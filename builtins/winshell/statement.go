package winshell

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
)

// reader reads PowerShell.
type reader struct {
	text  string
	at    int
	depth int
	steps int
	// cmd is true for what cmd would run: it has no cmdlets and no keywords.
	cmd bool
	// partly is true when something could not be read.
	partly bool
	// only is the values of the last statements, when they were one expression.
	only []word
	// lists are the variables that hold more than one value.
	lists map[string]bool
	// aside is the code of the blocks that are values of something.
	aside string
}

// spend counts a step; when there are none left the text is at its end.
//
//go:noinline
func (r *reader) spend() {
	if r.steps++; r.steps > maxSteps || r.depth > maxDepth {
		r.at, r.partly = len(r.text), true
	}
}

//go:noinline
func (r *reader) done() bool { return r.at >= len(r.text) }

//go:noinline
func (r *reader) here() byte {
	if r.done() {
		return 0
	}
	return r.text[r.at]
}

// is reports whether what comes next is one of these bytes.
func (r *reader) is(bytes string) bool {
	return !r.done() && strings.IndexByte(bytes, r.text[r.at]) >= 0
}

//go:noinline
func (r *reader) has(s string) bool { return strings.HasPrefix(r.text[r.at:], s) }

// take passes over s if it comes next.
//
//go:noinline
func (r *reader) take(s string) bool {
	ok := r.has(s)
	if ok {
		r.at += len(s)
	}
	return ok
}

// match passes over what a pattern matches here.
func (r *reader) match(re func() *regexp.Regexp) []string {
	m := re().FindStringSubmatch(r.text[r.at:])
	if m != nil {
		r.at += len(m[0])
	}
	return m
}

//go:noinline
func pattern(text string) func() *regexp.Regexp {
	return lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// skip passes over blanks and comments, and with lines over what ends a
// statement.
func (r *reader) skip(lines bool) {
	for {
		switch {
		case r.is(" \t") || lines && r.is("\n;\r"):
			r.at++
		case r.take("`\n"):
		case r.take("<#"):
			r.until("#>")
		case r.is("#"):
			end := strings.IndexByte(r.text[r.at:]+"\n", '\n')
			r.at += end
		default:
			return
		}
	}
}

// until goes behind the next end, and gives what is before it.
func (r *reader) until(end string) string {
	before, _, found := spell.Cut(r.text[r.at:], end)
	r.at += len(before) + len(end)
	if !found {
		r.at, r.partly = len(r.text), true
	}
	return before
}

// statements reads up to the byte end, which it passes; 0 is the end of the text.
func (r *reader) statements(end byte) string {
	r.depth++
	defer func() { r.depth-- }()
	var b strings.Builder
	var values []word
	for count := 0; ; count++ {
		r.spend()
		r.skip(true)
		if r.done() {
			r.partly = r.partly || end != 0
			break
		}
		if r.here() == end {
			r.at++
			break
		}
		from := r.at
		r.only = nil
		b.WriteString(r.statement() + "\n")
		values = r.only
		if count > 0 {
			values = nil
		}
		if r.at == from {
			r.partly = true
			r.at++
		}
	}
	r.only = values
	return b.String()
}

var (
	assignment = pattern(`^(?:\[[\w.\[\], ]+\]\s*)*\$((?:\w+:)?\w+|\{[^}\n]+\})((?:\.\w+|\[[^\]\n]*\])*)\s*(?:,\s*\$\w+\s*)*(=|\+=|-=|\*=|/=|\?\?=)`)
	keywordOf  = pattern(`^[A-Za-z]+`)
	functionOf = pattern(`^\s*(?:\w+:)?[\w-]+\s*`)
	eachOf     = pattern(`(?i)^\s*(?:-parallel\s*)?\(\s*\$(\w+)\s+in\s`)
)

func (r *reader) statement() string {
	r.spend()
	if w := strings.ToLower(keywordOf().FindString(r.text[r.at:])); w != "" {
		if code, ok := r.keyword(w); ok {
			return code
		}
	}
	m := r.match(assignment)
	if m == nil {
		return r.chain()
	}
	r.skip(true)
	values := r.value()
	r.only = nil
	return r.assign(strings.ToLower(strings.Trim(m[1], "{}")), m[2], m[3], values)
}

// value reads a statement as values.
func (r *reader) value() []word {
	r.only = nil
	code := r.statement()
	if r.only == nil {
		return []word{substituted(code)}
	}
	return r.only
}

// assign is an assignment of values to a variable, or to a part of it.
func (r *reader) assign(name, part, op string, values []word) string {
	if len(values) == 1 && values[0].isBlock {
		r.aside += values[0].block
		values = []word{{code: literal(values[0].block).code}}
	}
	if strings.EqualFold(part, ".commandtext") {
		return "sqlcmd -Q " + joined(values).code
	}
	if part != "" || op != "=" && op != "+=" {
		values, op = []word{opaque(values)}, "="
	}
	scope, rest, scoped := spell.Cut(name, ":")
	if scoped && scope == "env" {
		return "export " + strings.ToUpper(rest) + "=" + joined(values).code
	} else if scoped {
		name = rest
	}
	switch {
	case name == "home" || name == "pwd" || name == "null":
		return ": " + codes(values)
	case len(values) != 1 || r.lists[name]:
		r.lists[name] = true
		return name + op + "(" + codes(values) + ")"
	}
	return name + op + values[0].code
}

// keywords begin statements with a condition in brackets, a block, or both;
// leaves are those that another statement may follow. A function is read where
// it is defined: what its parameters are is not known.
var (
	keywords = losses.Words("if elseif while until switch lock for else try finally do begin process end catch trap dynamicparam default function filter workflow param")
	leaves   = losses.Words("return throw exit break continue")
	unread   = losses.Words("using class enum data configuration")
)

// keyword reads a statement that begins with a keyword; false when w is none here.
func (r *reader) keyword(w string) (string, bool) {
	start := r.at
	r.at += len(w)
	m := []string(nil)
	switch {
	case w == "foreach":
		m = r.match(eachOf)
	case r.cmd:
	case keywords()[w]:
		return r.compound(w, start)
	case leaves()[w]:
		if r.skip(false); r.done() || r.is("\n;})") {
			return ":", true
		}
		return r.statement(), true
	case unread()[w]:
		r.partly = true
	}
	if m == nil {
		r.at = start
		return "", false
	}
	list := r.values(')')
	return "for " + strings.ToLower(m[1]) + " in " + each(list) + "; do " + r.block() + "\ndone", true
}

// each is values as those of a loop: one may be many.
//
//go:noinline
func each(list []word) string {
	items := make([]string, len(list))
	for i, v := range list {
		items[i] = v.code
		if strings.HasPrefix(v.code, `"$`) && strings.Count(v.code, `"`) == 2 {
			items[i] = strings.Trim(v.code, `"`)
		}
	}
	return strings.Join(items, " ")
}

func (r *reader) compound(w string, start int) (string, bool) {
	head := ""
	if w == "function" || w == "filter" || w == "workflow" {
		r.match(functionOf)
		if r.take("(") {
			r.parameters()
		}
	}
	for r.skip(true); r.take("["); r.skip(true) { // catch [Type]
		r.until("]")
	}
	switch {
	case w == "param" && r.take("("):
		r.parameters()
		return ":", true
	case r.take("("):
		if head = r.statements(')'); len(r.only) > 0 { // nothing shows it
			head = ": " + codes(r.only) + "\n"
		}
	case !r.is("{"):
		r.at = start
		return "", false
	}
	return head + "if test x; then " + r.block() + "\nfi", true
}

// parameters passes over the parameters of a function, whose defaults are run.
//
//go:noinline
func (r *reader) parameters() {
	partly := r.partly
	r.statements(')')
	r.partly = partly || r.done()
}

// block is the { … } that comes next.
func (r *reader) block() string {
	if r.skip(true); !r.take("{") {
		r.partly = true
		return ":"
	}
	return group(r.statements('}'))
}

// values reads up to end as values.
func (r *reader) values(end byte) []word {
	code := r.statements(end)
	only := r.only
	r.only = nil
	if only == nil && strings.TrimSpace(code) != "" {
		return []word{substituted(code)}
	}
	return only
}

// chain reads pipelines with && and || between them.
func (r *reader) chain() string {
	code := r.pipeline()
	for {
		r.skip(false)
		switch {
		case r.has("&&"), r.has("||"):
			op := r.text[r.at : r.at+2]
			r.at += 2
			r.skip(true)
			code += " " + op + " " + r.pipeline()
		case r.take("&"): // in the background
		default:
			return code
		}
		r.only = nil
	}
}

func (r *reader) pipeline() string {
	code := r.element(nil)
	for {
		r.skip(false)
		if r.has("||") || !r.take("|") {
			return code
		}
		r.skip(true)
		before := r.only
		r.only = nil
		next := r.element(&before)
		if strings.HasPrefix(code, "find ") { // files are as bad as all of their folder
			next = strings.Replace(next, "grep -e x", "cat", 1)
		}
		code += " | " + next
		r.only = nil
	}
}

// element reads a command or an expression of a pipeline. piped is nil for the
// first one, else the values that are known to come to it.
func (r *reader) element(piped *[]word) string {
	r.spend()
	switch {
	case r.is("&") && !r.has("&&"), r.is(".") && r.at+1 < len(r.text) && strings.IndexByte(" \t'\"$({", r.text[r.at+1]) >= 0:
		r.at++
		r.skip(false)
	case r.startsExpression():
		values := r.expression()
		suffix := r.redirects()
		r.only = values
		switch {
		case len(values) == 0:
			r.only = []word{}
			return ":" + suffix
		case values[0].isBlock:
			return group(values[0].block) + suffix
		case len(values) == 1 && values[0].command != "":
			return strings.TrimSuffix(values[0].command, "\n") + suffix
		}
		return "printf '%s\\n' " + codes(values) + suffix
	}
	suffix := r.redirects()
	return r.command(r.argument(), piped) + suffix
}
