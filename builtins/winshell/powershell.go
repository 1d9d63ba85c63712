package winshell

import (
	"regexp"
	"strings"
	"sync"
)

// reader reads PowerShell.
type reader struct {
	text  string
	at    int
	depth int
	steps int
	// partly is true when something could not be read.
	partly bool
	// only is the values of the last statements, when they were one expression.
	only []word
	// lists are the variables that hold more than one value, names the aliases
	// that the text defines, params the parameters of its functions.
	lists  map[string]bool
	names  map[string]string
	params map[string][]string
}

// spend counts a step; when there are none left the text is at its end.
func (r *reader) spend() {
	if r.steps++; r.steps > maxSteps {
		r.at, r.partly = len(r.text), true
	}
}

func (r *reader) done() bool { return r.at >= len(r.text) }

func (r *reader) here() byte {
	if r.done() {
		return 0
	}
	return r.text[r.at]
}

func (r *reader) has(s string) bool { return strings.HasPrefix(r.text[r.at:], s) }

// skip passes over blanks and comments, and with lines over what ends a
// statement.
func (r *reader) skip(lines bool) {
	for !r.done() {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == ';' || c == '\r'):
			r.at++
		case r.has("`\n"):
			r.at += 2
		case r.has("<#"):
			r.until("#>")
		case c == '#':
			for !r.done() && r.text[r.at] != '\n' {
				r.at++
			}
		default:
			return
		}
	}
}

// until goes behind the next end, and gives what is before it.
func (r *reader) until(end string) string {
	before, _, found := strings.Cut(r.text[r.at:], end)
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
	if r.depth > maxDepth {
		r.at, r.partly = len(r.text), true
		return ""
	}
	var b strings.Builder
	var values []word
	for count := 0; ; count++ {
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
	assignment = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\[[\w.\[\], ]+\]\s*)*\$((?:\w+:)?\w+|\{[^}\n]+\})((?:\.\w+|\[[^\]\n]*\])*)\s*(?:,\s*\$\w+\s*)*(=|\+=|-=|\*=|/=|\?\?=)`)
	})
	keywordOf  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]+`) })
	functionOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:\w+:)?([\w-]+)\s*`) })
	paramOf    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+)`) })
	eachOf     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*(?:-parallel\s*)?\(\s*\$(\w+)\s+in\s`) })
)

func (r *reader) statement() string {
	r.spend()
	if w := strings.ToLower(keywordOf().FindString(r.text[r.at:])); w != "" {
		if code, ok := r.keyword(w); ok {
			return code
		}
	}
	m := assignment().FindStringSubmatch(r.text[r.at:])
	if m == nil {
		return r.chain()
	}
	r.at += len(m[0])
	r.skip(true)
	r.only = nil
	code := r.statement()
	values := r.only
	r.only = nil
	return r.assign(strings.Trim(m[1], "{}"), m[2], m[3], code, values)
}

// assign is an assignment of values, or of what code prints.
func (r *reader) assign(name, part, op, code string, values []word) string {
	if values == nil {
		values = []word{substituted(code)}
	}
	if len(values) == 1 && values[0].isBlock {
		values = []word{{code: quote(values[0].block)}}
	}
	lower := strings.ToLower(name)
	if scope, rest, ok := strings.Cut(lower, ":"); ok && scope != "env" {
		lower = rest
	}
	switch {
	case lower == "null":
		return code
	case strings.HasPrefix(lower, "env:"):
		return "export " + strings.ToUpper(name[4:]) + "=" + joined(values).code
	case part != "" || op != "=" && op != "+=":
		values = []word{opaque(values)}
	}
	if lower == "home" || lower == "pwd" {
		return ":"
	}
	if len(values) != 1 || r.lists[lower] {
		r.lists[lower] = true
		return lower + op + "(" + codes(values) + ")"
	}
	if part != "" {
		op = "="
	}
	if op != "+=" {
		op = "="
	}
	return lower + op + values[0].code
}

// keyword reads a statement that begins with a keyword.
func (r *reader) keyword(w string) (string, bool) {
	start := r.at
	r.at += len(w)
	switch w {
	case "if", "elseif", "while", "until", "switch", "lock":
		if r.skip(true); r.here() != '(' {
			break
		}
		cond := r.inBrackets()
		return cond + "if test x; then " + r.block() + "\nfi", true
	case "foreach":
		m := eachOf().FindStringSubmatch(r.text[r.at:])
		if m == nil {
			break
		}
		r.at += len(m[0])
		list := r.values(')')
		items := make([]string, len(list))
		for i, v := range list {
			items[i] = v.code
			if strings.HasPrefix(v.code, `"$`) && strings.Count(v.code, `"`) == 2 {
				items[i] = strings.Trim(v.code, `"`) // one value or many
			}
		}
		return "for " + strings.ToLower(m[1]) + " in " + strings.Join(items, " ") + "; do " + r.block() + "\ndone", true
	case "for":
		if r.skip(true); r.here() != '(' {
			break
		}
		return r.inBrackets() + "while test x; do " + r.block() + "\ndone", true
	case "else", "try", "finally", "do", "begin", "process", "end", "catch", "trap", "dynamicparam", "default":
		r.skip(true)
		for r.here() == '[' {
			r.until("]")
			r.skip(true)
		}
		if r.here() != '{' {
			break
		}
		return "if test x; then " + r.block() + "\nfi", true
	case "function", "filter", "workflow":
		return r.function(), true
	case "param":
		if r.skip(true); r.here() == '(' {
			return r.declared(r.balanced()), true
		}
	case "return", "throw", "exit", "break", "continue":
		r.skip(false)
		if c := r.here(); r.done() || c == '\n' || c == ';' || c == '}' || c == ')' {
			return ":", true
		}
		return r.statement(), true
	case "using", "class", "enum", "data", "configuration":
		r.partly = true
	}
	r.at = start
	return "", false
}

