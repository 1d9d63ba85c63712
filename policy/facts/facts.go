// Package facts reads the values of facts that a policy declares under `facts:`.
package facts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Check says what is wrong with a JSON value as that of a fact.
func Check(f *policy.Fact, v any) error {
	ok := false
	switch x := v.(type) {
	case string:
		ok = f.Type == "string" || f.Type == "enum" && lists.Has(f.Words, x)
	case bool:
		ok = f.Type == "bool"
	case int:
		ok = f.Type == "int"
	case float64:
		ok = f.Type == "int" && x == math.Trunc(x)
	case []any:
		ok = f.Type == "list" && !slices.ContainsFunc(x, func(e any) bool { _, text := e.(string); return !text })
	}
	if ok {
		return nil
	}
	return fault.Errorf("facts.%s must be %s", f.Name, takes(f))
}

func takes(f *policy.Fact) string {
	switch f.Type {
	case "int":
		return "a whole number"
	case "list":
		return "a list of strings"
	case "enum":
		return "one of " + strings.Join(f.Words, ", ")
	}
	return policy.Article(f.Type)
}

// Parse reads the value of a fact from text: a list has commas between its
// elements.
func Parse(f *policy.Fact, text string) (any, error) {
	var v any = text
	switch f.Type {
	case "int":
		if n, err := strconv.Atoi(text); err == nil {
			v = n
		}
	case "bool":
		if text == "true" || text == "false" {
			v = text == "true"
		}
	case "list":
		list := []any{}
		for _, part := range strings.Split(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		v = list
	}
	return v, Check(f, v)
}

// Hint is what to write for a name that is no field of an event: a field that is
// close, or where else the value may be. input is what fields are read from.
func Hint(name, input string, others ...string) string {
	if s := diag.Suggest(name, lists.Concat(policy.FieldNames(), others)); s != "" && !strings.HasPrefix(s, name+"_") {
		return `did you mean "` + s + `"?`
	}
	return fmt.Sprintf("what the agent sends under another name is in %[1]sraw.%[2]s; what the host knows is a fact: declare facts: {%[2]s: string} and read %[1]sfacts.%[2]s", input, name)
}
