package diff

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
)

// sent is the place in an event that a derived field is made of.
func sent(p policy.Path) policy.Path {
	input := func(key string) policy.Path { return policy.Path{Field: policy.FieldToolInput, Keys: []string{key}} }
	switch p.Field {
	case policy.FieldCommand, policy.FieldShell, policy.FieldToolArguments:
		return input("command")
	case policy.FieldPath:
		return input("file_path")
	case policy.FieldContent:
		return input("content")
	case policy.FieldURL:
		return input("url")
	case policy.FieldToolInput:
		if len(p.Keys) == 0 {
			return input("command")
		}
	case policy.FieldToolKind:
		return policy.Path{Field: policy.FieldToolName}
	}
	return p
}

// literals are the texts and numbers in a rule of expr or Rego, and in data.
var literals = regexp.MustCompile("`[^`]*`" + `|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b\d+(?:\.\d+)?\b`)

// constantsOf are the constants of each rule of a text: rules of Rego begin at the
// start of a line. It parses neither language: what it misses is an event that is
// not tried.
func constantsOf(text string) [][]any {
	var out [][]any
	for _, rule := range splitRules(text) {
		var constants []any
		for _, l := range literals.FindAllString(rule, -1) {
			switch plain, err := strconv.Unquote(l); {
			case l[0] >= '0' && l[0] <= '9' && json.Valid([]byte(l)):
				constants = append(constants, json.Number(l))
			case l[0] == '\'' || l[0] == '"' && err != nil:
				constants = append(constants, l[1:len(l)-1])
			case err == nil:
				constants = append(constants, plain)
			}
		}
		if len(constants) > 0 {
			out = append(out, constants)
		}
	}
	return out
}

// splitRules cuts a text before each line that begins with a letter.
func splitRules(text string) []string {
	var out []string
	start, at := 0, 0
	for line := range strings.Lines(text) {
		letter := line[0] == '_' || line[0]|0x20 >= 'a' && line[0]|0x20 <= 'z'
		if at > start && letter && !strings.HasPrefix(line, "else") {
			out = append(out, text[start:at])
			start = at
		}
		at += len(line)
	}
	return append(out, text[start:])
}
