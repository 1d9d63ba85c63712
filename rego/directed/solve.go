package directed

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/rego/native"
)

// solve is what of an event makes a formula come to a value, where that is easily
// told.
func solve(f *formula, v native.Value) ([]chosen, bool) {
	if f == nil {
		return nil, false
	}
	switch f.op {
	case ofConst:
		return nil, native.Equal(f.v, v)
	case ofInput:
		return []chosen{{f.at.slot, f.at.steps, v}}, true
	case ofElement:
		return solveElement(f.of[0], v)
	case ofLookup:
		return solveLookup(f.of[0], f.of[1], v)
	case ofCall:
		return solveCall(f, v)
	}
	return nil, false
}

// solveElement makes a value an element of a collection.
func solveElement(of *formula, v native.Value) ([]chosen, bool) {
	switch {
	case of == nil:
		return nil, false
	case of.op == ofInput:
		return solve(&formula{op: ofInput, at: of.at.below(each)}, v)
	case of.op == ofCall && of.name == "split":
		return solve(of.of[0], v)
	}
	return nil, false
}

// solveLookup makes a value what is found below a key: in a constant, or among the
// parts of a text.
func solveLookup(in, key *formula, v native.Value) ([]chosen, bool) {
	if in == nil || key == nil {
		return nil, false
	}
	if in.op == ofCall && in.name == "split" && len(in.of) == 2 && in.of[1] != nil {
		text, ok := v.(string)
		sep, is := in.of[1].v.(string)
		if !ok || !is {
			return nil, false
		}
		n := 1 // the last of two, where the key is computed
		if key.op == ofConst {
			n, ok = key.v.(int)
		}
		if !ok || n < 0 || n > mostNear {
			return nil, false
		}
		return solve(in.of[0], strings.Repeat("a"+sep, n)+text)
	}
	for _, c := range casesOf(&formula{op: ofLookup, of: []*formula{in, key}}) {
		if native.Equal(c.v, v) {
			return c.chosen, true
		}
	}
	return nil, false
}

// kept are functions that give a text as it is where there is nothing in it for
// them to change.
var kept = []string{"lower", "upper", "trim", "trim_left", "trim_right", "trim_space", "trim_prefix", "trim_suffix", "replace"}

func solveCall(f *formula, v native.Value) ([]chosen, bool) {
	text, isText := v.(string)
	n, isInt := v.(int)
	arg := func(i int) native.Value {
		if i < len(f.of) && f.of[i] != nil && f.of[i].op == ofConst {
			return f.of[i].v
		}
		return nil
	}
	switch {
	case len(f.of) == 0:
		return nil, false
	case f.name == "strings.replace_n" && len(f.of) == 2:
		return solve(f.of[1], v)
	case lists.Has(kept, f.name):
		return solve(f.of[0], v)
	case f.name == "substring" && isText:
		skip, ok := arg(1).(int)
		if !ok || skip < 0 || skip > mostLong {
			return nil, false
		}
		return solve(f.of[0], strings.Repeat("x", skip)+text)
	case f.name == "format_int" && isText && arg(1) == 10:
		if whole, err := strconv.Atoi(text); err == nil {
			return solve(f.of[0], whole)
		}
	case f.name == "to_number" && isInt:
		return solve(f.of[0], strconv.Itoa(n))
	case f.name == "count" && isInt && f.of[0] != nil && f.of[0].op == ofInput:
		return []chosen{{f.of[0].at.slot, f.of[0].at.below(size).steps, n}}, true
	case f.name == "plus" && isInt:
		if by, ok := arg(1).(int); ok {
			return solve(f.of[0], n-by)
		}
	case f.name == "minus" && isInt:
		if by, ok := arg(1).(int); ok {
			return solve(f.of[0], n+by)
		}
	case f.name == "concat" && isText:
		if sep, ok := arg(0).(string); ok && f.of[1] != nil && f.of[1].op == ofArray {
			return solveParts(slices.Repeat([]string{sep}, max(0, len(f.of[1].of)-1)), f.of[1].of, text)
		}
	case f.name == "sprintf" && isText:
		if format, ok := arg(0).(string); ok && f.of[1] != nil && f.of[1].op == ofArray {
			return solveFormat(format, f.of[1].of, text)
		}
	}
	return nil, false
}

// solveFormat splits a text as a format made it of values.
func solveFormat(format string, values []*formula, text string) ([]chosen, bool) {
	for _, verb := range []string{"%d", "%v"} {
		format = strings.ReplaceAll(format, verb, "%s")
	}
	between := strings.Split(format, "%s")
	if len(between) != len(values)+1 {
		return nil, false
	}
	text, begins := spell.CutPrefix(text, between[0])
	text, ends := spell.CutSuffix(text, between[len(values)])
	if !begins || !ends {
		return nil, false
	}
	return solveParts(between[1:len(values)], values, text)
}

// solveParts makes values the parts of a text that stand between others.
func solveParts(between []string, values []*formula, text string) ([]chosen, bool) {
	var out []chosen
	for i, f := range values {
		part := text
		if i < len(between) {
			var ok bool
			if part, text, ok = spell.Cut(text, between[i]); !ok || between[i] == "" {
				return nil, false
			}
		}
		with, ok := solve(f, part)
		if whole, err := strconv.Atoi(part); !ok && err == nil {
			with, ok = solve(f, whole)
		}
		if !ok {
			return nil, false
		}
		out = append(out, with...)
	}
	return out, true
}
