package winshell

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

var (
	numberOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)(?:[kKmMgGtT][bB])?(?:$|[\s;|),\]}.+*/%-])`)
	})
	operatorOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[A-Za-z]+\b`) })
	variableOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$(?:\{([^}\n]+)\}|((?:\w+:)?\w+)|([$?^]))`) })
	memberOf   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\?\.|\.|::)(\w+)(\()?`) })
)

// operators are those that begin a value.
var operators = map[string]bool{"-not": true, "-join": true, "-split": true, "-bnot": true, "-isplit": true}

func (r *reader) startsExpression() bool {
	switch c := r.here(); c {
	case '$', '\'', '"', '(', '[', '{', '!', ',':
		return true
	case '@':
		return r.at+1 < len(r.text) && strings.IndexByte("({'\"", r.text[r.at+1]) >= 0
	case '-':
		return operators[strings.ToLower(operatorOf().FindString(r.text[r.at:]))] || numberOf().MatchString(r.text[r.at:])
	default:
		return c >= '0' && c <= '9' && numberOf().MatchString(r.text[r.at:])
	}
}

// expression reads values up to what is none of an expression.
func (r *reader) expression() []word {
	list := r.unary()
	for !r.done() {
		r.spend()
		r.skip(false)
		op := strings.ToLower(operatorOf().FindString(r.text[r.at:]))
		switch c := r.here(); {
		case c == ',':
			r.at++
			r.skip(true)
			list = append(list, r.unary()...)
		case op != "":
			r.at += len(op)
			r.skip(true)
			list = operate(op, list, r.expression())
		case r.has(".."):
			r.at += 2
			list = []word{opaque(append(list, r.unary()...))}
		case c == '+':
			r.at++
			r.skip(true)
			list = []word{joined(append(list, r.unary()...))}
		case c == '*' || c == '/' || c == '%' || c == '-':
			r.at++
			r.skip(true)
			list = []word{opaque(append(list, r.unary()...))}
		default:
			return list
		}
	}
	return list
}

// operate is what an operator makes of values: texts that are known are put
// together as PowerShell does.
func operate(op string, left, right []word) []word {
	all := append(append([]word{}, left...), right...)
	whole := joined(all)
	switch {
	case op == "-join" && whole.known && len(right) == 1:
		var parts []string
		for _, w := range left {
			parts = append(parts, w.lit)
		}
		return []word{literal(strings.Join(parts, right[0].lit))}
	case op == "-f" && whole.known && len(left) == 1:
		out := left[0].lit
		for i, w := range right {
			out = strings.ReplaceAll(out, "{"+strconv.Itoa(i)+"}", w.lit)
		}
		return []word{literal(out)}
	case (op == "-replace" || op == "-creplace") && whole.known && len(left) == 1 && len(right) == 2 && regexp.QuoteMeta(right[0].lit) == right[0].lit:
		return []word{literal(strings.ReplaceAll(left[0].lit, right[0].lit, right[1].lit))}
	}
	return []word{opaque(all)}
}

func (r *reader) unary() []word {
	r.spend()
	if r.depth++; r.depth > maxDepth {
		r.at, r.partly = len(r.text), true
	}
	defer func() { r.depth-- }()
	r.skip(false)
	switch c := r.here(); {
	case c == '!' || c == ',':
		r.at++
		return r.unary()
	case c == '-' && !numberOf().MatchString(r.text[r.at:]):
		op := strings.ToLower(operatorOf().FindString(r.text[r.at:]))
		if op == "" {
			return nil
		}
		r.at += len(op)
		list := r.unary()
		for r.skip(false); r.here() == ','; r.skip(false) {
			r.at++
			list = append(list, r.unary()...)
		}
		if op == "-join" && joined(list).known {
			return []word{joined(list)}
		}
		return []word{opaque(list)}
	}
	return r.members(r.primary())
}

