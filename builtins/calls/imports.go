package calls

import (
	"strings"

	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/spell"
)

// imports reads import x as y, from x import y, and import x from 'y'.
func (p *Code) imports(word string) bool {
	if p.lang == tokens.JS && word == "import" {
		return p.importJS()
	}
	if p.lang != tokens.Python || word != "import" && word != "from" {
		return false
	}
	p.pos++
	module := p.peek().Text
	p.pos++
	if word == "from" {
		if p.peek().Text != "import" {
			return true
		}
		p.pos++
		if p.punct("*") {
			p.names["*"] = module
			p.pos++
			return true
		}
	} else {
		p.alias(module, module)
	}
	for p.peek().Kind == tokens.Name && !p.peek().Line || p.punct(",") || p.punct("(") || p.punct(")") {
		if p.peek().Kind != tokens.Name {
			p.pos++
			continue
		}
		name := p.peek().Text
		p.pos++
		if word == "from" {
			p.alias(module+"."+name, name)
		} else {
			p.alias(name, name)
		}
	}
	return true
}

// alias notes a name for something, or the one after `as`.
func (p *Code) alias(what, name string) {
	if p.peek().Kind == tokens.Name && p.peek().Text == "as" {
		p.pos++
		name = p.peek().Text
		p.pos++
	}
	p.names[name] = what
}

func (p *Code) importJS() bool {
	p.pos++
	var names []string
	for p.peek().Kind != tokens.End && p.peek().Kind != tokens.String && !p.punct(";") {
		if t := p.peek(); t.Kind == tokens.Name && t.Text != "from" && t.Text != "as" {
			names = append(names, t.Text)
		}
		p.pos++
	}
	if p.peek().Kind == tokens.String {
		module := moduleName(p.peek().Text)
		p.pos++
		for _, n := range names {
			p.names[n] = module
			if n != module {
				p.names[n] = module + "." + n
			}
		}
		p.names[Last(module)] = module
	}
	return true
}

func moduleName(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "node:"), "/", ".")
}

// destructure reads {a, b: c} = require('x').
func (p *Code) destructure() bool {
	start := p.pos
	var names [][2]string
	p.pos++
	for p.peek().Kind == tokens.Name || p.punct(",") || p.punct(":") {
		if t := p.peek(); t.Kind == tokens.Name {
			name := t.Text
			if p.at(1).Text == ":" && p.at(2).Kind == tokens.Name {
				p.pos += 2
				names = append(names, [2]string{p.peek().Text, name})
			} else {
				names = append(names, [2]string{name, name})
			}
		}
		p.pos++
	}
	if !p.punct("}") || p.at(1).Text != "=" {
		p.pos = start
		return false
	}
	p.pos += 2
	v := p.expr()
	for _, n := range names {
		if v.Module != "" {
			p.names[n[0]] = v.Module + "." + n[1]
		} else if v.Origin.Kind == "environment" {
			p.vars[n[0]] = ofVariable(n[1])
		}
	}
	return true
}

// resolveName follows imports: sp.run is subprocess.run.
func (p *Code) resolveName(name string) string {
	name = strings.ReplaceAll(name, "?.", ".")
	first, rest, more := spell.Cut(name, ".")
	if first == "" {
		return name
	}
	what, ok := p.names[first]
	if all, starred := p.names["*"]; starred && !ok && Actions()[all+"."+name] != 0 {
		return all + "." + name // from module import *
	}
	if !ok {
		return name
	}
	if !more {
		return what
	}
	return what + "." + rest
}
