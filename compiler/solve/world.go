package solve

import (
	"math"
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// World is what is known of the events that a formula is about.
type World struct {
	Event policy.Event
	// Tools are the tools that a policy says there are.
	Tools policy.Catalogue
	// Facts are those declared.
	Facts []policy.Fact
	// Open is true where the event is any JSON document, and no event of an agent.
	Open bool
	// Most is how many ways through a formula are looked at; 0 is the usual number.
	Most int
}

// kindsOfTools are the values of tool_kind.
var kindsOfTools = []string{toolcall.KindShell, toolcall.KindRead, toolcall.KindWrite, toolcall.KindEdit, toolcall.KindSearch, "fetch", "agent", toolcall.KindMCP, toolcall.KindOther}

// usualValues are the values of fields that known agents send. Another agent may
// send others.
var usualValues = map[policy.Field][]string{
	policy.FieldPermissionMode: {"default", "plan", "acceptEdits", "auto_edit", "auto", "autoEdit", "dontAsk", "bypassPermissions", "yolo", "manual", "delegate", "never", "on-request", "on-failure", "untrusted"},
	policy.FieldSource:         {"startup", "resume", "clear", "compact", "new", "fork", "exec"},
	policy.FieldTrigger:        {"manual", "auto", "micro", "threshold", "overflow", "reactive"},
}

// otherCase are names that some agent gives a tool, which a rule that names no other
// is rarely about.
var otherCase = []string{"bash", "read", "write", "webfetch", "websearch", "task", "multiedit"}

var fieldKinds = map[policy.FieldType]Kinds{policy.AnyType: Present, policy.StringType: String, policy.NumberType: Number,
	policy.BoolType: Boolean, policy.ObjectType: Object, policy.ListType: List}

// base is what is known of a term before any test, and how that is said.
func (s *search) base(t *Term) (domain, string) {
	switch t.op {
	case isConst:
		return ofValue(t.value), ""
	case isInput:
		return ofKinds(Object), "input is an object"
	case isList:
		if t.name == "set" {
			return ofKinds(SetKind), t.String() + " is a set"
		}
		return ofKinds(List), t.String() + " is a list"
	case isRecord:
		return ofKinds(Object), t.String() + " is an object"
	case isCall:
		return computed(t)
	case isMember:
		name, text := t.value.(string)
		switch {
		case t.args[0] == Input && !s.w.Open && text:
			return s.field(name)
		case t.args[0].id == facts.id && !s.w.Open && text:
			return s.fact(name)
		}
	}
	if d, fact, known := inShell(t); known {
		return d, fact
	}
	if f := s.declared(t); f != nil {
		return ofKinds(String | Absent), "facts." + f.Name + " is a list of texts"
	}
	if s.usual && under(t) {
		return withoutBackspace(), noBackspace
	}
	return everything, ""
}

//go:noinline
func under(t *Term) bool {
	for (t.op == isMember || t.op == isElement) && len(t.args) == 1 {
		t = t.args[0]
	}
	return t == Input
}

// field is what is known of a field of the event.
func (s *search) field(name string) (domain, string) {
	f, known := policy.ParseField(name)
	spec := s.w.Event.Spec()
	switch {
	case !known:
		return ofKinds(Absent), "input." + name + " is no field of an event"
	case f == policy.FieldEvent:
		return ofValue(string(s.w.Event)), "input.event is \"" + string(s.w.Event) + "\" here"
	case spec != nil && !spec.CanRead(f):
		return ofKinds(Absent), "input." + name + " is never there at " + string(s.w.Event)
	}
	kinds := fieldKinds[f.Spec().Type]
	d := ofKinds(kinds | Absent)
	fact := "input." + name + " is " + kinds.String()
	switch {
	case f == policy.FieldToolKind:
		d.text = expression(`^(` + strings.Join(kindsOfTools, "|") + `)$`)
		fact = "input.tool_kind is one of " + strings.Join(kindsOfTools, ", ")
	case !s.usual || kinds&String == 0:
	case f == policy.FieldToolName:
		d.text = s.w.usualTools()
		fact = "agents name no tool so"
	case usualValues[f] != nil:
		d.text = Words(usualValues[f]...)
		fact = "input." + name + " is, from known agents, one of " + strings.Join(usualValues[f], ", ")
	default:
		d.text = withoutBackspace().text
		fact = noBackspace
	}
	return d, fact
}

// facts is the term of what is declared under facts:.
var facts = field(policy.FieldFacts)

// declared is the fact of a list that a term is an element of, nil for other terms.
func (s *search) declared(t *Term) *policy.Fact {
	if t.op != isElement && t.op != isMember || t.args[0].op != isMember || t.args[0].args[0].id != facts.id {
		return nil
	}
	if f := s.w.fact(t.args[0].value); f != nil && f.Type == "list" {
		return f
	}
	return nil
}

//go:noinline
func (w *World) fact(name any) *policy.Fact {
	i := lists.At(w.Facts, func(f *policy.Fact) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Facts[i]
}

// factKinds are the kinds of values that facts have, by type.
var factKinds = map[string]Kinds{"string": String, "enum": String, "int": Number, "bool": Boolean, "list": List}

func (s *search) fact(name string) (domain, string) {
	f := s.w.fact(name)
	if f == nil {
		return everything, ""
	}
	d := ofKinds(factKinds[f.Type] | Absent)
	switch f.Type {
	case "enum":
		d.text = Words(f.Words...)
		return d, "facts." + name + " is one of " + strings.Join(f.Words, ", ")
	case "int":
		return d, "facts." + name + " is a whole number"
	}
	return d, "facts." + name + " is " + factKinds[f.Type].String()
}

// whole is what a domain leaves of a fact that is a whole number.
func (s *search) whole(t *Term, d domain) domain {
	if t.op != isMember || t.args[0].id != facts.id || d.num == nil {
		return d
	}
	if f := s.w.fact(t.value); f == nil || f.Type != "int" {
		return d
	}
	d.num = lists.Without(d.num, func(i *interval) bool {
		n := math.Ceil(i.from)
		if n == i.from && i.fromOpen {
			n++
		}
		return n > i.to || n == i.to && i.toOpen
	})
	return d.tidy()
}

var ordinaryTool = lazy.Value(func() *Lang {
	known := toolcall.Names()
	var folded []string
	for _, n := range known {
		folded = append(folded, strings.ToLower(n))
	}
	likeKnown := Words(folded...).Before(lowerRune)
	names := lists.DeleteFunc(known, func(n string) bool { return lists.Has(otherCase, n) })
	return expression(`^[^\x00- |(){}\[\]"'\\,;<>]+$`).And(likeKnown.Not()).Or(Words(names...))
})

// usualTools are the names that tools have: those of the policy's catalogue, or
// those of known agents and what looks like a name and is none of those in other
// letters.
func (w *World) usualTools() *Lang {
	if len(w.Tools.Known) == 0 {
		return ordinaryTool()
	}
	key := "tools\x00" + strings.Join(w.Tools.Known, "\x00") + "\x01" + strings.Join(w.Tools.Open, "\x00")
	return expressions.make(key, func() *Lang {
		out := Words(w.Tools.Known...)
		for _, g := range w.Tools.Open {
			if l, err := GlobOf(g, ""); err == nil {
				out = out.Or(l)
			}
		}
		return out
	})
}

// toolsOf are the names of tools of some kinds.
func toolsOf(kinds []string) *Lang {
	return expressions.make("kinds\x00"+strings.Join(kinds, "\x00"), func() *Lang {
		known := Words(toolcall.Names()...)
		quoted := make([]string, 0, 4)
		for _, p := range toolcall.MCPPrefixes() {
			quoted = append(quoted, regexp.QuoteMeta(p))
		}
		mcp := expression(`\A(?:` + strings.Join(quoted, "|") + `)`)
		out := anyText(false)
		var words []string
		for _, k := range kinds {
			switch k {
			case toolcall.KindMCP:
				out = out.Or(mcp.And(known.Not()))
			case toolcall.KindOther:
				out = out.Or(mcp.Not().And(known.Not()).And(Words("").Not()))
			default:
				words = append(words, toolcall.OfKind(k)...)
			}
		}
		return out.Or(Words(words...))
	})
}

// field is the term of a field of the event.
func field(f policy.Field) *Term { return Input.Member(f.String()) }

// derivedOf are the derived fields that only calls of some kinds of tool have.
var derivedOf = []policy.Field{policy.FieldCommand, policy.FieldPath, policy.FieldContent, policy.FieldURL, policy.FieldShell}

// tools holds the tool's name, its kind and what is derived of a call together.
func (st *state) tools() bool {
	if st.s.w.Open {
		return true
	}
	kinds, why := kindsOfTools, Contradiction{}
	only := func(c *cell, has func(string) bool) {
		var left []string
		for _, k := range kinds {
			if has(k) {
				left = append(left, k)
			}
		}
		kinds, why = left, why.with(c.why)
	}
	none := false // that there may be no name, and so no kind
	name := st.cells[field(policy.FieldToolName).id]
	if c := st.cells[field(policy.FieldToolKind).id]; c != nil && (c.d.kinds&Absent == 0 || name != nil && name.d.kinds&Absent == 0) {
		none = c.d.kinds&Absent != 0
		only(c, func(k string) bool { return c.d.kinds&String != 0 && c.d.text.Has(k) })
	}
	for _, f := range derivedOf {
		c := st.cells[field(f).id]
		if c == nil || c.d.kinds&Absent != 0 {
			continue
		}
		part := toolcall.FindPart(f)
		if f == policy.FieldShell {
			part = toolcall.FindPart(policy.FieldCommand)
		}
		only(c, func(k string) bool {
			return k == toolcall.KindMCP || k == toolcall.KindOther || lists.Has(part.Kinds, k)
		})
	}
	if len(why.Atoms) == 0 && len(kinds) == len(kindsOfTools) {
		return true
	}
	why.Facts = []string{"the kind of a tool follows from its name, and only some kinds have " + joinedFields()}
	names := toolsOf(kinds)
	if none {
		names = names.Or(Words(""))
	}
	return st.meet(field(policy.FieldToolName), ofTexts(names), why)
}

func joinedFields() string {
	names := make([]string, len(derivedOf))
	for i, f := range derivedOf {
		names[i] = f.String()
	}
	return strings.Join(names, ", ")
}
