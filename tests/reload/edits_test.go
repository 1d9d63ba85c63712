package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// change makes one edit and says what it was.
func (e *edited) change() string {
	i := e.rng.IntN(len(e.rules))
	r := &e.rules[i]
	switch e.rng.IntN(18) {
	case 13: // a file that is included by a pattern
		path := filepath.Join(e.dir, "more", "late.yaml")
		if os.Remove(path) != nil {
			e.write("more/late.yaml", "pre_tool_execution:\n  - {name: late, ask: 'cwd contains \"rm\"', reason: late}\n")
		}
		return "an included file"
	case 0:
		e.rules = append(e.rules, e.rule())
		e.writeAll()
		return "add"
	case 1:
		if len(e.rules) > 3 {
			e.rules = slices.Delete(e.rules, i, i+1)
			e.writePolicy()
		}
		return "remove"
	case 2:
		e.rng.Shuffle(len(e.rules), func(a, b int) { e.rules[a], e.rules[b] = e.rules[b], e.rules[a] })
		e.writePolicy()
		return "reorder"
	case 3:
		if r.event == "pre_tool_execution" {
			r.filter = e.pick("", "{tool_name: Edit}", "{tool_name: Read}", "{tool_pattern: \"^B\"}")
		}
		e.writePolicy()
		return "filter of " + r.name
	case 4:
		r.locked = !r.locked
		e.writePolicy()
		return "lock of " + r.name
	case 5:
		e.library["names.rego"] = e.names()
	case 6:
		e.library["deep/words.rego"] = e.words()
	case 7:
		e.library["unused.rego"] = fmt.Sprintf("package lib.unused\nnothing := %d\n", e.rng.IntN(9))
	case 8:
		if _, ok := e.library["more.rego"]; ok {
			delete(e.library, "more.rego")
			require.NoError(e.t, os.Remove(filepath.Join(e.dir, "lib", "more.rego")))
		} else { // into a package that others see
			e.library["more.rego"] = "package lib.names\n\nbad(c) if c == \"mv\"\n"
		}
	case 9:
		e.data["limits.json"] = e.limits()
	case 10:
		e.breakOrMend()
		return "break or mend"
	case 11: // touched, not changed
		e.writeAll()
		return "touch"
	case 12:
		return e.rewrite(r)
	default:
		r.text = e.body(*r)
	}
	e.writeAll()
	return "text of " + r.name + " or the library"
}

// rewrite changes one word of a rule for another of the same length, in a file
// of the same size, put in the place of the old one or written into it.
func (e *edited) rewrite(r *editedRule) string {
	for _, word := range []string{`"rm"`, `"ls"`, `"cp"`, `"mv"`} {
		if strings.Contains(r.text, word) {
			r.text = strings.Replace(r.text, word, `"`+e.word()+`"`, 1)
			break
		}
	}
	if r.kind == "file" && e.rng.IntN(2) == 0 {
		path := filepath.Join(e.dir, "rules", r.name+".rego")
		require.NoError(e.t, os.WriteFile(path+".new", []byte(r.text), 0o644))
		require.NoError(e.t, os.Rename(path+".new", path))
		return "another file for " + r.name
	}
	e.writeAll()
	return "a word of " + r.name
}

func (e *edited) breakOrMend() {
	for name := range e.broken {
		e.library[name] = e.broken[name]
		delete(e.broken, name)
		e.writeAll()
		return
	}
	name := e.pick("names.rego", "deep/words.rego", "unused.rego")
	e.broken[name] = e.library[name]
	e.library[name] = e.pick("package lib.names\n\nbad(c) if c ==\n", "package lib.other\n\nx if nobody(1)\n", "package lib.odd\n\nx := http.send({})\n")
	e.writeAll()
}
