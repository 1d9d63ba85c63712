package calls

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Origin is where a text comes from that is not known: its kind, and which it is.
type Origin struct{ Kind, From string }

// maxText bounds a text that is put together.
const maxText = 64 << 10

// Value is what an expression gives, as far as that is known.
type Value struct {
	Text  string
	Known bool
	List  []Value
	// IsList tells an empty list from no list.
	IsList bool
	// Module is the module a value is: require('fs').
	Module string
	// Origin says where text comes from that is not known.
	Origin Origin
	// Path is true for a path object, whose / joins; Rows for all that a table
	// of a database holds, or another thing that lies elsewhere.
	// Asked for the answer to a question about a text.
	Path, Rows, Asked bool
}

// Call is one call.
type Call struct {
	// Name is the whole name, imports followed back.
	Name string
	Args []Value
	// Named are the arguments given by name.
	Named map[string]Value
	// Recv is what a method is called on, when that is an expression.
	Recv Value
}

// Everything reports whether a call's first argument is empty: {} or nothing.
func (c Call) Everything() bool {
	return len(c.Args) == 0 || c.Args[0].IsList && len(c.Args[0].List) == 0
}

// Arg is the n-th argument.
//
//go:noinline
func (c Call) Arg(n int) Value {
	if n < 0 || n >= len(c.Args) {
		return Value{}
	}
	return c.Args[n]
}

//go:noinline
func (p *Code) peek() tokens.Token { return p.at(0) }

//go:noinline
func (p *Code) at(n int) tokens.Token { return p.Tokens[min(p.pos+n, len(p.Tokens)-1)] }

//go:noinline
func (p *Code) punct(text string) bool {
	return p.peek().Kind == tokens.Punct && p.peek().Text == text
}

// program reads statements until the end.
func (p *Code) program() {
	for p.peek().Kind != tokens.End {
		before := p.pos
		p.statement()
		if p.pos == before {
			p.pos++
		}
	}
}

// leading begin statements and say nothing of what is called.
var leading = losses.Words("const let var my our local return await new if unless export async yield do then else begin try and or not in BEGIN END")

