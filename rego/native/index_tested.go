package native

import "slices"

// tests reads a test of one subject against constants, of which options has
// those it may be: a condition when it is one for all of them.
func (r *leader) tests(name string, options [][]Value, at int, on held) bool {
	holds := true
	var any []handle
	t := tested{on: on.on, texts: true}
	if !each(options, at, func(args []Value) bool {
		t.any = nil
		if !t.test(name, args, at) {
			return false
		}
		for len(t.guards) > 0 {
			if !on.part || t.guards[0] == guardUnicode {
				r.guard(on.on, t.guards[0])
			}
			t.guards = t.guards[1:]
		}
		holds = holds && t.condition
		any = append(any, t.any...)
		return true
	}) {
		return false
	}
	switch {
	case !holds || len(any) > widest:
	case on.part:
		r.within(on.on, any)
	default:
		r.key(on.on, t.texts, any)
	}
	return true
}

// tested is what a test says of its subject: what it fails on and, when it is a
// condition, what it is found by: texts says that it is being one of those.
type tested struct {
	on               subject
	guards           []guardKind
	condition, texts bool
	any              []handle
}

// test reads a test of one subject; args are as testers have them.
func (t *tested) test(name string, args []Value, at int) bool {
	t.condition = false
	switch name {
	case "glob.match":
		return t.glob(args, at)
	}
	if len(args) != 2 {
		return false
	}
	known := args[1-at]
	switch name {
	case "contains", "startswith", "endswith":
		return t.text(name, known, at)
	case "strings.any_prefix_match", "strings.any_suffix_match":
		return at == 0 && t.affixes(name, known)
	case "regex.match", "re_match":
		return at == 1 && t.pattern(known)
	case "internal.member_2":
		t.guards = append(t.guards, guardScalar)
		if at == 0 {
			t.member(known)
		}
		return true
	case "equal":
		t.guards = append(t.guards, guardScalar)
		t.equals(known)
		return true
	case "neq", "lt", "lte", "gt", "gte":
		t.guards = append(t.guards, guardScalar)
		return true
	}
	return false
}

func (t *tested) equals(values ...Value) {
	t.condition = true
	t.texts = t.texts && simple(append([]Value{}, values...), true)
	for _, v := range values {
		if h, ok := handleOf(t.on, v); ok {
			t.any = append(t.any, h)
		}
	}
}

// member is being one of a constant's. Of texts alone nothing fails, but for a
// parameter, which may be undefined.
func (t *tested) member(known Value) {
	values := membersOf(known)
	if len(values) > widest {
		return
	}
	t.equals(values...)
	if t.on >= 0 && simple(values, true) {
		t.guards = nil
	}
}

// membersOf are what is in a constant.
func membersOf(v Value) []Value {
	_, out := elementsOf(v)
	return out
}

func (t *tested) text(name string, known Value, at int) bool {
	text, ok := known.(string)
	if !ok {
		return false
	}
	t.guards = append(t.guards, guardText)
	if at != 0 || text == "" {
		return true
	}
	h := handle{on: t.on, kind: byContaining, text: text}
	switch name {
	case "startswith":
		h.kind = byStarting
	case "endswith":
		h.kind = byEnding
	}
	t.found(h)
	return true
}

func (t *tested) found(h handle) {
	t.condition = true
	t.texts = t.texts && h.kind == byText
	t.any = append(t.any, h)
}

// affixes is beginning, or ending, with any of constants.
func (t *tested) affixes(name string, known Value) bool {
	list, ok := argList(known)
	if text, is := known.(string); is {
		list, ok = []Value{text}, true
	}
	if !ok || !allTexts(list) {
		return false
	}
	t.guards = append(t.guards, guardText)
	if len(list) > widest || slices.Contains(list, "") {
		return true
	}
	t.condition = true
	for _, e := range list {
		h := handle{on: t.on, kind: byStarting, text: e.(string)}
		if name == "strings.any_suffix_match" {
			h.kind = byEnding
		}
		t.found(h)
	}
	return true
}

func (t *tested) pattern(known Value) bool {
	text, ok := known.(string)
	if !ok || matches([]Value{known, undef}, 1) == nil {
		return false
	}
	t.guards = append(t.guards, guardText)
	t.needs(neededBy(text))
	return true
}

// needs is holding what a pattern needs, when that is anything.
func (t *tested) needs(need needed) {
	kind := byContaining
	if need.fold {
		kind = byFolded
	}
	for _, part := range need.texts {
		t.found(handle{on: t.on, kind: kind, text: part})
	}
}

// glob is a constant glob, which fails on bytes that are no characters.
func (t *tested) glob(args []Value, at int) bool {
	if len(args) != 3 || at != 2 {
		return false
	}
	g, ok := globOf(args[0], args[1])
	if !ok {
		return false
	}
	t.guards = append(t.guards, guardUnicode)
	switch {
	case g.Exact:
		t.found(handle{on: t.on, kind: byText, text: g.Literal})
	case g.Super && g.Literal != "":
		t.found(handle{on: t.on, kind: byStarting, text: g.Literal})
	case g.Expression != "":
		t.needs(neededBy(g.Expression))
	}
	return true
}
