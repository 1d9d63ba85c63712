package diff

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
)

// clue is a place in an event and constants that stand beside it in a rule: an
// event that has one of them there may reach a test.
type clue struct {
	path policy.Path
	// values are JSON values: texts, json.Number.
	values []any
}

// chunk is the clues of one rule, or of one filter.
type chunk []clue

func (c *chunk) add(p policy.Path, values ...any) {
	if p = sent(p); p.Field == policy.FieldEvent {
		return
	}
	for i := range *c {
		if have := &(*c)[i]; have.path.String() == p.String() {
			have.values = append(have.values, values...)
			return
		}
	}
	*c = append(*c, clue{p, slices.Clone(values)})
}

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

// scanner looks through the text of a rule, in expr or Rego, for places and
// constants. It parses neither language: what it misses is an event that is not
// tried.
type scanner struct {
	text string
	at   int
	// alias are names that were set to a place.
	alias map[string]policy.Path
	// name is what was set last, if := follows.
	name string
	out  chunk
	// paths and values are those of the expression under way; loose are values
	// that stood beside no place.
	paths  []policy.Path
	values []any
	loose  []any
	depth  int
}

// scanRules are the clues of each rule of a text: rules of Rego begin at the
// start of a line.
func scanRules(text string, alias map[string]policy.Path) []chunk {
	var out []chunk
	for _, rule := range splitRules(text) {
		s := &scanner{text: rule, alias: alias}
		if c := s.scan(); len(c) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// splitRules cuts a text before each line that begins with a letter.
func splitRules(text string) []string {
	var out []string
	start, at := 0, 0
	for line := range strings.Lines(text) {
		if at > start && (letter(line[0]) && !strings.HasPrefix(line, "else")) {
			out = append(out, text[start:at])
			start = at
		}
		at += len(line)
	}
	return append(out, text[start:])
}

func letter(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' }
func digit(b byte) bool  { return b >= '0' && b <= '9' }

func (s *scanner) scan() chunk {
	for s.at < len(s.text) {
		s.step()
	}
	s.end()
	for i := range s.out {
		s.out[i].values = append(s.out[i].values, s.loose...)
	}
	return s.out
}

func (s *scanner) step() {
	b := s.text[s.at]
	switch {
	case b == '"' || b == '\'' || b == '`':
		s.values = append(s.values, s.quoted(b))
	case b == '#' && (s.at+1 == len(s.text) || !letter(s.text[s.at+1])):
		if n := strings.IndexByte(s.text[s.at:], '\n'); n > 0 {
			s.at += n
		} else {
			s.at = len(s.text)
		}
	case digit(b):
		s.number()
	case letter(b):
		s.word()
	case b == '\n' && s.depth == 0, b == ';', strings.HasPrefix(s.text[s.at:], "&&"), strings.HasPrefix(s.text[s.at:], "||"):
		s.end()
		s.at++
	default:
		switch b {
		case '[', '(':
			s.depth++
		case ']', ')':
			s.depth--
		}
		s.at++
	}
}

// end ends an expression: its constants belong to its places.
func (s *scanner) end() {
	for _, p := range s.paths {
		s.out.add(p, s.values...)
	}
	if len(s.paths) == 0 {
		s.loose = append(s.loose, s.values...)
	}
	s.paths, s.values, s.name = nil, nil, ""
}

func (s *scanner) quoted(quote byte) string {
	start := s.at
	for s.at++; s.at < len(s.text) && s.text[s.at] != quote; s.at++ {
		if s.text[s.at] == '\\' && quote != '`' {
			s.at++
		}
	}
	s.at = min(s.at+1, len(s.text))
	text := s.text[start:s.at]
	inner := strings.TrimSuffix(text[1:], string(quote))
	if quote == '\'' {
		text = `"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`
	}
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return inner
}

func (s *scanner) number() {
	start := s.at
	for s.at < len(s.text) && (digit(s.text[s.at]) || s.text[s.at] == '.' && s.at+1 < len(s.text) && digit(s.text[s.at+1])) {
		s.at++
	}
	text := s.text[start:s.at]
	if json.Valid([]byte(text)) {
		s.values = append(s.values, json.Number(text))
	}
}

// word reads a name and what follows it by dots and constant keys.
func (s *scanner) word() {
	parts := []string{s.identifier()}
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case rest[0] == '.' && len(rest) > 1 && letter(rest[1]):
			s.at++
			parts = append(parts, s.identifier())
			continue
		case strings.HasPrefix(rest, "?.") && len(rest) > 2 && letter(rest[2]):
			s.at += 2
			parts = append(parts, s.identifier())
			continue
		case strings.HasPrefix(rest, `["`):
			s.at++
			parts = append(parts, s.quoted('"'))
			if s.at < len(s.text) && s.text[s.at] == ']' {
				s.at++
			}
			continue
		}
		break
	}
	if len(parts) == 1 && (parts[0] == "and" || parts[0] == "or") {
		s.end()
		return
	}
	if p, ok := s.path(parts); ok {
		s.paths = append(s.paths, p)
		if s.name != "" {
			s.alias[s.name] = p
		}
		return
	}
	s.name = ""
	if rest := strings.TrimLeft(s.text[s.at:], " "); len(parts) == 1 && (strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, "= ")) {
		s.name = parts[0]
	}
}

func (s *scanner) identifier() string {
	start := s.at
	for s.at < len(s.text) && (letter(s.text[s.at]) || digit(s.text[s.at])) {
		s.at++
	}
	return s.text[start:s.at]
}

// path is the place that a name means.
func (s *scanner) path(parts []string) (policy.Path, bool) {
	if p, ok := s.alias[parts[0]]; ok {
		p.Keys = slices.Concat(p.Keys, parts[1:])
		return p, true
	}
	if parts[0] == "input" {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return policy.Path{}, false
	}
	f, ok := policy.ParseField(parts[0])
	if !ok {
		return policy.Path{}, false
	}
	return policy.Path{Field: f, Keys: parts[1:]}, true
}