// primary reads one value.
func (r *reader) primary() []word {
	switch c := r.here(); {
	case r.has("@'\n"), r.has("@\"\n"):
		return []word{r.hereString()}
	case c == '\'':
		return []word{literal(r.single())}
	case c == '"':
		return []word{r.double()}
	case r.has("$("), r.has("@("):
		r.at += 2
		return r.values(')')
	case r.has("@{"):
		r.at += 2
		return r.hash()
	case c == '(':
		r.at++
		return r.values(')')
	case c == '{':
		r.at++
		return []word{{code: "''", block: r.statements('}'), isBlock: true}}
	case c == '$':
		return r.variable()
	case c == '[':
		return r.typed()
	}
	if m := numberOf().FindString(r.text[r.at:]); m != "" {
		m = strings.TrimRight(m, " \t\n;|),]}.+*/%")
		r.at += len(m)
		return []word{literal(m)}
	}
	return []word{r.bare()}
}

func (r *reader) hereString() word {
	end := "\n" + r.text[r.at+1:r.at+2] + "@"
	quoted := end == "\n\"@"
	r.at += 2
	body := strings.TrimPrefix(r.until(end), "\n")
	if !quoted {
		return word{code: quote(body), lit: body, known: true}
	}
	inner := reader{text: body, lists: r.lists, names: r.names, params: r.params, depth: r.depth}
	out := inner.interpolated(0)
	r.partly = r.partly || inner.partly
	return out
}

func (r *reader) single() string {
	r.at++
	var b strings.Builder
	for {
		b.WriteString(r.until("'"))
		if r.here() != '\'' {
			return b.String()
		}
		b.WriteByte('\'')
		r.at++
	}
}

func (r *reader) double() word {
	r.at++
	return r.interpolated('"')
}

// escapes are what stands after a backtick for another character.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '0': "\x00", 'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'v': "\v"}

