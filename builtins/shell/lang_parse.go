package shell

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/calls"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lazy"
)

// langValue is what an expression gives, as far as that is known.
type langValue struct {
	text  string
	known bool
	list  []langValue
	// isList tells an empty list from no list.
	isList bool
	// module is the module a value is: require('fs').
	module string
	// origin says where text comes from that is not known.
	origin shOrigin
	// path is true for a path object, whose / joins; rows for all that a table
	// of a database holds, or another thing that lies elsewhere.
	path, rows bool
}

// langCall is one call.
type langCall struct {
	// name is the whole name, imports followed back.
	name string
	args []langValue
	// named are the arguments given by name.
	named map[string]langValue
	// recv is what a method is called on, when that is an expression.
	recv langValue
}

// everything reports whether a call's first argument is empty: {} or nothing.
func (c langCall) everything() bool {
	return len(c.args) == 0 || c.args[0].isList && len(c.args[0].list) == 0
}

// arg is the n-th argument.
//
//go:noinline
func (c langCall) arg(n int) langValue {
	if n < 0 || n >= len(c.args) {
		return langValue{}
	}
	return c.args[n]
}

//go:noinline
func (p *langCode) peek() tokens.Token { return p.at(0) }

//go:noinline
func (p *langCode) at(n int) tokens.Token { return p.tokens[min(p.pos+n, len(p.tokens)-1)] }

//go:noinline
func (p *langCode) punct(text string) bool {
	return p.peek().Kind == tokens.Punct && p.peek().Text == text
}

// program reads statements until the end.
func (p *langCode) program() {
	for p.peek().Kind != tokens.End {
		before := p.pos
		p.statement()
		if p.pos == before {
			p.pos++
		}
	}
}

// langWords begin statements and say nothing of what is called.
var langWords = losses.Words("const let var my our local return await new if unless export async yield do then else begin try and or not in BEGIN END")

func (p *langCode) statement() {
	t := p.peek()
	if t.Kind == tokens.Name && p.imports(t.Text) {
		return
	}
	if t.Kind == tokens.Name && langWords()[t.Text] {
		p.pos++
		return
	}
	if t.Kind == tokens.Punct && t.Text == "{" && p.destructure() {
		return
	}
	if t.Kind == tokens.Name && p.at(1).Kind == tokens.Punct && p.at(1).Text == "=" && p.at(2).Text != "=" && p.at(2).Text != ">" && p.at(2).Text != "~" {
		p.pos += 2
		p.bind(t.Text, p.expr())
		return
	}
	p.expr()
}

// bind gives a name a value.
func (p *langCode) bind(name string, v langValue) {
	p.vars[name] = v
	if v.module != "" {
		p.names[name] = v.module
	}
}

// expr reads an expression: texts that are put together stay known.
func (p *langCode) expr() langValue {
	if p.depth > 100 {
		p.pos++
		return langValue{}
	}
	p.depth++
	defer func() { p.depth-- }()
	left := p.primary()
	for {
		t := p.peek()
		if t.Kind == tokens.String && !t.Line && left.known && (p.lang == tokens.Python || p.lang == tokens.Awk || p.lang == tokens.Ruby) {
			left = concat(left, p.primary())
			continue
		}
		if t.Kind != tokens.Punct || p.pos+1 >= len(p.tokens) {
			return left
		}
		switch {
		case t.Text == "+" && p.at(1).Text != "=" || t.Text == "." && (p.lang == tokens.PHP || p.lang == tokens.Perl || p.lang == tokens.Lua):
			p.pos++
			if p.lang == tokens.Lua && p.punct(".") {
				p.pos++
			}
			left = concat(left, p.primary())
		case t.Text == "/" && left.path:
			p.pos++
			left = joinLang([]langValue{left, p.primary()})
			left.path = true
		case t.Text == "%" && left.known && p.lang == tokens.Python:
			p.pos++
			p.primary()
			left.known = false
		default:
			return left
		}
	}
}

func concat(a, b langValue) langValue {
	out := langValue{text: a.text + b.text, known: a.known && b.known, origin: a.origin}
	if out.origin.kind == "" {
		out.origin = b.origin
	}
	if len(out.text) > maxShellValue {
		out.text, out.known = "", false
	}
	return out
}

func joinLang(parts []langValue) langValue {
	out := langValue{known: len(parts) > 0}
	for i, v := range parts {
		switch {
		case strings.HasPrefix(v.text, "/") || i == 0:
			out.text = v.text
		case out.text == "" && !out.known: // below what nobody knows
		default:
			out.text = strings.TrimSuffix(out.text, "/") + "/" + v.text
		}
		out.known = out.known && v.known
	}
	return out
}

