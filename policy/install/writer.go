package install

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// field is a member of an object that is written in the order given.
type field struct {
	key   string
	value any
}

// writer writes JSON in the manner of the text around it.
type writer struct {
	unit, indent, nl string
	compact          bool
}

// item is a value, or a member when key is not "".
func (w writer) item(key string, value any) string {
	if key == "" {
		return w.value(value)
	}
	return scalar(key) + ": " + w.value(value)
}

func (w writer) value(v any) string {
	inner := w
	inner.indent += w.unit
	switch x := v.(type) {
	case []field:
		parts := make([]string, len(x))
		for i, f := range x {
			parts[i] = inner.item(f.key, f.value)
		}
		return w.wrap("{", parts, "}")
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = inner.value(e)
		}
		return w.wrap("[", parts, "]")
	}
	return scalar(v)
}

func (w writer) wrap(open string, parts []string, closing string) string {
	switch {
	case len(parts) == 0:
		return open + closing
	case w.compact:
		return open + strings.Join(parts, ", ") + closing
	}
	step := w.nl + w.indent + w.unit
	return open + step + strings.Join(parts, ","+step) + w.nl + w.indent + closing
}

// scalar is a text, number or boolean as JSON.
func scalar(v any) string {
	text, err := policy.EncodeJSON(v)
	if err != nil {
		panic("install: a value cannot be written as JSON: " + err.Error())
	}
	return string(text)
}
