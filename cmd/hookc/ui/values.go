package ui

import (
	"encoding/json"
	"strings"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// An entry is JSON: what it holds is looked at with these.

//go:noinline
func text(v any) string { s, _ := v.(string); return s }

//go:noinline
func list(v any) []any { l, _ := v.([]any); return l }

//go:noinline
func member(v any) map[string]any { m, _ := v.(map[string]any); return m }

//go:noinline
func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

//go:noinline
func texts(v any) (out []string) {
	for _, e := range list(v) {
		out = append(out, shown(e))
	}
	return out
}

// shown is a value as a person reads it.
//
//go:noinline
func shown(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	data, err := policy.EncodeJSON(v)
	if err != nil {
		return "no JSON value"
	}
	return string(data)
}

// cut shortens a text.
//
//go:noinline
func cut(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// subject is what a call is about.
func subject(e *decisionlog.Entry) string {
	input := member(e.Input["tool_input"])
	for _, key := range []string{"command", "file_path", "url", "query", "pattern", "path"} {
		if s := text(input[key]); s != "" {
			return s
		}
	}
	for _, key := range []string{"user_input", "message", "task_description"} {
		if s := text(e.Input[key]); s != "" {
			return s
		}
	}
	if len(input) > 0 {
		return shown(e.Input["tool_input"])
	}
	return ""
}

// change is a value that a chain changed, as lines that went, came and stayed.
type change struct {
	Path  string
	Lines []line
}

type line struct{ Kind, Text string }

// changes are the differences that a patch makes to what it changes.
func changes(at string, before, after any, out []change) []change {
	if patch, ok := after.(map[string]any); ok && (at == "" || member(before) != nil) {
		for _, k := range lists.Keys(patch) {
			out = changes(strings.TrimPrefix(at+"."+k, "."), member(before)[k], patch[k], out)
		}
		return out
	}
	if was, is := shown(before), shown(after); was != is {
		out = append(out, change{at, difference(was, is)})
	}
	return out
}

// around is how many lines are shown around what differs.
const around = 2

// difference is the lines of one text taken away and of the other put in their place,
// with some that are alike around them.
func difference(was, is string) (out []line) {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	if was == "" {
		a = nil
	}
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	put := func(kind string, lines []string) {
		for _, l := range lines {
			out = append(out, line{kind, l})
		}
	}
	put("same", a[max(0, head-around):head])
	put("del", a[head:len(a)-tail])
	put("ins", b[head:len(b)-tail])
	put("same", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out
}