func (p *langCode) primary() langValue {
	t := p.peek()
	switch t.Kind {
	case tokens.String:
		p.pos++
		return p.after(p.interpolated(t), "")
	case tokens.Command:
		p.pos++
		p.found = append(p.found, langCall{name: "`", args: []langValue{p.interpolated(t)}})
		return langValue{}
	case tokens.Number:
		p.pos++
		return langValue{text: t.Text, known: true}
	case tokens.Name:
		return p.nameExpr(t)
	case tokens.Punct:
		return p.bracketed(t.Text)
	}
	return langValue{}
}

// interpolations are the ways in which a string holds an expression.
var interpolations = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\$ENV\{\w+\}|[$#]?\{[^{}]*\}|\$\w+`) })

// interpolated is a string with the variables in it that are known, and the home.
func (p *langCode) interpolated(t tokens.Token) langValue {
	v := langValue{text: t.Text, known: !t.Open}
	if !t.Open || len(t.Text) > maxShellValue/16 {
		return v
	}
	v.known = true
	v.text = interpolations().ReplaceAllStringFunc(t.Text, func(s string) string {
		name := strings.Trim(s, "#{}")
		if w, ok := p.vars[strings.TrimPrefix(name, "${")]; ok && (w.known || w.origin.kind != "") {
			v.known, v.origin = v.known && w.known, w.origin
			return w.text
		}
		if i := strings.IndexAny(name, "Hh"); i >= 0 && (strings.Contains(name, "HOME") || strings.Contains(name, "home")) {
			return "~"
		}
		v.known = false
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("$.[]()'\"{}", r) }) {
			if losses.SecretVariable(word) {
				v.origin = shOrigin{credential, "$" + word}
			}
		}
		return s
	})
	return v
}

// bracketed reads a list, a group, an object, or skips a sign.
func (p *langCode) bracketed(open string) langValue {
	i := strings.Index("([{", open)
	if i < 0 {
		if strings.Contains(")]};,", open) {
			return langValue{}
		}
		p.pos++
		if open == "$" && p.lang == tokens.JS && p.peek().Kind == tokens.String {
			return p.called(langCall{name: "zx.$", args: []langValue{p.primary()}})
		}
		if strings.Contains("!-~&*\\@$", open) && p.peek().Kind != tokens.End {
			return p.primary()
		}
		return langValue{}
	}
	p.pos++
	list, _ := p.arguments(string(")]}"[i]))
	if open == "(" && len(list) == 1 {
		return p.after(list[0], "")
	}
	if open == "[" {
		p.maybe(list)
	}
	return p.after(langValue{list: list, isList: true}, "")
}

// arguments reads expressions up to a closing bracket.
func (p *langCode) arguments(end string) ([]langValue, map[string]langValue) {
	var list []langValue
	var named map[string]langValue
	for p.peek().Kind != tokens.End && !p.punct(end) {
		before := p.pos
		if t := p.peek(); end == "}" && t.Kind == tokens.Name && langWords()[t.Text] && p.at(1).Kind != tokens.End {
			if p.pos++; p.punct("{") {
				p.destructure()
			}
			continue
		}
		name := ""
		if t := p.peek(); t.Kind == tokens.Name && p.at(1).Kind == tokens.Punct && (p.at(1).Text == "=" && p.at(2).Text != "=" || p.at(1).Text == ":") {
			name = t.Text
			p.pos += 2
		}
		v := p.expr()
		if name != "" {
			if named == nil {
				named = map[string]langValue{}
			}
			named[name] = v
			if end == "}" {
				p.bind(name, v)
			}
			if end == "}" || p.lang == tokens.Ruby {
				list = append(list, v)
			}
		} else if p.pos > before {
			list = append(list, v)
		}
		if p.punct(",") || p.pos == before {
			p.pos++
		}
	}
	if p.punct(end) {
		p.pos++
	}
	return list, named
}

// nameExpr reads a variable or a call.
func (p *langCode) nameExpr(t tokens.Token) langValue {
	p.pos++
	name := p.resolveName(t.Text)
	if langWords()[t.Text] && p.peek().Kind != tokens.End {
		return p.primary()
	}
	if p.punct("(") {
		p.pos++
		args, named := p.arguments(")")
		call := langCall{name: name, args: args, named: named}
		if first, method, ok := losses.Cut(name, "."); ok && p.names[first] == "" && !strings.Contains(method, ".") && calls.Act(p.lang, name) == 0 {
			// p.unlink() of a variable is what Path(…).unlink() is.
			if v, known := p.vars[first]; known || calls.Actions()["."+method] != 0 {
				call.name, call.recv = "."+method, v
				if v.module != "" {
					call.name = v.module + call.name
				}
			}
		}
		return p.called(call)
	}
	next := p.peek()
	if p.lang == tokens.JS && next.Kind == tokens.String && !next.Line && strings.Contains(name, ".") {
		return p.called(langCall{name: name, args: []langValue{p.primary()}}) // db.query`…`
	}
	bare := p.lang == tokens.Perl || p.lang == tokens.Ruby || p.lang == tokens.PHP || p.lang == tokens.Lua
	if bare && !next.Line && (next.Kind == tokens.String || next.Kind == tokens.Name && (WordIn(name, losses.CallsPrint) || strings.HasPrefix(next.Text, "$") || calls.Act(p.lang, name) != 0) || calls.Act(p.lang, name) == calls.Mode && next.Text != "" && next.Text[0] == '0') && !strings.HasPrefix(t.Text, "$") && !strings.HasPrefix(t.Text, "@") {
		var args []langValue
		for {
			args = append(args, p.expr())
			if !p.punct(",") {
				break
			}
			p.pos++
		}
		return p.called(langCall{name: name, args: args})
	}
	if v, ok := p.vars[t.Text]; ok {
		if p.punct("+") && p.at(1).Text == "=" {
			delete(p.vars, t.Text) // it grows
		}
		return p.after(v, "")
	}
	if v, ok := langConstant(name); ok {
		return p.after(v, name)
	}
	if p.lang == tokens.Ruby && strings.Contains(name, ".") {
		return p.called(langCall{name: name}) // a method needs no brackets
	}
	v := langValue{module: p.names[t.Text]}
	if v.module == "" && calls.Act(p.lang, name) != 0 {
		v.module = name // handed over to be called: map(os.remove, …)
	}
	return p.after(v, name)
}

