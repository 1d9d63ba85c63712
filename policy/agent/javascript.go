package agent

import (
	"maps"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
)

// jsTrue is JavaScript's opinion of a JSON value; an absent one is nil.
func jsTrue(v any) bool {
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

// jsText is String(v).
func jsText(v any) string {
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
				parts[i] = jsText(item)
			}
		}
		return strings.Join(parts, ",")
	}
	return JSONText(v)
}

// jsSpread is {...a, ...b} for JSON values: what is not an object gives its
// own enumerable keys, as the agents written in JavaScript read it.
func jsSpread(a, b any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, jsKeys(a))
	maps.Copy(out, jsKeys(b))
	return out
}

func jsKeys(v any) map[string]any {
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

// jsHas is what the operator `in` does on a value that is not nil: false for
// ok means that it throws.
func jsHas(v any) (object map[string]any, ok bool) {
	switch x := v.(type) {
	case map[string]any:
		return x, true
	case []any:
		return nil, true
	}
	return nil, false
}

// jsNoObject reports whether JavaScript's `in` throws on a value that counts
// as true.
func jsNoObject(v any) bool {
	_, ok := jsHas(v)
	return jsTrue(v) && !ok
}

// spokenTexts is the texts that count as true under a key, in order, with the hook
// that said each.
func spokenTexts(all []policy.AgentAnswer, key string) []policy.Reason {
	var out []policy.Reason
	for _, s := range all {
		if v := s.Value[key]; jsTrue(v) {
			out = append(out, policy.Reason{Text: jsText(v), Hook: s.By.Name, At: s.By.At})
		}
	}
	return out
}

func reasonTexts(all []policy.Reason) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Text)
	}
	return out
}

// lastKey is the value of a key that the last answer holding it gives, as
// {...a, ...b} has it, and who gave it.
func lastKey(all []policy.AgentAnswer, key string) (any, policy.By) {
	for i := len(all) - 1; i >= 0; i-- {
		if v, ok := all[i].Value[key]; ok {
			return v, all[i].By
		}
	}
	return nil, policy.By{}
}

// lastOwn is the value of a key of hookSpecificOutput that the last answer
// holding it gives.
func lastOwn(all []policy.AgentAnswer, key string) (any, policy.By) {
	for i := len(all) - 1; i >= 0; i-- {
		own, _ := jsHas(all[i].Value["hookSpecificOutput"])
		if v, ok := own[key]; ok {
			return v, all[i].By
		}
	}
	return nil, policy.By{}
}

// spokenContexts are the contexts of all answers; none when all are empty.
func spokenContexts(all []policy.AgentAnswer) []string {
	var out []string
	some := false
	for _, s := range all {
		own, _ := jsHas(s.Value["hookSpecificOutput"])
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