func (r *reader) inBrackets() string {
	r.at++
	return r.statements(')')
}

// block is the { … } that comes next.
func (r *reader) block() string {
	r.skip(true)
	if r.here() != '{' {
		r.partly = true
		return ":"
	}
	r.at++
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

// balanced passes over ( … ) and gives what is inside.
func (r *reader) balanced() string {
	from, open := r.at, 0
	for ; !r.done(); r.at++ {
		switch r.here() {
		case '(', '{':
			open++
		case ')', '}':
			if open--; open == 0 {
				r.at++
				return r.text[from+1 : r.at-1]
			}
		}
	}
	r.partly = true
	return ""
}

// declared gives the parameters of a function their values by place.
func (r *reader) declared(list string) string {
	var names []string
	for _, m := range paramOf().FindAllStringSubmatch(list, -1) {
		switch name := strings.ToLower(m[1]); name {
		case "true", "false", "null", "env", "pwd", "home":
		default:
			names = append(names, name)
		}
	}
	r.params[""] = names
	var b strings.Builder
	for i, name := range names {
		if i < 9 {
			b.WriteString(name + `="$` + string(rune('1'+i)) + "\"\n")
		}
	}
	return b.String() + ":"
}

func (r *reader) function() string {
	m := functionOf().FindStringSubmatch(r.text[r.at:])
	if m == nil {
		r.partly = true
		return ":"
	}
	r.at += len(m[0])
	r.params[""] = nil
	head := ""
	if r.here() == '(' {
		head = r.declared(r.balanced()) + "\n"
	}
	body := r.block()
	name := strings.ToLower(m[1])
	r.params[name] = r.params[""]
	r.names[name] = name
	return "function " + name + " {\n" + head + body + "\n}"
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
			r.only = nil
		case r.here() == '&':
			r.at++ // in the background
			r.only = nil
		default:
			return code
		}
	}
}

func (r *reader) pipeline() string {
	code := r.element(nil)
	for {
		r.skip(false)
		if r.here() != '|' || r.has("||") {
			return code
		}
		r.at++
		r.skip(true)
		before := r.only
		r.only = nil
		code += " | " + r.element(&before)
		r.only = nil
	}
}

// element reads a command or an expression of a pipeline. piped is nil for the
// first one, else the values that are known to come to it.
func (r *reader) element(piped *[]word) string {
	r.spend()
	c := r.here()
	switch {
	case c == '&' && !r.has("&&"), c == '.' && r.at+1 < len(r.text) && strings.IndexByte(" \t'\"$({", r.text[r.at+1]) >= 0:
		r.at++
		r.skip(false)
		if r.here() == '{' {
			code := r.block()
			return code + r.ignored()
		}
		return r.command(r.argument(), piped)
	case r.startsExpression():
		values := r.expression()
		suffix := r.redirects()
		if len(values) == 0 {
			r.only = []word{}
			return ":" + suffix
		}
		r.only = values
		if values[0].isBlock {
			return group(values[0].block) + suffix
		}
		if len(values) == 1 && values[0].command != "" {
			return values[0].command + suffix
		}
		return "printf '%s\\n' " + codes(values) + suffix
	}
	return r.command(r.argument(), piped)
}

// ignored are the arguments after a block: what they run still runs.
func (r *reader) ignored() string {
	args, suffix := r.arguments()
	var list []word
	for _, a := range args {
		list = append(list, a.words...)
	}
	if len(list) == 0 {
		return suffix
	}
	return suffix + "\n: " + codes(list)
}
