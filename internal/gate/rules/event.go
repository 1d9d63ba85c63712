package rules

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

// input is an event by the slots of a rule's program: a native.Input.
type input struct {
	book  *Book
	event *table.Answer
	slots []Slot
	// left is set when a slot cannot be told: hookc is to decide.
	left bool
}

// Slot is a native.Input's.
func (in *input) Slot(i int) (native.Value, bool) {
	s := &in.slots[i]
	switch s.Kind {
	case SlotField:
		return in.field(s.Field, s.Keys)
	case SlotAbsent:
		return nil, false
	case SlotText:
		return s.Text, true
	case SlotKind:
		if tool := in.event.Tool(); len(tool) > 0 {
			return in.book.kind(tool), true
		}
		return nil, false
	case SlotPart:
		return in.part(s)
	}
	in.left = true
	return nil, false
}

func (in *input) field(field int, keys []string) (native.Value, bool) {
	text, present, ok := in.event.Lookup(field, keys)
	if !ok {
		in.left = true
	}
	if !ok || !present {
		return nil, false
	}
	v, ok := native.ParseJSON(text)
	if !ok {
		in.left = true
	}
	return v, ok
}

// part is the text under one of a part's keys. What a list or an object comes to is
// hookc's to say, and so is what is there twice.
func (in *input) part(s *Slot) (native.Value, bool) {
	if kind := in.book.kind(in.event.Tool()); kind != kindMCP && kind != kindOther && !lists.Has(s.Kinds, kind) {
		return nil, false
	}
	if in.left = in.left || in.event.Nested(); in.left {
		return nil, false
	}
	for i := range s.Keys {
		switch text, present, ok := in.event.Lookup(table.FieldToolInput, s.Keys[i:i+1]); {
		case !ok:
			in.left = true
			return nil, false
		case present && text[0] == '"':
			return in.field(table.FieldToolInput, s.Keys[i:i+1])
		}
	}
	return nil, false
}

// kind is the kind of a tool.
func (b *Book) kind(tool []byte) string {
	if i, is := slices.BinarySearchFunc(b.tools, tool, func(row [2][]byte, tool []byte) int { return bytes.Compare(row[0], tool) }); is {
		return string(b.tools[i][1])
	}
	for _, prefix := range b.mcp {
		if strings.HasPrefix(string(tool), prefix) {
			return kindMCP
		}
	}
	return kindOther
}
