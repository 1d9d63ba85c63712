// Package repeats reads JSON whose objects have a key more than once. Parsers take
// the last of its values; a script that means another is not to be believed only
// where that permits more.
package repeats

import "github.com/hookc/hookc/policy/scan"

// maxReadings bounds how often one key is read.
const maxReadings = 16

// Readings are what a text of JSON values, prose beside them included, says by the
// first values of repeated keys, by the second, and so on to the last: none where no
// key is repeated. whole is false where one is there too often to read them all.
func Readings(text string) (list []string, whole bool) {
	quoted := scan.Scanner{Data: []byte(text)}
	if quoted.Space() == '"' {
		if inner, ok := quoted.Text(); ok && quoted.End() {
			return Readings(inner)
		}
	}
	for k, most := 0, 1; k < most; k++ {
		whole = k < maxReadings
		if !whole {
			k = most // the last alone
		}
		r := reading{Scanner: scan.Scanner{Data: []byte(text)}, nth: k}
		r.all()
		if most = r.most; most > 1 {
			list = append(list, string(r.out))
		}
	}
	return list, whole
}

// reading writes a text with the nth value of each repeated key, the last where there
// are fewer; most is how many a key has at most.
type reading struct {
	scan.Scanner
	nth, most int
	out       []byte
}

// all reads the objects in the text. What is none stays as it is to the end of its
// line.
func (r *reading) all() {
	for r.At < len(r.Data) {
		start, mark := r.At, len(r.out)
		if r.Data[r.At] == '{' && r.object(0) {
			continue
		}
		end := start + 1
		for r.Data[start] == '{' && end < len(r.Data) && r.Data[end] != '\n' {
			end++
		}
		r.out, r.At = append(r.out[:mark], r.Data[start:end]...), end
	}
}

func (r *reading) value(depth int) bool {
	switch r.Space() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	}
	start := r.At
	ok := r.Skip(depth)
	r.out = append(r.out, r.Data[start:r.At]...)
	return ok
}

func (r *reading) list(depth int) bool {
	r.out = append(r.out, '[')
	for next := r.Open(depth); ; next = r.More(']') {
		if next != scan.Again {
			r.out = append(r.out, ']')
			return next == scan.Closed
		}
		if r.out[len(r.out)-1] != '[' {
			r.out = append(r.out, ',')
		}
		if !r.value(depth + 1) {
			return false
		}
	}
}

func (r *reading) object(depth int) bool {
	var keys []string
	values := map[string][]string{}
	for next := r.Open(depth); next != scan.Closed; next = r.More('}') {
		if next == scan.Broken || r.Space() != '"' {
			return false
		}
		start := r.At
		key, ok := r.Text()
		written := string(r.Data[start:r.At])
		if !ok || r.Space() != ':' {
			return false
		}
		r.At++
		mark := len(r.out)
		if !r.value(depth + 1) {
			return false
		}
		if values[key] == nil {
			keys = append(keys, key)
		}
		values[key] = append(values[key], written+":"+string(r.out[mark:]))
		r.out = r.out[:mark]
	}
	r.out = append(r.out, '{')
	for i, key := range keys {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		of := values[key]
		r.most = max(r.most, len(of))
		r.out = append(r.out, of[min(r.nth, len(of)-1)]...)
	}
	r.out = append(r.out, '}')
	return true
}
