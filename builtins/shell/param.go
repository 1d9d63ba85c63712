package shell

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"mvdan.cc/sh/v3/syntax"
)

// shParam is what a parameter holds: one value, or several for "$@" and
// arrays.
type shParam struct {
	values []shValue
	// list is true for $@, $* and ${a[@]}; joined for the ones with a star.
	list, joined bool
	// sparse is true for an array of which some elements are not there.
	sparse bool
	// unset is true when it is known not to be set, maybe when it may not be.
	unset, maybe bool
}

func (p shParam) value() shValue {
	if len(p.values) == 1 {
		return p.values[0]
	}
	words := make([]Word, len(p.values))
	for i, v := range p.values {
		words[i] = v.word()
	}
	return joinWords(words)
}

// paramPart adds a parameter expansion to f.
func (a *analysis) paramPart(pe *syntax.ParamExp, fr *shFrame, f *shFields, quoted bool) {
	p := a.param(pe, fr)
	if !p.list || quoted && p.joined {
		v := p.value()
		if sep := a.ifs(fr.st); p.list && !strings.HasPrefix(sep, " ") {
			v = nil
			for i, one := range p.values {
				if i > 0 && sep != "" {
					v = append(v, shPart{text: sep[:1]})
				}
				v = append(v, one...)
			}
		}
		a.addValue(v, f, quoted)
		return
	}
	for i, v := range p.values {
		if i > 0 {
			f.end()
		}
		f.open = f.open || quoted
		a.addValue(v, f, quoted)
	}
}

// param expands ${…} in all its forms.
func (a *analysis) param(pe *syntax.ParamExp, fr *shFrame) shParam {
	if pe.Param == nil || pe.Flags != nil || pe.NestedParam != nil || len(pe.Modifiers) > 0 || pe.IsSet || pe.Width {
		return shParam{values: []shValue{shUnknown(fr.source(pe), shOrigin{})}, maybe: true}
	}
	name := pe.Param.Value
	if pe.Excl { // ${!name}, and ${!prefix*}, whose names are not known
		target, ok := a.parameter(name, nil, fr).value().known()
		if ok && pe.Names == 0 && pe.Index == nil && pe.Exp == nil && (syntax.ValidName(target) || name == "#") {
			return a.parameter(target, nil, fr)
		}
		return shParam{values: []shValue{shUnknown(fr.source(pe), shOrigin{})}, maybe: true}
	}
	p := a.parameter(name, pe.Index, fr)
	switch {
	case pe.Length:
		return a.length(p)
	case pe.Slice != nil:
		return a.slice(p, pe.Slice, name == "@" || name == "*", fr)
	case pe.Repl != nil:
		return a.mapParam(p, fr, func(s string) (string, bool) { return a.replaceIn(s, pe.Repl, fr) })
	case pe.Exp != nil:
		return a.expansion(p, name, pe.Exp, fr)
	}
	return p
}

// parameter is the value of a name, special parameters included.
func (a *analysis) parameter(name string, index syntax.ArithmExpr, fr *shFrame) shParam {
	switch name {
	case "@", "*":
		return a.positionals(name == "*", fr)
	case "#":
		args, known := a.arguments(fr.st)
		return numberParam(len(args), known && !slices.ContainsFunc(args, shValue.many))
	case "$", "!", "?", "RANDOM", "SRANDOM", "UID", "EUID", "PPID", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME", "SHLVL", "COLUMNS", "LINES", "-":
		if _, ok := fr.st.vars.get(name); !ok {
			return shParam{values: []shValue{{{text: "$" + name, kind: shPlain}}}}
		}
	case "0":
		if fr.st.name == nil {
			return shParam{values: []shValue{shLiteral("bash")}}
		}
		return shParam{values: []shValue{fr.st.name}}
	}
	if n, err := strconv.Atoi(name); err == nil {
		return a.positional(n, fr)
	}
	b, ok := a.lookup(fr.st, name)
	if index != nil && !isAtIndex(index) && (!ok || b.open || b.unset) {
		a.indexKey(index, fr) // substitutions in it run all the same
	}
	if !ok {
		return a.environment(name, fr)
	}
	if b.open {
		return variableParam(name)
	}
	if b.unset {
		return shParam{unset: true}
	}
	return a.element(b, name, index, fr)
}

