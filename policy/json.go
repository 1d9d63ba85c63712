package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/digits"
	"github.com/hookc/hookc/policy/govalue"
	"github.com/hookc/hookc/policy/scan"
)

// maxDepth bounds the nesting of JSON hookc reads.
const maxDepth = scan.MaxDepth

// DecodeJSON reads one JSON value strictly: repeated keys, trailing text and
// nesting beyond 512 levels are errors. A number becomes int or float64 where
// that loses nothing and stays a json.Number otherwise, so what is not
// changed is written back as it was read. One of more digits than
// digits.Max, written out, is an error: to compare it takes seconds.
func DecodeJSON(data []byte) (any, error) { return decodeAt(data, 0) }

// decodeAt is DecodeJSON of a value that is inside depth others.
func decodeAt(data []byte, depth int) (any, error) {
	s := newScanner(data)
	if v, ok := s.Value(depth); ok && s.End() {
		return v, nil
	}
	return decodeSlowly(data, depth)
}

// newScanner reads JSON in one pass. It takes exactly what decodeSlowly takes,
// with the same values, and says only whether it could: what is wrong with a
// text is said by decodeSlowly.
func newScanner(data []byte) scan.Reader {
	return scan.Reader{Scanner: scan.Scanner{Data: data}, Number: number}
}

func number(text []byte) any { return govalue.Number(json.Number(text)) }

// goValues makes JSON values of what hosts hand over.
var goValues govalue.Decoder = decodeAt

// JSONValue is the JSON value that encoding/json makes of v, in the form that
// DecodeJSON gives it. The error names the path of what JSON does not have,
// beginning with at.
func JSONValue(v any, at string) (any, error) { return goValues.JSON(v, 0, at) }

// decodeSlowly is decodeAt by the standard library, which says what is wrong.
func decodeSlowly(data []byte, depth int) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decodeValue(dec, depth)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	return v, nil
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fault.Errorf("nested deeper than %d levels", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return decodeObject(dec, depth)
		}
		return decodeList(dec, depth)
	case json.Number:
		if digits.Long(string(t)) {
			return nil, fault.Errorf("a number of more than %d digits", digits.Max)
		}
		return govalue.Number(t), nil
	}
	return tok, nil
}

func decodeObject(dec *json.Decoder, depth int) (any, error) {
	out := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := tok.(string)
		if _, dup := out[key]; dup {
			return nil, fault.Errorf("key %q appears twice", key)
		}
		if out[key], err = decodeValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return out, err
}

func decodeList(dec *json.Decoder, depth int) (any, error) {
	out := []any{}
	for dec.More() {
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := dec.Token()
	return out, err
}

// DecodeContext reads an event from JSON: one object whose keys are canonical
// field names or those of any known host (semantics.md §1.3). Keys with no
// name here go to raw. The event name is returned as it was sent, "" when the
// object names none. A field of the wrong type is an error.
func DecodeContext(data []byte) (c *Context, event string, err error) {
	v, err := DecodeJSON(data)
	if err != nil {
		return nil, "", err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, "", errors.New("not a JSON object")
	}
	return contextOf(m)
}

// ContextFromMap is DecodeContext for an object that is already decoded. Its
// values are taken as Set takes them.
func ContextFromMap(m map[string]any) (c *Context, event string, err error) {
	own := make(map[string]any, len(m))
	for _, key := range lists.Keys(m) {
		v, wrong := goValues.JSON(m[key], 1, key)
		own[key], err = v, errors.Join(err, wrong)
	}
	if err != nil {
		return nil, "", err
	}
	return contextOf(own)
}

func contextOf(m map[string]any) (c *Context, event string, err error) {
	c = &Context{}
	raw := map[string]any{}
	for _, key := range lists.Keys(m) {
		f, known := fieldByName[key]
		if alias, ok := hostAliases[key]; ok {
			if own, both := m[alias.String()]; both {
				err = errors.Join(err, sameEvent(alias, own, m[key]))
				raw[key] = m[key]
				continue
			}
			f, known = alias, true
			if c.names == nil {
				c.names = map[Field]string{}
			}
			if c.has[f] && m[key] != nil { // of two other names the last one counts
				raw[c.names[f]] = c.values[f]
			}
			c.names[f] = key
		}
		switch {
		case m[key] == nil:
		case key == FieldToolArguments.String():
			err = errors.Join(err, c.setArguments(m[key], m[FieldToolInput.String()]))
		case !known || f.Derived() || f == FieldRaw:
			raw[key] = m[key]
			if own := spell.Meant(key, "tool_input", "tool_arguments"); own != "" && m["tool_input"] == nil && m["tool_arguments"] == nil {
				err = errors.Join(err, fault.Errorf("%s must be written %s: no guard would see it", key, own))
			}
		case !f.Spec().Type.Holds(m[key]):
			err = errors.Join(err, fault.Errorf("%s must be %s", key, f.Spec().Type.Article()))
		default:
			c.put(f, m[key])
		}
	}
	if r, ok := m[FieldRaw.String()].(map[string]any); ok && len(raw) == 1 {
		raw = r
	}
	if len(raw) > 0 {
		c.put(FieldRaw, raw)
	}
	event = c.Text(FieldEvent)
	return c, event, err
}

// sameEvent refuses an object that names two events under two keys: which of
// them is guarded must not depend on who reads it.
func sameEvent(f Field, one, other any) error {
	if f != FieldEvent || one == nil || other == nil || one == other {
		return nil
	}
	a, aText := one.(string)
	b, bText := other.(string)
	first, known := ParseEvent(a)
	second, alsoKnown := ParseEvent(b)
	if aText && bText && known && alsoKnown && first == second {
		return nil
	}
	return fault.Errorf("two events are named: %v and %v", one, other)
}

// setArguments takes tool_arguments, the JSON text of tool_input. Beside another
// tool_input it is refused: what is guarded must not depend on who reads it.
func (c *Context) setArguments(v, input any) error {
	m, ok := v.(map[string]any)
	if text, isText := v.(string); isText {
		object, err := DecodeJSON([]byte(text))
		if m, ok = object.(map[string]any); err != nil {
			ok = false
		}
	}
	switch {
	case !ok:
		return errors.New("tool_arguments must be the text of a JSON object")
	case input != nil && !reflect.DeepEqual(any(m), input):
		return errors.New("tool_arguments and tool_input differ")
	case input == nil:
		c.put(FieldToolInput, m)
	}
	return nil
}

// Article is the type with its article, for messages.
func (t FieldType) Article() string {
	if t == AnyType {
		return "a JSON value"
	}
	return Article(t.String())
}

// Article is a noun with its article, for messages.
func Article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Holds reports whether a JSON value is of the type.
func (t FieldType) Holds(v any) bool {
	switch t {
	case StringType:
		_, ok := v.(string)
		return ok
	case NumberType:
		_, ok := govalue.NumberText(v)
		return ok
	case BoolType:
		_, ok := v.(bool)
		return ok
	case ObjectType:
		_, ok := v.(map[string]any)
		return ok
	case ListType:
		_, ok := v.([]any)
		return ok
	}
	return true
}
