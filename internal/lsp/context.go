package lsp

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

// spot is where in a policy a place is, told by indentation, so that it is known in
// a text that is no YAML at the moment.
type spot struct {
	// in is the map that the place is in, "" if none has keys; event its event.
	in    source.Place
	event policy.Event
	// key is the key whose value the place is in, "" where a key would stand.
	key string
	// code is true within an expression or Rego.
	code bool
	// line is the value up to its end, rest what is left of the place in it.
	line string
}

// step is a level above a place: a key, or a list's dash.
type step struct {
	key    string
	column int
	dash   bool
	block  bool
}

// contextAt finds where a place is.
func contextAt(t *text, offset int) spot {
	at := t.position(offset).Line
	upTo := t.s[t.starts[at]:offset]
	path, key, value, rest := readLine(upTo)
	column := len(upTo) - len(strings.TrimLeft(upTo, " "))
	dash := strings.HasPrefix(strings.TrimLeft(upTo, " "), "-")
	if rest == "" && key == "" && strings.TrimSpace(upTo) == "" {
		column = len(upTo)
	}
	for n := at - 1; n >= 0 && (column > 0 || dash); n-- {
		line := t.line(n)
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		above, last, block, _ := readLine(line + " ")
		if last != "" && !strings.HasPrefix(block, "{") {
			above = append(above, step{key: last, column: columnOf(line), block: strings.HasPrefix(block, "|") || strings.HasPrefix(block, ">")})
		}
		for _, s := range slices.Backward(above) {
			if s.column < column || dash && !s.dash && s.column == column {
				column, dash = s.column, s.dash
				if s.block { // what stands below is text
					path, key, value = nil, s.key, "|"
					continue
				}
				path = append([]step{s}, path...)
			}
		}
	}
	c := spot{key: key, line: value}
	c.place(path)
	if c.in == source.InHook || c.in == source.InRule {
		k := source.FindKey(c.in, key)
		c.code = k != nil && (k.Type == source.TypeExpr || key == "source")
	}
	if n := len(path); n > 0 && path[n-1].key == "set" && key != "" {
		c.code = true
	}
	if key != "" && at < len(t.starts) {
		_, _, c.line, _ = readLine(t.line(at))
	}
	return c
}

// columnOf is the column of the first key of a line, dashes left aside.
func columnOf(line string) int {
	return len(line) - len(strings.TrimLeft(line, " -"))
}

// readLine reads a line up to a place: the dashes and keys that are above the place in
// it, the key whose value the place is in, the value so far, and what is begun.
func readLine(line string) (above []step, key, value, rest string) {
	i := 0
	for ; i < len(line) && (line[i] == ' ' || line[i] == '-' && (i+1 == len(line) || line[i+1] == ' ')); i++ {
		if line[i] == '-' {
			above = append(above, step{column: i, dash: true})
		}
	}
	column := i
	for {
		rest = line[i:]
		colon := strings.Index(rest, ":")
		for colon >= 0 && colon+1 < len(rest) && rest[colon+1] != ' ' {
			next := strings.Index(rest[colon+1:], ":")
			if next < 0 {
				colon = -1
				break
			}
			colon += 1 + next
		}
		word := ""
		if colon >= 0 {
			word = strings.Trim(strings.TrimSpace(rest[:colon]), `"'`)
		}
		if strings.HasPrefix(rest, "{") { // a map on one line
			i++
			for i < len(line) && line[i] == ' ' {
				i++
			}
			continue
		}
		if colon < 0 || strings.ContainsAny(word, " {}()=\"'") {
			return above, key, value, rest
		}
		key = word
		i += colon + 1
		for i < len(line) && line[i] == ' ' {
			i++
		}
		value = line[i:]
		end, closed := flowEnd(value)
		switch {
		case strings.HasPrefix(value, "{") && !closed:
			above = append(above, step{key: key, column: column})
			column++
			key, value = "", ""
		case end < len(value) && value[end] == ',' && len(above) >= 0 && strings.Contains(line[:i], "{"):
			i += end + 1
			key, value = "", ""
			for i < len(line) && line[i] == ' ' {
				i++
			}
		default:
			return above, key, value, value
		}
	}
}

// flowEnd is where a value of a map on one line ends: at its comma or brace, quotes and
// brackets aside. closed is true when all that it opens is closed.
func flowEnd(s string) (end int, closed bool) {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return i, true
			}
		case c == ',' && depth == 0:
			return i, true
		}
	}
	return len(s), depth == 0
}

// place finds the map that steps lead to.
func (c *spot) place(path []step) {
	c.in = source.InFile
	for _, s := range path {
		switch {
		case s.dash && c.in == source.InEvent:
			c.in = source.InHook
		case s.dash && c.in == "data":
			c.in = source.InDocument
		case s.dash:
		case c.in == source.InFile:
			c.in = map[string]source.Place{"defaults": source.InDefaults, "rego": source.InRego, "tools": source.InTools, "log": source.InLog, "facts": "facts", "approval": source.InApproval}[s.key]
			if e, ok := policy.ParseEvent(s.key); ok {
				c.in, c.event = source.InEvent, e
			}
		case c.in == source.InApproval:
			c.in = map[string]source.Place{"require": source.InRequire, "webhook": source.InWebhook}[s.key]
		case c.in == "facts":
			c.in = source.InFact
		case c.in == source.InRego && s.key == "data":
			c.in = "data"
		case c.in == source.InEvent && s.key == "hooks", c.in == source.InHook && s.key == "parallel":
			c.in = source.InHook
		case c.in == source.InHook && s.key == "filter":
			c.in = source.InFilter
		case c.in == source.InHook && s.key == "rules":
			c.in = source.InRule
		default:
			c.in = ""
		}
	}
}

// value is the text of the value that the place is in.
func (c spot) value() string {
	end, _ := flowEnd(c.line)
	return strings.Trim(strings.TrimSpace(c.line[:end]), `"'[] `)
}