// element is $a, ${a[i]}, ${a[@]} or ${a[*]} of a variable.
func (a *analysis) element(b shBinding, name string, index syntax.ArithmExpr, fr *shFrame) shParam {
	if index == nil {
		if b.array && len(b.elems) == 0 {
			return shParam{unset: true}
		}
		return shParam{values: []shValue{b.value()}}
	}
	if isAtIndex(index) {
		p := shParam{list: true, joined: indexText(index) == "*"}
		for i, e := range b.elems {
			p.values, p.sparse = append(p.values, e.value), p.sparse || e.key != itoa(i)
		}
		return p
	}
	key, ok := a.indexKey(index, fr)
	if !ok {
		return shParam{values: []shValue{shUnknown("${"+name+"[...]}", shOrigin{})}, maybe: true}
	}
	if strings.HasPrefix(key, "-") {
		if n, err := strconv.Atoi(key); err == nil && -n <= len(b.elems) {
			return shParam{values: []shValue{b.elems[len(b.elems)+n].value}}
		}
	}
	for i, e := range b.elems {
		if e.key == key && !slices.ContainsFunc(b.elems[:i], shElem.many) {
			return shParam{values: []shValue{e.value}}
		}
	}
	if len(b.elems) > 0 && b.elems[0].key == "0" && strings.Trim(key, "-0123456789") != "" || slices.ContainsFunc(b.elems, shElem.many) { // one that is not known may be several
		return shParam{values: []shValue{shUnknown("${"+name+"[...]}", shOrigin{})}, maybe: true}
	}
	return shParam{unset: true}
}

