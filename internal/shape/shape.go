// Package shape describes what Go values are written as: the JSON Schema of a type, read
// off the type itself.
package shape

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Schema is the JSON Schema of the outputs that are named, each by a value of the type
// that is written: a document is one of them, and has no field that its type has not.
// written are the types that write themselves as values of another type.
func Schema(title string, outputs map[string]any, written map[reflect.Type]reflect.Type) []byte {
	s := schema{written, object{}}
	var each []object
	for _, name := range lists.Keys(outputs) {
		s.defs[name] = s.of(reflect.TypeOf(outputs[name]))
		each = append(each, object{"$ref": "#/$defs/" + name})
	}
	text, err := json.MarshalIndent(object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "$defs": s.defs, "anyOf": each}, "", "  ")
	if err != nil {
		panic("shape: the schema does not marshal: " + err.Error())
	}
	return append(text, '\n')
}

type object map[string]any

type schema struct {
	written map[reflect.Type]reflect.Type
	// defs are the named structs by the name of their package and their own.
	defs object
}

var (
	textual = reflect.TypeFor[encoding.TextMarshaler]()
	raw     = reflect.TypeFor[json.RawMessage]()
	marshal = reflect.TypeFor[json.Marshaler]()
)

// of is the schema of a type.
func (s *schema) of(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		return s.of(t.Elem())
	}
	as := s.written[t]
	switch {
	case as != nil && as.Kind() != reflect.Struct:
		return s.of(as)
	case t == raw || t.Kind() == reflect.Interface:
		return object{}
	case as == nil && reflect.PointerTo(t).Implements(marshal):
		panic(fmt.Sprintf("shape: %s writes itself, and nobody says as what", t))
	case t.Implements(textual):
		return words(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if as == nil {
			as = t
		}
		return s.named(t.String(), as)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128:
		panic(fmt.Sprintf("shape: %s is not written", t))
	}
	return object{"type": "integer"}
}

// named is a struct, once.
func (s *schema) named(name string, t reflect.Type) object {
	if _, known := s.defs[name]; !known {
		properties, required := object{}, []string{}
		s.defs[name] = nil // it may hold itself
		s.fields(t, properties, &required)
		s.defs[name] = object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return object{"$ref": "#/$defs/" + name}
}

// fields adds the fields of a struct, and those of the structs that are embedded in it.
func (s *schema) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, rest, _ := spell.Cut(tag, ",")
		switch {
		case f.Anonymous && tag == "":
			if f.Type.Kind() == reflect.Pointer { // there or not
				s.fields(f.Type.Elem(), properties, new([]string))
			} else {
				s.fields(f.Type, properties, required)
			}
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(rest, "omit") {
			*required = append(*required, name)
		}
	}
}

// words are the words of a type of numbers that are written as words: a number that
// has none panics. A type of which every number has one, as of sets, is any text.
func words(t reflect.Type) (out object) {
	out = object{"type": "string"}
	if t.Kind() != reflect.Uint8 && t.Kind() != reflect.Int {
		return out
	}
	var all []string
	defer func() {
		if recover() != nil {
			out["enum"] = all
		}
	}()
	for i := range 32 {
		v := reflect.New(t).Elem()
		v.Set(reflect.ValueOf(i).Convert(t))
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return out
		}
		all = append(all, string(text))
	}
	return out
}
