package winshell

import (
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

var (
	numberOf   = pattern(`^-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)(?:[kKmMgGtT][bB])?(?:$|[\s;|),\]}.+*/%-])`)
	signOf     = pattern(`^(?:-[A-Za-z]+\b|\.\.|[,+*/%-])`)
	unaryOf    = pattern(`(?i)^(?:[!,]|-(?:not|join|split|bnot|isplit)\b)`)
	variableOf = pattern(`^\$(?:\{([^}\n]+)\}|((?:\w+:)?\w+)|([$?^]))`)
	memberOf   = pattern(`^(?:\?\.|\.|::)(\w+)(\()?`)
	typeOf     = pattern(`^\[((?:[^\[\]]|\[[^\[\]]*\])*)\]`)
)

func (r *reader) startsExpression() bool {
	rest := r.text[r.at:]
	return r.is("$'\"([{") || r.is("@") && len(rest) > 1 && strings.IndexByte("({'\"", rest[1]) >= 0 || unaryOf().MatchString(rest) || numberOf().MatchString(rest)
}

// expression reads values up to what is none of an expression.
func (r *reader) expression() []word {
	list := r.unary()
	for {
		r.spend()
		r.skip(false)
		m := r.match(signOf)
		if m == nil {
			return list
		}
		r.skip(true)
		switch op := strings.ToLower(m[0]); {
		case op == ",":
			list = append(list, r.unary()...)
		case op == "+":
			list = []word{joined(append(list, r.unary()...))}
		case len(op) > 1 && op[0] == '-':
			list = append(list, r.expression()...)
			list = []word{made(op, list)}
		default:
			list = []word{opaque(append(list, r.unary()...))}
		}
	}
}

func (r *reader) unary() []word {
	r.depth++
	defer func() { r.depth-- }()
	r.spend()
	r.skip(false)
	m := r.match(unaryOf)
	if m == nil {
		return r.members(r.primary())
	}
	list := r.unary()
	if len(m[0]) == 1 {
		return list
	}
	for r.skip(false); r.take(","); r.skip(false) {
		list = append(list, r.unary()...)
	}
	return []word{made(strings.ToLower(m[0]), list)}
}

// made is the value of an operator.
//
//go:noinline
func made(op string, list []word) word {
	if changing()[op] {
		return changed(codes(list))
	}
	return opaque(list)
}

// primary reads one value.
func (r *reader) primary() []word {
	switch {
	case r.has("@'\n"), r.has("@\"\n"):
		return []word{r.hereString()}
	case r.take("'"):
		text := r.until("'")
		for r.take("'") {
			text += "'" + r.until("'")
		}
		return []word{literal(text)}
	case r.take(`"`):
		return []word{r.interpolated('"')}
	case r.take("$("), r.take("@("), r.take("("):
		return r.values(')')
	case r.take("@{"):
		return r.hash()
	case r.take("{"):
		return []word{{code: "''", block: r.statements('}'), isBlock: true}}
	case r.is("$"):
		return r.variable()
	case r.is("["):
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
	quote := r.text[r.at+1 : r.at+2]
	r.at += 2
	body := strings.TrimPrefix(r.until("\n"+quote+"@"), "\n")
	if quote == "'" {
		return literal(body)
	}
	inner := reader{text: body, lists: r.lists, depth: r.depth}
	out := inner.interpolated(0)
	r.partly = r.partly || inner.partly
	return out
}

// escapes are what stands after a backtick for another character.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '0': "\x00", 'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'v': "\v"}

// interpolated reads text with variables up to end, which it passes.
func (r *reader) interpolated(end byte) word {
	var parts []word
	var b strings.Builder
	flush := func(more ...word) {
		if b.Len() > 0 {
			parts = append(parts, literal(b.String()))
		}
		b.Reset()
		parts = append(parts, more...)
	}
	for ; !r.done(); r.at++ {
		switch c := r.here(); {
		case c == end && r.has(`""`):
			b.WriteByte(c)
			r.at++
		case c == end:
			r.at++
			flush()
			return joined(parts)
		case c == '`' && r.at+1 < len(r.text):
			r.at++
			if s, ok := escapes[r.here()]; ok {
				b.WriteString(s)
			} else {
				b.WriteByte(r.here())
			}
		case r.take("$("):
			flush(joined(r.values(')')))
			r.at--
		case c == '$' && variableOf().MatchString(r.text[r.at:]):
			flush(r.variable()...)
			r.at--
		default:
			b.WriteByte(c)
		}
	}
	r.partly = r.partly || end != 0
	flush()
	return joined(parts)
}

func (r *reader) variable() []word {
	m := r.match(variableOf)
	if m == nil {
		r.at++
		return []word{literal("$")}
	}
	name := strings.ToLower(m[1] + m[2])
	switch scope, rest, scoped := spell.Cut(name, ":"); {
	case scope == "env" && scoped:
		return []word{fromEnvironment(rest)}
	case scoped && scopes()[scope]:
		name = rest
	case scoped:
		r.at -= len(name) - len(scope) // "$drive:" in a text
		name = scope
	}
	switch name {
	case "null":
		return nil
	case "true", "false":
		return []word{literal(name)}
	case "_":
		name = "psitem"
	case "home", "pwd", "profile":
		return []word{fromEnvironment(name)}
	}
	if r.lists[name] {
		return []word{{code: `"${` + name + `[@]}"`}}
	}
	return []word{variable(name)}
}

// hash gives the values of @{name = value; …}.
func (r *reader) hash() []word {
	var out []word
	for {
		r.skip(true)
		if r.take("}") {
			return out
		}
		before, _, found := spell.Cut(r.text[r.at:], "=")
		if !found || strings.ContainsAny(before, "}\n") {
			r.at, r.partly = len(r.text), true
			return out
		}
		r.at += len(before) + 1
		r.skip(false)
		values := r.value()
		r.aside += blocksOf(values)
		out = append(out, values...)
		r.only = nil
	}
}

// typed reads [type]::member, or a value of which the type is said.
func (r *reader) typed() []word {
	m := r.match(typeOf)
	if m == nil {
		r.at, r.partly = len(r.text), true
		return nil
	}
	name := strings.ToLower(m[1])
	if r.has("::") {
		return []word{{code: literal(name).code, lit: name, known: true}}
	}
	if r.skip(false); !r.is("$'\"(@[-0123456789") {
		return []word{literal(name)}
	}
	values := r.members(r.primary())
	if name == "bool" {
		values = []word{opaque(values)}
	}
	return values
}

// changing are the operators whose value is made of their operands.
var changing = losses.Words("-replace -creplace -ireplace -split -isplit -csplit -join -f")

// sameText are members whose value is the path or text of what they are of,
// sameValue methods whose value is that of their arguments, or else of that.
var (
	sameText  = losses.Words("fullname name path pspath psparentpath basename directory directoryname content value resolvedpath source definition providerpath password token result script")
	sameValue = losses.Words("getstring tostring trim getbytes tolower getfullpath combine new getnewclosure")
	scopes    = losses.Words("global script local private using variable")
)

// members reads .name, .name(…), ::name(…) and [index] after a value.
func (r *reader) members(values []word) []word {
	for {
		r.spend()
		m := r.match(memberOf)
		switch {
		case m != nil && m[2] != "":
			name, args := strings.ToLower(m[1]), r.values(')')
			if name != "foreach" && name != "where" {
				r.aside += blocksOf(args)
			}
			values = []word{method(name, values, args)}
		case m != nil:
			if !sameText()[strings.ToLower(m[1])] {
				values = []word{opaque(values)}
			}
		case r.take("["):
			values = []word{opaque(append(values, r.values(']')...))}
		default:
			return values
		}
	}
}

// method is a call of a method.
func method(name string, of, args []word) word {
	given := map[string][]word{"0": of, "all": args}
	for i := range args[:min(len(args), 3)] {
		given[strconv.Itoa(i+1)] = args[i : i+1]
	}
	owner := strings.ToLower(text(of))
	for _, suffix := range []string{"io.file", "io.directory", "filesystem", "process", "path", "scriptblock", "assembly", "registry"} {
		if strings.HasSuffix(owner, suffix) {
			given["owner"] = []word{literal(suffix)}
		}
	}
	switch {
	case (name == "invoke" || name == "invokereturnasis") && len(of) == 1 && of[0].isBlock:
		return substituted(of[0].block)
	case name == "create" && strings.HasSuffix(owner, "scriptblock"):
		return word{code: "''", block: "invoke-expression " + codes(args) + "\n", isBlock: true}
	case name == "foreach":
		return substituted(forEach("", blocksOf(args), args, &of))
	case name == "where":
		return joined(of)
	case name == "combine" && len(args) > 1:
		return joined([]word{args[0], literal("/"), joined(args[1:])})
	case sameValue()[name]:
		if len(args) > 0 {
			return joined(args)
		}
		return joined(of)
	case name == "frombase64string" && len(args) == 1 && args[0].known:
		if text, ok := Decode(args[0].lit); ok {
			return literal(text)
		}
	case name == "getenvironmentvariable" && len(args) > 0 && args[0].known:
		return fromEnvironment(args[0].lit)
	}
	if row := methods()[name]; row != nil {
		if code, ok := row.code(given); ok {
			return substituted(code)
		}
	}
	return opaque(append(of, args...))
}