//go:noinline
func indexText(index syntax.ArithmExpr) string {
	if w, ok := index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

func isAtIndex(index syntax.ArithmExpr) bool {
	t := indexText(index)
	return t == "@" || t == "*"
}

// indexKey is the key of an element: a number, or the text of an associative
// array's key.
func (a *analysis) indexKey(index syntax.ArithmExpr, fr *shFrame) (string, bool) {
	if w, ok := index.(*syntax.Word); ok {
		if s, known := a.single(w, fr).known(); known {
			if _, err := strconv.Atoi(s); err == nil || !syntax.ValidName(s) {
				return s, true
			}
			if _, isVar := fr.st.vars.get(s); !isVar {
				return s, true
			}
		}
	}
	n, ok := a.arithm(index, fr)
	return strconv.FormatInt(n, 10), ok
}

// arguments are the positional parameters, known or not.
func (a *analysis) arguments(st *shState) (args []shValue, known bool) {
	if i := a.choose("\x00args", len(st.otherArgs)+1); i > 0 {
		return st.otherArgs[i-1], st.argsKnown
	}
	return st.args, st.argsKnown
}

func (a *analysis) positionals(joined bool, fr *shFrame) shParam {
	args, known := a.arguments(fr.st)
	if !known {
		return shParam{values: []shValue{{{text: "$@", kind: shVar}}}, maybe: true}
	}
	return shParam{values: args, list: true, joined: joined}
}

func (a *analysis) positional(n int, fr *shFrame) shParam {
	args, known := a.arguments(fr.st)
	several := slices.ContainsFunc(args[:max(0, min(n-1, len(args)))], shValue.many)
	if n >= 1 && n <= len(args) && !several {
		return shParam{values: []shValue{args[n-1]}}
	}
	if known && !several {
		return shParam{unset: true}
	}
	return shParam{values: []shValue{{{text: "$" + strconv.Itoa(n), kind: shVar}}}, maybe: true}
}

// constantWord is a word, or the one value of a variable.
func constantWord(w *syntax.Word, st *shState) (string, bool) {
	if text, ok := posix.PlainLit(w); ok {
		return text, true
	}
	name := posix.Whole(w)
	if n := strings.Index("0123456789", name); len(name) == 1 && n > 0 && n <= len(st.args) && len(st.otherArgs) == 0 {
		return st.args[n-1].fixed()
	}
	alts, _ := st.vars.get(name)
	if len(alts) != 1 || alts[0].open || alts[0].unset || alts[0].array {
		return "", false
	}
	return alts[0].value().fixed()
}

func numberParam(n int, known bool) shParam {
	if !known {
		return shParam{values: []shValue{{{text: "$#", kind: shPlain}}}}
	}
	return shParam{values: []shValue{shLiteral(strconv.Itoa(n))}}
}

// environment is a variable that the text does not assign.
func (a *analysis) environment(name string, fr *shFrame) shParam {
	known := ""
	switch name {
	case "HOME":
		known = a.at.Home
	case "PWD":
		known = a.dir(fr.st)
	case "TMPDIR":
		known = a.at.Temp
	case "USER", "LOGNAME":
		known = os.Getenv(name)
		if i := strings.LastIndexByte(a.at.Home, '/'); known == "" && i >= 0 {
			known = a.at.Home[i+1:]
		}
	case "IFS":
		return shParam{values: []shValue{shLiteral(" \t\n")}}
	case "HOSTNAME", "OSTYPE", "MACHTYPE", "BASH_VERSION", "HOSTTYPE":
		return shParam{values: []shValue{{{text: "$" + name, kind: shPlain}}}}
	case "SHELL", "BASH":
		return shParam{values: []shValue{shLiteral("/bin/bash")}}
	}
	if known != "" {
		return shParam{values: []shValue{shLiteral(known)}}
	}
	return variableParam(name)
}

// variableParam is a variable of which only the name is known.
func variableParam(name string) shParam {
	p := shPart{text: "$" + name, kind: shVar}
	if losses.SecretVariable(name) {
		p.origin = shOrigin{credential, p.text}
	}
	return shParam{values: []shValue{{p}}, maybe: true}
}

func (a *analysis) length(p shParam) shParam {
	if p.list {
		return numberParam(len(p.values), !slices.ContainsFunc(p.values, shValue.many))
	}
	if s, ok := p.value().known(); ok {
		return numberParam(len([]rune(s)), true)
	}
	return numberParam(0, false)
}

// mapParam changes each value that is known; the others are not known after.
func (a *analysis) mapParam(p shParam, fr *shFrame, f func(string) (string, bool)) shParam {
	out := p
	out.values = nil
	for _, v := range p.values {
		s, ok := v.known()
		if ok {
			s, ok = f(s)
		}
		if !ok {
			// The change may take away what was known.
			out.values = append(out.values, shUnknown(v.text(), v.origin()))
			continue
		}
		part := shPart{text: s}
		if slices.ContainsFunc(v, func(p shPart) bool { return p.kind == shMatch }) {
			part.kind = shMatch
		}
		out.values = append(out.values, a.bounded(shValue{part}, fr))
	}
	return out
}

// expansion is ${a:-b} and its kin.
func (a *analysis) expansion(p shParam, name string, e *syntax.Expansion, fr *shFrame) shParam {
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return a.defaulted(p, name, e, fr)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return a.alternate(p, e, fr)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		a.single(e.Word, fr)
		return requireSet(p)
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pattern, ok := a.single(e.Word, fr).known()
		_, fixed := p.value().fixed()
		return a.mapParam(p, fr, func(s string) (string, bool) {
			left := posix.RemoveAffix(s, pattern, e.Op)
			return left, (fixed || posix.SureAffix(s, left, pattern, e.Op)) && ok && len(s) < 4096 && len(pattern) < 256 && !strings.Contains(pattern, "(")
		})
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		return a.mapParam(p, fr, func(s string) (string, bool) { return posix.ChangeCase(s, e.Op), true })
	}
	if e.Op == syntax.OtherParamOps && e.Word != nil {
		if op, _ := e.Word.Parts[0].(*syntax.Lit); op != nil && op.Value == "Q" && !p.maybe {
			return a.mapParam(p, fr, func(s string) (string, bool) { return s, s == "" || strings.Trim(s, quoting.Plain) == "" })
		} else if op != nil && op.Value == "P" {
			a.unknown(fr, DynamicCode, fr.offset(e.Word)) // what is in it runs
		}
	}
	return a.mapParam(p, fr, func(string) (string, bool) { return "", false })
}

