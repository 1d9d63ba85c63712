// Package govalue makes JSON values of Go values, as encoding/json would.
package govalue

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decoder reads a JSON value that is inside depth others.
type Decoder func(text []byte, depth int) (any, error)

// maxDepth is where the decoder is asked whether one level more is too deep.
const maxDepth = 512

// JSON is the JSON value that encoding/json makes of v, as the decoder reads it:
// nil, bool, string, a number, []any, map[string]any. What has that form already
// is returned as it is, not copied. The error names the path of what JSON does
// not have, beginning with at.
func (d Decoder) JSON(v any, depth int, at string) (any, error) {
	out, _, err := d.plain(v, depth)
	if err == nil {
		return out, nil
	}
	path, cause := d.faulty(reflect.ValueOf(v), nil, depth)
	if cause == nil {
		cause = err
	}
	return nil, fmt.Errorf("%s%s is no JSON value: %w", at, path, cause)
}

// plain is JSON with an error that names no path. changed is false when
// out is v itself.
func (d Decoder) plain(v any, depth int) (out any, changed bool, err error) {
	switch x := v.(type) {
	case nil, bool, int:
		return v, false, nil
	case string:
		if utf8.ValidString(x) {
			return v, false, nil
		}
	case float64:
		const exact = 1 << 53
		if n := int(x); x > -exact && x < exact && (n != 0 || x != 0) {
			if float64(n) == x {
				return n, true, nil
			}
			return v, false, nil
		}
	case map[string]any:
		if x != nil && depth < maxDepth {
			return d.plainObject(v, x, depth)
		}
	case []any:
		if x != nil && depth < maxDepth {
			return d.plainList(v, x, depth)
		}
	}
	return d.marshalled(v, depth)
}

// marshalled is plain by way of the value's JSON text.
func (d Decoder) marshalled(v any, depth int) (out any, changed bool, err error) {
	text, err := encoded(v)
	if err != nil {
		return nil, false, err
	}
	out, err = d(text, depth)
	return out, true, err
}

// encoded is json.Marshal, and an error where a method of the value panics: what
// it would have said is not known, and the host is told which value it is.
func encoded(v any) (text []byte, err error) {
	returned := false // the value of a panic may be nil
	defer func() {
		if !returned {
			err = fmt.Errorf("panic: %v", recover())
		}
	}()
	text, err = json.Marshal(v)
	returned = true
	return text, err
}

func (d Decoder) plainObject(v any, m map[string]any, depth int) (any, bool, error) {
	out, copied := m, false
	for k, old := range m {
		if !utf8.ValidString(k) {
			return d.marshalled(m, depth)
		}
		value, changed, err := d.plain(old, depth+1)
		if err != nil {
			return nil, false, err
		}
		if changed && !copied {
			out, copied = maps.Clone(m), true
		}
		if changed {
			out[k] = value
		}
	}
	if !copied {
		return v, false, nil
	}
	return out, true, nil
}

func (d Decoder) plainList(v any, list []any, depth int) (any, bool, error) {
	out, copied := list, false
	for i, old := range list {
		value, changed, err := d.plain(old, depth+1)
		if err != nil {
			return nil, false, err
		}
		if changed && !copied {
			out, copied = slices.Clone(list), true
		}
		if changed {
			out[i] = value
		}
	}
	if !copied {
		return v, false, nil
	}
	return out, true, nil
}

// maxFaultyPath bounds the path that an error names.
const maxFaultyPath = 64

// faulty finds, inside a value that is no JSON value, what makes it so: the
// path of the innermost part that cannot be written alone, and why. within are
// the values around v.
func (d Decoder) faulty(v reflect.Value, within []reflect.Value, depth int) (path string, err error) {
	if !v.IsValid() || !v.CanInterface() {
		return "", nil
	}
	text, err := encoded(v.Interface())
	if err == nil {
		_, err = d(text, depth)
	}
	if err == nil || len(within) == maxFaultyPath {
		return "", err
	}
	if slices.ContainsFunc(within, func(w reflect.Value) bool { return sameReference(v, w) }) {
		return "", fmt.Errorf("it holds itself")
	}
	if _, own := v.Interface().(json.Marshaler); own {
		return "", err
	}
	within = append(within, v)
	for _, p := range partsOf(v) {
		if inner, cause := d.faulty(p.value, within, depth+p.deeper); cause != nil {
			return p.name + inner, cause
		}
	}
	return "", err
}

// sameReference reports whether two values share what they hold.
func sameReference(v, w reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return v.Type() == w.Type() && v.Pointer() == w.Pointer() && (v.Kind() != reflect.Slice || v.Len() == w.Len() && v.Len() > 0)
	}
	return false
}

// part is a value directly inside another, as its JSON has it.
type part struct {
	name   string
	value  reflect.Value
	deeper int
}

func partsOf(v reflect.Value) []part {
	var out []part
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		out = append(out, part{"", v.Elem(), 0})
	case reflect.Map:
		for _, k := range v.MapKeys() {
			out = append(out, part{"." + fmt.Sprint(k), v.MapIndex(k), 1})
		}
		sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out = append(out, part{"[" + strconv.Itoa(i) + "]", v.Index(i), 1})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-":
			case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
				out = append(out, partsOf(v.Field(i))...) // the type's name may be unexported
			case name == "" && f.Anonymous:
				out = append(out, part{"", v.Field(i), 0})
			case name == "":
				out = append(out, part{"." + f.Name, v.Field(i), 1})
			default:
				out = append(out, part{"." + name, v.Field(i), 1})
			}
		}
	}
	return out
}