func (p *Code) statement() {
	t := p.peek()
	if t.Kind == tokens.Name && p.imports(t.Text) {
		return
	}
	if t.Kind == tokens.Name && leading()[t.Text] {
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
func (p *Code) bind(name string, v Value) {
	p.vars[name] = v
	if v.Module != "" {
		p.names[name] = v.Module
	}
}

// expr reads an expression: texts that are put together stay known.
func (p *Code) expr() Value {
	if p.depth > 100 {
		p.pos++
		return Value{}
	}
	p.depth++
	defer func() { p.depth-- }()
	left := p.primary()
	for {
		t := p.peek()
		if t.Kind == tokens.String && !t.Line && left.Known && (p.lang == tokens.Python || p.lang == tokens.Awk || p.lang == tokens.Ruby) {
			left = concat(left, p.primary())
			continue
		}
		if p.question(&left) {
			continue
		}
		if t.Kind != tokens.Punct || p.pos+1 >= len(p.Tokens) {
			return left
		}
		switch {
		case t.Text == "+" && p.at(1).Text != "=" || t.Text == "." && (p.lang == tokens.PHP || p.lang == tokens.Perl || p.lang == tokens.Lua):
			p.pos++
			if p.lang == tokens.Lua && p.punct(".") {
				p.pos++
			}
			left = concat(left, p.primary())
		case t.Text == "/" && left.Path:
			p.pos++
			left = join([]Value{left, p.primary()})
			left.Path = true
		case t.Text == "%" && left.Known && p.lang == tokens.Python:
			p.pos++
			p.primary()
			left.Known = false
		default:
			return left
		}
	}
}

// question reads what makes a question of the text before it, and reports whether that is there: == x, in y, ? a : b.
//
//go:noinline
func (p *Code) question(left *Value) bool {
	t, next := p.peek(), p.at(1).Text
	secret, o := left.Origin.Kind != "", Origin{}
	asked := secret || left.Asked
	switch {
	case t.Kind == tokens.String || t.Kind == tokens.Name && t.Line:
		return false
	case t.Text == "?" && asked && next != "?" && next != ":":
		p.pos++
		o = p.expr().Origin
		if p.punct(":") {
			p.pos++
			if other := p.expr().Origin; o.Kind == "" {
				o = other
			}
		}
	case t.Text == "&" && next == "&" && asked:
		p.pos += 2
		o = p.primary().Origin
	case (t.Text == "=" || t.Text == "!") && next == "=", t.Text == "is" && secret, (t.Text == "in" || t.Text == "not" && next == "in") && (secret || p.Tokens[p.pos-1].Kind == tokens.String):
		for t.Kind != tokens.String && losses.In(t.Text, "= ! in not is") {
			p.pos++
			t = p.peek()
		}
		p.expr()
	default:
		return false
	}
	*left = Value{Origin: o, Asked: true}
	return true
}

// not is the answer to a question about what comes.
func (p *Code) not() Value {
	p.primary()
	return Value{Asked: true}
}

func concat(a, b Value) Value {
	out := Value{Text: a.Text + b.Text, Known: a.Known && b.Known, Origin: a.Origin}
	if out.Origin.Kind == "" {
		out.Origin = b.Origin
	}
	if len(out.Text) > maxText {
		out.Text, out.Known = "", false
	}
	return out
}

func join(parts []Value) Value {
	out := Value{Known: len(parts) > 0}
	for i, v := range parts {
		switch {
		case strings.HasPrefix(v.Text, "/") || i == 0:
			out.Text = v.Text
		case out.Text == "" && !out.Known: // below what nobody knows
		default:
			out.Text = strings.TrimSuffix(out.Text, "/") + "/" + v.Text
		}
		out.Known = out.Known && v.Known
	}
	return out
}

func (p *Code) primary() Value {
	t := p.peek()
	switch t.Kind {
	case tokens.String:
		p.pos++
		return p.after(p.interpolated(t), "")
	case tokens.Command:
		p.pos++
		p.Found = append(p.Found, Call{Name: "`", Args: []Value{p.interpolated(t)}})
		return Value{}
	case tokens.Number:
		p.pos++
		return Value{Text: t.Text, Known: true}
	case tokens.Name:
		return p.nameExpr(t)
	case tokens.Punct:
		return p.bracketed(t.Text)
	}
	return Value{}
}

// interpolations are the ways in which a string holds an expression.
var interpolations = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\$ENV\{\w+\}|[$#]?\{[^{}]*\}|\$\w+`) })

// interpolated is a string with the variables in it that are known, and the home.
func (p *Code) interpolated(t tokens.Token) Value {
	v := Value{Text: t.Text, Known: !t.Open}
	if !t.Open || len(t.Text) > maxText/16 {
		return v
	}
	v.Known = true
	v.Text = interpolations().ReplaceAllStringFunc(t.Text, func(s string) string {
		name := strings.Trim(s, "#{}")
		if w, ok := p.vars[strings.TrimPrefix(name, "${")]; ok && (w.Known || w.Origin.Kind != "") {
			v.Known, v.Origin = v.Known && w.Known, w.Origin
			return w.Text
		}
		if i := strings.IndexAny(name, "Hh"); i >= 0 && (strings.Contains(name, "HOME") || strings.Contains(name, "home")) {
			return "~"
		}
		v.Known = false
		if losses.In(name[:strings.IndexAny(name+"(", "(p.")], "len bool Boolean $!! !! ${!!") && !strings.Contains(name, " ") {
			return s
		}
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("$.[]()'\"{}", r) }) {
			if losses.SecretVariable(word) {
				v.Origin = Origin{"read-secret", "$" + word}
			}
		}
		return s
	})
	return v
}

// bracketed reads a list, a group, an object, or skips a sign.
func (p *Code) bracketed(open string) Value {
	i := strings.Index("([{", open)
	if i < 0 {
		if strings.Contains(")]};,", open) {
			return Value{}
		}
		p.pos++
		if open == "$" && p.lang == tokens.JS && p.peek().Kind == tokens.String {
			return p.called(Call{Name: "zx.$", Args: []Value{p.primary()}})
		}
		if open == "!" {
			return p.not()
		}
		if strings.Contains("-~&*\\@$", open) && p.peek().Kind != tokens.End {
			return p.primary()
		}
		return Value{}
	}
	p.pos++
	list, _ := p.arguments(string(")]}"[i]))
	if open == "(" && len(list) == 1 {
		return p.after(list[0], "")
	}
	if open == "[" {
		p.maybe(list)
	}
	return p.after(Value{List: list, IsList: true}, "")
}

// arguments reads expressions up to a closing bracket.
func (p *Code) arguments(end string) ([]Value, map[string]Value) {
	var list []Value
	var named map[string]Value
	for p.peek().Kind != tokens.End && !p.punct(end) {
		before := p.pos
		if t := p.peek(); end == "}" && t.Kind == tokens.Name && leading()[t.Text] && p.at(1).Kind != tokens.End {
			if p.pos++; p.punct("{") {
				p.destructure()
			}
			continue
		}
		if t := p.peek(); p.lang == tokens.Python && t.Kind == tokens.Name && t.Text == "if" && len(list) > 0 {
			p.pos++
			p.expr() // on what it depends
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
				named = map[string]Value{}
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
func (p *Code) nameExpr(t tokens.Token) Value {
	p.pos++
	name := p.resolveName(t.Text)
	if leading()[t.Text] && p.peek().Kind != tokens.End {
		return p.primary()
	}
	if t.Text == "typeof" || p.lang == tokens.Perl && losses.In(t.Text, "defined exists length") {
		return p.not()
	}
	if p.punct("(") {
		p.pos++
		args, named := p.arguments(")")
		call := Call{Name: name, Args: args, Named: named}
		if first, method, ok := spell.Cut(name, "."); ok && p.names[first] == "" && !strings.Contains(method, ".") && Act(p.lang, name) == 0 {
			// p.unlink() of a variable is what Path(…).unlink() is.
			if v, known := p.vars[first]; known || Actions()["."+method] != 0 {
				call.Name, call.Recv = "."+method, v
				if v.Module != "" {
					call.Name = v.Module + call.Name
				}
			}
		}
		return p.called(call)
	}
	next := p.peek()
	if p.lang == tokens.JS && next.Kind == tokens.String && !next.Line && strings.Contains(name, ".") {
		return p.called(Call{Name: name, Args: []Value{p.primary()}}) // db.query`…`
	}
	bare := p.lang == tokens.Perl || p.lang == tokens.Ruby || p.lang == tokens.PHP || p.lang == tokens.Lua
	if bare && !next.Line && (next.Kind == tokens.String || next.Kind == tokens.Name && (losses.In(name, losses.CallsPrint) || strings.HasPrefix(next.Text, "$") || Act(p.lang, name) != 0) || Act(p.lang, name) == Mode && next.Text != "" && next.Text[0] == '0') && !strings.HasPrefix(t.Text, "$") && !strings.HasPrefix(t.Text, "@") {
		var args []Value
		for {
			args = append(args, p.expr())
			if !p.punct(",") {
				break
			}
			p.pos++
		}
		return p.called(Call{Name: name, Args: args})
	}
	if v, ok := p.vars[t.Text]; ok {
		if p.punct("+") && p.at(1).Text == "=" {
			delete(p.vars, t.Text) // it grows
		}
		return p.after(v, "")
	}
	if v, ok := constant(name); ok {
		return p.after(v, name)
	}
	if p.lang == tokens.Ruby && strings.Contains(name, ".") {
		return p.called(Call{Name: name}) // a method needs no brackets
	}
	v := Value{Module: p.names[t.Text]}
	if v.Module == "" && Act(p.lang, name) != 0 {
		v.Module = name // handed over to be called: map(os.remove, …)
	}
	return p.after(v, name)
}

// after reads what follows a value: an index, or a method.
func (p *Code) after(v Value, name string) Value {
	for {
		t := p.peek()
		switch {
		case t.Kind == tokens.Punct && t.Text == "[" && v.Module != "" && !t.Line:
			p.pos++
			args, _ := p.arguments("]")
			if len(args) != 1 || !args[0].Known {
				return Value{}
			}
			v, name = Value{Module: v.Module + "." + args[0].Text}, ""
		case t.Kind == tokens.Punct && t.Text == "[" && name != "" && !t.Line:
			p.pos++
			args, _ := p.arguments("]")
			if len(args) == 1 && args[0].Known {
				v, _ = constant(name + "[" + args[0].Text + "]")
				if name == "Dir" {
					p.list(args[0])
				}
			} else {
				v = Value{}
			}
			name = ""
		case t.Kind == tokens.Punct && t.Text == "{" && name == "$ENV" && p.at(1).Kind == tokens.Name:
			v, name = ofVariable(p.at(1).Text), ""
			p.pos += 3
		case t.Kind == tokens.Name && (strings.HasPrefix(t.Text, ".") && p.lang != tokens.PHP || strings.HasPrefix(t.Text, "->")):
			p.pos++
			method := "." + strings.TrimLeft(t.Text, "->.")
			if v.Module != "" {
				method = v.Module + method
			}
			call := Call{Name: method, Recv: v}
			if p.punct("(") {
				p.pos++
				call.Args, call.Named = p.arguments(")")
			} else if p.lang != tokens.Ruby {
				v, name = Value{Module: method}, ""
				continue
			}
			v, name = p.called(call), ""
		case t.Kind == tokens.Punct && t.Text == "(" && v.Module != "" && !t.Line && name == "":
			p.pos++
			args, named := p.arguments(")")
			v = p.called(Call{Name: v.Module, Args: args, Named: named})
		default:
			return v
		}
	}
}

// called notes a call and says what it gives.
func (p *Code) called(c Call) Value {
	if c.Name == ".rglob" && len(c.Args) > 0 && c.Args[0].Known {
		c.Args[0].Text = "**/" + c.Args[0].Text
	}
	p.Found = append(p.Found, c)
	if Act(p.lang, c.Name) == 0 && !losses.In(c.Name, losses.CallsPrint) {
		p.maybe(c.Args)
	}
	switch Listing()[c.Name] {
	case 1:
		p.list(c.Arg(0))
	case 2:
		p.list(join([]Value{c.Recv, c.Arg(0)}))
	case 3:
		for _, v := range c.Args[min(1, len(c.Args)):] {
			p.list(v)
		}
	}
	for _, v := range c.Args {
		// A function that is handed over is called with what nobody knows here.
		if name := v.Module; name != "" || p.lang == tokens.PHP && strings.HasPrefix(c.Name, "array_") {
			if name == "" {
				name = v.Text
			}
			switch Act(p.lang, name) {
			case Delete, Tree:
				p.Found = append(p.Found, Call{Name: name, Args: []Value{{}}})
			case Eval, Shell:
				p.Found = append(p.Found, Call{Name: name, Args: []Value{{Origin: c.Recv.Origin}}})
			}
		}
	}
	return p.after(result(c), "")
}

// list notes a folder or pattern whose names are read.
func (p *Code) list(v Value) {
	if v.Text == "" {
		return
	}
	if !strings.ContainsAny(v.Text, "*?") {
		v.Text = strings.TrimSuffix(v.Text, "/") + "/**"
	}
	p.Listed = append(p.Listed, v)
}

// maybe notes full paths that are handed over: what is deleted by a name that
// is not followed may be one of them.
func (p *Code) maybe(values []Value) {
	for _, v := range Flatten(values) {
		if len(v.Text) > 1 && strings.IndexAny(v.Text, "/~") == 0 {
			p.Handed = append(p.Handed, v)
		}
	}
}

//go:noinline
func Last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

//go:noinline
func Flatten(args []Value) []Value {
	var out []Value
	for _, v := range args {
		if v.IsList {
			out = append(out, v.List...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// OfAll is a call of what is not known as one of all whose names were read.
func (c Call) OfAll(does string, listed []Value) Call {
	if !c.Recv.Known && strings.HasPrefix(c.Name, ".") {
		c.Name, c.Args = does, listed // whatever the language calls it
	}
	for i, v := range c.Args {
		if !v.Known && v.Text == "" {
			c.Args = lists.Concat(c.Args[:i], listed, c.Args[i+1:])
			break
		}
	}
	return c
}