// requireSet is ${a:?}: what follows happens only if it is set.
func requireSet(p shParam) shParam {
	if !p.maybe {
		return p
	}
	var out shValue
	for _, part := range p.value() {
		if part.kind == shVar {
			part.kind = shAny
		}
		out = append(out, part)
	}
	return shParam{values: []shValue{out}}
}

func (a *analysis) defaulted(p shParam, name string, e *syntax.Expansion, fr *shFrame) shParam {
	orNull := e.Op == syntax.DefaultUnsetOrNull || e.Op == syntax.AssignUnsetOrNull
	assign := e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull
	empty, known := p.value().known()
	use := p.unset || len(p.values) == 0 || known && empty == "" && orNull
	if p.maybe && !use {
		// The default, or what is not known.
		use = a.choose("\x00default"+fr.source(e.Word)+name, 2) == 0
	}
	if !use {
		return requireSet(p)
	}
	v := a.single(e.Word, fr)
	if assign && syntax.ValidName(name) {
		fr.st.set(name, v)
	}
	return shParam{values: []shValue{v}}
}

func (a *analysis) alternate(p shParam, e *syntax.Expansion, fr *shFrame) shParam {
	empty, known := p.value().known()
	if p.unset || len(p.values) == 0 || known && empty == "" && e.Op == syntax.AlternateUnsetOrNull {
		return shParam{values: []shValue{nil}}
	}
	if p.maybe && a.choose("\x00alternate"+fr.source(e.Word), 2) == 1 {
		return shParam{values: []shValue{nil}}
	}
	return shParam{values: []shValue{a.single(e.Word, fr)}}
}

// slice is ${a:1:2} of a text, and ${@:2} of a list.
func (a *analysis) slice(p shParam, s *syntax.Slice, positional bool, fr *shFrame) shParam {
	unknown := shParam{values: []shValue{shUnknown("${...}", p.value().origin())}, list: p.list}
	from, ok := int64(0), true
	if s.Offset != nil {
		from, ok = a.arithm(s.Offset, fr)
	}
	length, bounded := int64(0), s.Length != nil
	if ok && bounded {
		length, ok = a.arithm(s.Length, fr)
	}
	if !ok || p.sparse {
		return unknown
	}
	if p.list {
		values := p.values
		if positional { // ${@:0} begins with $0, which is not among the values
			values = append([]shValue{shLiteral("bash")}, values...)
		}
		start, end, ok := posix.SliceRange(from, length, bounded, len(values))
		if !ok {
			return unknown
		}
		if i := slices.IndexFunc(values, shValue.many); i >= 0 { // from there on none has a place
			start, end = min(i, start), len(values)
		}
		return shParam{values: values[start:end], list: true, joined: p.joined}
	}
	if _, fixed := p.value().fixed(); !fixed { // the places are those of a name, not of the glob
		return unknown
	}
	return a.mapParam(p, fr, func(text string) (string, bool) {
		runes := []rune(text)
		start, end, ok := posix.SliceRange(from, length, bounded, len(runes))
		if !ok {
			return "", ok
		}
		return string(runes[start:end]), true
	})
}

// replaceIn is ${s/pattern/with}.
func (a *analysis) replaceIn(s string, r *syntax.Replace, fr *shFrame) (string, bool) {
	pattern, ok := a.single(r.Orig, fr).known()
	with, okWith := a.single(r.With, fr).known()
	if !ok || !okWith || strings.Contains(pattern, "(") || strings.Contains(with, "&") || len(s) > 1024 || len(pattern) > 256 || len(with) > 1024 {
		return "", false
	}
	return posix.Replace(s, pattern, with, r.All), true
}
