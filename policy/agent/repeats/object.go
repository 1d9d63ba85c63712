package repeats

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// Once reports whether an object has each of these keys at most once, and their values
// no key twice. What is under other keys does not matter.
func Once(text string, keys []string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	_, err := dec.Token()
	for seen := map[string]bool{}; err == nil && dec.More(); {
		var value json.RawMessage
		key, _ := dec.Token()
		name, _ := key.(string)
		if err = dec.Decode(&value); err != nil || !slices.Contains(keys, name) {
			continue
		}
		if _, err = policy.DecodeJSON(value); seen[name] {
			return false
		}
		seen[name] = true
	}
	return err == nil
}
