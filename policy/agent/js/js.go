// Package js is how agents that are written in JavaScript read JSON values, the
// answers of their hooks among them.
package js

import (
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
)

// True is JavaScript's opinion of a JSON value; an absent one is nil.
//
//go:noinline
func True(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case string:
		return x != ""
	case int:
		return x != 0
	case float64:
		return x != 0
	}
	return true
}

// Text is String(v).
func Text(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return x
	case map[string]any:
		return "[object Object]"
	case []any:
		parts := make([]string, len(x))
		for i, item := range x {
			if item != nil {
				parts[i] = Text(item)
			}
		}
		return strings.Join(parts, ",")
	}
	text, err := policy.EncodeJSON(v)
	if err != nil {
		panic("js: a value is not JSON: " + err.Error())
	}
	return string(text)
}

// Spread is {...a, ...b} for JSON values: what is not an object gives its
// own enumerable keys, as the agents written in JavaScript read it.
func Spread(a, b any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, keys(a))
	maps.Copy(out, keys(b))
	return out
}

func keys(v any) map[string]any {
	switch x := v.(type) {
	case map[string]any:
		return x
	case []any:
		out := make(map[string]any, len(x))
		for i, item := range x {
			out[strconv.Itoa(i)] = item
		}
		return out
	case string:
		out := map[string]any{}
		n := 0
		for _, r := range x {
			out[strconv.Itoa(n)] = string(r)
			n++
		}
		return out
	}
	return nil
}

// Has is what the operator `in` does on a value that is not nil: false for
// ok means that it throws.
//
//go:noinline
func Has(v any) (object map[string]any, ok bool) {
	switch x := v.(type) {
	case map[string]any:
		return x, true
	case []any:
		return nil, true
	}
	return nil, false
}

// NoObject reports whether JavaScript's `in` throws on a value that counts
// as true.
func NoObject(v any) bool {
	_, ok := Has(v)
	return True(v) && !ok
}

// Texts is the texts that count as true under a key, in order, with the hook
// that said each.
func Texts(all []policy.AgentAnswer, key string) []policy.Reason {
	var out []policy.Reason
	for _, s := range all {
		if v := s.Value[key]; True(v) {
			out = append(out, policy.Reason{Text: Text(v), Hook: s.By.Name, At: s.By.At})
		}
	}
	return out
}

//go:noinline
func ReasonTexts(all []policy.Reason) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Text)
	}
	return out
}

// LastKey is the value of a key that the last answer holding it gives, as
// {...a, ...b} has it, and who gave it.
//
//go:noinline
func LastKey(all []policy.AgentAnswer, key string) (any, policy.By) {
	for i := len(all) - 1; i >= 0; i-- {
		if v, ok := all[i].Value[key]; ok {
			return v, all[i].By
		}
	}
	return nil, policy.By{}
}

// LastOwn is the value of a key of hookSpecificOutput that the last answer
// holding it gives.
//
//go:noinline
func LastOwn(all []policy.AgentAnswer, key string) (any, policy.By) {
	for i := len(all) - 1; i >= 0; i-- {
		own, _ := Has(all[i].Value["hookSpecificOutput"])
		if v, ok := own[key]; ok {
			return v, all[i].By
		}
	}
	return nil, policy.By{}
}

// Contexts are the contexts of all answers; none when all are empty.
func Contexts(all []policy.AgentAnswer) []string {
	var out []string
	some := false
	for _, s := range all {
		own, _ := Has(s.Value["hookSpecificOutput"])
		if text, ok := own["additionalContext"].(string); ok {
			out = append(out, text)
			some = some || text != ""
		}
	}
	if !some {
		return nil
	}
	return out
}

// space is what trim takes away in JavaScript.
const space = " \t\r\n\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\uFEFF"

// Trim takes away the space around a text.
//
//go:noinline
func Trim(s string) string { return strings.Trim(s, space) }

var (
	quoteSpecial = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile("([A-Za-z]:)?([#!\"$&'()*,:;<=>?@\\[\\\\\\]^`{|}])") })
	quoteDouble  = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile("([\"\\\\$`!])") })
)

// ShellQuote is a word as the agents written in JavaScript quote it for
// bash.
func ShellQuote(s string) string {
	single := strings.Contains(s, "'")
	switch spaced := strings.ContainsAny(s, "\" \t\r\n\v\f"); {
	case s == "":
		return ""
	case !single && (spaced || strings.Contains(s, `\`)):
		return "'" + s + "'"
	case single || spaced:
		return `"` + quoteDouble().ReplaceAllString(s, `\$1`) + `"`
	}
	return quoteSpecial().ReplaceAllString(s, `$1\$2`)
}