// interpolated reads text with variables up to end, which it passes.
func (r *reader) interpolated(end byte) word {
	var parts []word
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, literal(b.String()))
			b.Reset()
		}
	}
	for {
		if r.done() {
			r.partly = r.partly || end != 0
			break
		}
		c := r.here()
		switch {
		case c == end && end != 0 && r.has(`""`):
			b.WriteByte('"')
			r.at += 2
		case c == end && end != 0:
			r.at++
			flush()
			return joined(parts)
		case c == '`' && r.at+1 < len(r.text):
			if s, ok := escapes[r.text[r.at+1]]; ok {
				b.WriteString(s)
			} else {
				b.WriteByte(r.text[r.at+1])
			}
			r.at += 2
		case r.has("$("):
			flush()
			r.at += 2
			parts = append(parts, joined(r.values(')')))
		case c == '$' && variableOf().MatchString(r.text[r.at:]):
			flush()
			parts = append(parts, r.variable()...)
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	flush()
	return joined(parts)
}

func (r *reader) variable() []word {
	m := variableOf().FindStringSubmatch(r.text[r.at:])
	if m == nil {
		r.at++
		return []word{literal("$")}
	}
	r.at += len(m[0])
	name := strings.ToLower(m[1] + m[2])
	if scope, rest, ok := strings.Cut(name, ":"); ok {
		if scope == "env" {
			return []word{fromEnvironment(rest)}
		}
		if scope != "global" && scope != "script" && scope != "local" && scope != "private" && scope != "using" && scope != "variable" {
			r.at -= len(name) - len(scope) // "$drive:" in a text
			name = scope
		} else {
			name = rest
		}
	}
	switch name {
	case "null":
		return nil
	case "true", "false":
		return []word{literal(name)}
	case "_", "psitem":
		return []word{{code: `"$PSItem"`}}
	case "args":
		return []word{{code: `"$@"`}}
	case "home", "pwd":
		return []word{fromEnvironment(name)}
	case "profile":
		return []word{{code: `"$HOME"/.config/powershell/profile.ps1`}}
	case "":
		return []word{opaque(nil)}
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return []word{opaque(nil)}
	}
	if r.lists[name] {
		return []word{{code: `"${` + name + `[@]}"`}}
	}
	return []word{{code: `"$` + name + `"`}}
}

// hash gives the values of @{name = value; …}.
func (r *reader) hash() []word {
	var out []word
	for {
		r.skip(true)
		if r.done() {
			r.partly = true
			return out
		}
		if r.here() == '}' {
			r.at++
			return out
		}
		before, _, found := strings.Cut(r.text[r.at:], "=")
		if !found || strings.ContainsAny(before, "}\n") {
			r.at, r.partly = len(r.text), true
			return out
		}
		r.at += len(before) + 1
		r.skip(false)
		r.only = nil
		code := r.statement()
		if values := r.only; values != nil {
			out = append(out, values...)
		} else {
			out = append(out, substituted(code))
		}
		r.only = nil
	}
}

// typed reads [type]::member, or a value of which the type is said.
func (r *reader) typed() []word {
	from, open := r.at, 0
	for ; !r.done(); r.at++ {
		if c := r.here(); c == '[' {
			open++
		} else if c == ']' {
			if open--; open == 0 {
				break
			}
		}
	}
	name := strings.ToLower(strings.Trim(r.text[from:min(r.at, len(r.text))], "[]"))
	r.at++
	if r.done() {
		r.at = len(r.text)
		return []word{literal(name)}
	}
	if r.has("::") {
		return []word{{code: quote(name), lit: name, known: true}}
	}
	r.skip(false)
	if r.done() || strings.IndexByte("$'\"(@[-0123456789", r.here()) < 0 {
		return []word{literal(name)}
	}
	values := r.members(r.primary())
	if name == "char" && len(values) == 1 && values[0].known {
		if n, err := strconv.ParseInt(values[0].lit, 0, 32); err == nil {
			return []word{literal(string(rune(n)))}
		}
	}
	return values
}

// members reads .name, .name(…), ::name(…) and [index] after a value.
func (r *reader) members(values []word) []word {
	for !r.done() {
		r.spend()
		m := memberOf().FindStringSubmatch(r.text[r.at:])
		switch {
		case m != nil && m[2] != "":
			r.at += len(m[0])
			args := r.values(')')
			values = []word{r.method(strings.ToLower(m[1]), values, args)}
		case m != nil:
			r.at += len(m[0])
			switch strings.ToLower(m[1]) {
			case "fullname", "name", "path", "pspath", "psparentpath", "basename", "directory", "directoryname", "content", "value", "resolvedpath", "source", "definition", "providerpath":
			default:
				values = []word{opaque(values)}
			}
		case r.here() == '[':
			r.at++
			index := r.values(']')
			values = []word{indexed(values, index)}
		default:
			return values
		}
	}
	return values
}

func indexed(values, index []word) word {
	if len(index) == 1 && index[0].known {
		if n, err := strconv.Atoi(index[0].lit); err == nil {
			if n >= 0 && n < len(values) && joined(values).known && len(values) > 1 {
				return values[n]
			}
			if len(values) == 1 && values[0].code == `"$@"` && n >= 0 && n < 9 {
				return word{code: `"$` + strconv.Itoa(n+1) + `"`}
			}
		}
	}
	return opaque(append(append([]word{}, values...), index...))
}

// methods are what a method does, with {0} for what it is of and {1} and on for
// its arguments.
var methods = map[string]string{
	"downloadstring": "curl {1}", "downloaddata": "curl {1}", "openread": "curl {1}", "getstringasync": "curl {1}", "getasync": "curl {1}",
	"downloadfile": "curl -o {2} {1}", "downloadfiletaskasync": "curl -o {2} {1}", "uploadstring": "curl -d {2} -d {3} {1}", "uploaddata": "curl -d {2} -d {3} {1}",
	"uploadfile": "curl -T {2} -T {3} {1}", "postasync": "curl -d {2} {1}", "uploadvalues": "curl -d {2} -d {3} {1}",
	"readalltext": "cat -- {1}", "readalllines": "cat -- {1}", "readallbytes": "cat -- {1}", "readlines": "cat -- {1}", "opentext": "cat -- {1}",
	"writealltext": "printf %s {2} | tee -- {1}", "writealllines": "printf %s {2} | tee -- {1}", "writeallbytes": "printf %s {2} | tee -- {1}",
	"appendalltext": "printf %s {2} | tee -a -- {1}", "createdirectory": "mkdir -p -- {1}", "createtext": "touch -- {1}",
	"invokescript": "invoke-expression {1}", "kill": "kill {0}", "getfolderpath": `printf %s "$HOME"`, "deletesubkeytree": "rm -rf HKLM:/{1}", "deletesubkey": "rm -rf HKLM:/{1}",
}

// method is a call of a method.
func (r *reader) method(name string, of, args []word) word {
	owner := ""
	if len(of) == 1 && of[0].known {
		owner = strings.ToLower(of[0].lit)
	}
	file := strings.HasSuffix(owner, "io.file") || strings.HasSuffix(owner, "io.directory") || strings.HasSuffix(owner, "filesystem")
	form := methods[name]
	switch {
	case name == "delete" && !file:
		form = "rm -rf -- {0}"
	case strings.HasPrefix(name, "delete") && file:
		form = "rm -rf -- {1}"
	case name == "move" && file:
		form = "mv -- {1} {2}"
	case (name == "copy" || name == "replace") && file:
		form = "cp -- {1} {2}"
	case name == "moveto" || name == "copyto":
		form = map[string]string{"moveto": "mv", "copyto": "cp"}[name] + " -- {0} {1}"
	case name == "start" && strings.HasSuffix(owner, "process"):
		return substituted(started(args[:min(1, len(args))], args[min(1, len(args)):]))
	case name == "invoke" || name == "invokereturnasis":
		return r.invoked(of)
	case name == "create" && strings.HasSuffix(owner, "scriptblock"):
		return word{code: "''", block: "invoke-expression " + codes(args) + "\n", isBlock: true}
	case name == "getstring", name == "tostring", name == "trim", name == "getbytes",
		name == "tolower", name == "combine" && strings.HasSuffix(owner, "path"), name == "getfullpath":
		return passed(name, of, args)
	case name == "frombase64string" && len(args) == 1:
		return decoded64(args[0])
	case name == "getenvironmentvariable" && len(args) > 0 && args[0].known:
		return fromEnvironment(args[0].lit)
	case name == "replace" && len(args) == 2 && joined(append(append([]word{}, of...), args...)).known && len(of) == 1:
		return literal(strings.ReplaceAll(of[0].lit, args[0].lit, args[1].lit))
	}
	if form == "" {
		return opaque(append(append([]word{}, of...), args...))
	}
	form = strings.ReplaceAll(form, "{0}", codes(of))
	for i := 1; i <= 3; i++ {
		code := "''"
		if i <= len(args) {
			code = args[i-1].code
		}
		form = strings.ReplaceAll(form, "{"+strconv.Itoa(i)+"}", code)
	}
	return substituted(form)
}

// invoked runs a block, or a text as code.
func (r *reader) invoked(of []word) word {
	if len(of) == 1 && of[0].isBlock {
		return substituted(of[0].block)
	}
	return substituted("invoke-expression " + codes(of))
}

// passed is a method whose result is its argument, or what it is of.
func passed(name string, of, args []word) word {
	switch {
	case name == "combine" && len(args) > 1:
		out := args[:1:1]
		for _, w := range args[1:] {
			out = append(out, literal("/"), w)
		}
		return joined(out)
	case len(args) == 0:
		return joined(of)
	}
	return joined(args)
}

// decoded64 is the text that base64 stands for, in one of the two encodings
// that PowerShell uses.
func decoded64(w word) word {
	if !w.known {
		return substituted("printf %s " + w.code + " | base64 -d")
	}
	text, ok := Decode(w.lit)
	if !ok {
		return opaque([]word{w})
	}
	return word{code: quote(text), lit: text, known: true}
}

// Decode is the text of what -EncodedCommand takes.
func Decode(encoded string) (string, bool) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", false
	}
	if len(data) < 2 || len(data)%2 != 0 || data[1] != 0 {
		return string(data), true
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	return string(utf16.Decode(units)), true
}