// after reads what follows a value: an index, or a method.
func (p *langCode) after(v langValue, name string) langValue {
	for {
		t := p.peek()
		switch {
		case t.Kind == tokens.Punct && t.Text == "[" && v.module != "" && !t.Line:
			p.pos++
			args, _ := p.arguments("]")
			if len(args) != 1 || !args[0].known {
				return langValue{}
			}
			v, name = langValue{module: v.module + "." + args[0].text}, ""
		case t.Kind == tokens.Punct && t.Text == "[" && name != "" && !t.Line:
			p.pos++
			args, _ := p.arguments("]")
			if len(args) == 1 && args[0].known {
				v, _ = langConstant(name + "[" + args[0].text + "]")
				if name == "Dir" {
					p.list(args[0])
				}
			} else {
				v = langValue{}
			}
			name = ""
		case t.Kind == tokens.Punct && t.Text == "{" && name == "$ENV" && p.at(1).Kind == tokens.Name:
			v, name = langVariable(p.at(1).Text), ""
			p.pos += 3
		case t.Kind == tokens.Name && (strings.HasPrefix(t.Text, ".") && p.lang != tokens.PHP || strings.HasPrefix(t.Text, "->")):
			p.pos++
			method := "." + strings.TrimLeft(t.Text, "->.")
			if v.module != "" {
				method = v.module + method
			}
			call := langCall{name: method, recv: v}
			if p.punct("(") {
				p.pos++
				call.args, call.named = p.arguments(")")
			} else if p.lang != tokens.Ruby {
				v, name = langValue{module: method}, ""
				continue
			}
			v, name = p.called(call), ""
		case t.Kind == tokens.Punct && t.Text == "(" && v.module != "" && !t.Line && name == "":
			p.pos++
			args, named := p.arguments(")")
			v = p.called(langCall{name: v.module, args: args, named: named})
		default:
			return v
		}
	}
}

// called notes a call and says what it gives.
func (p *langCode) called(c langCall) langValue {
	p.found = append(p.found, c)
	if calls.Act(p.lang, c.name) == 0 && !WordIn(c.name, losses.CallsPrint) {
		p.maybe(c.args)
	}
	switch calls.Listing()[c.name] {
	case 1:
		p.list(c.arg(0))
	case 2:
		p.list(joinLang([]langValue{c.recv, c.arg(0)}))
	case 3:
		for _, v := range c.args[min(1, len(c.args)):] {
			p.list(v)
		}
	}
	for _, v := range c.args {
		// A function that is handed over is called with what nobody knows here.
		if name := v.module; name != "" || p.lang == tokens.PHP && strings.HasPrefix(c.name, "array_") {
			if name == "" {
				name = v.text
			}
			switch calls.Act(p.lang, name) {
			case calls.Delete, calls.Tree:
				p.found = append(p.found, langCall{name: name, args: []langValue{{}}})
			case calls.Eval, calls.Shell:
				p.found = append(p.found, langCall{name: name, args: []langValue{{origin: c.recv.origin}}})
			}
		}
	}
	return p.after(langResult(c), "")
}

// list notes a folder or pattern whose names are read.
func (p *langCode) list(v langValue) {
	if v.text == "" {
		return
	}
	if !strings.ContainsAny(v.text, "*?") {
		v.text = strings.TrimSuffix(v.text, "/") + "/**"
	}
	p.listed = append(p.listed, v)
}

// maybe notes full paths that are handed over: what is deleted by a name that
// is not followed may be one of them.
func (p *langCode) maybe(values []langValue) {
	for _, v := range flatten(values) {
		if len(v.text) > 1 && strings.IndexAny(v.text, "/~") == 0 {
			p.handed = append(p.handed, v)
		}
	}
}

//go:noinline
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
