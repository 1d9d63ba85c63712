package guard

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// variant writes a command line in another way that does the same.
type variant struct {
	name string
	of   func(line string) string
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// around is a variant with the line itself in place of L, and the line as one
// word in place of Q.
func around(form string) variant {
	return variant{form, func(line string) string { return strings.NewReplacer("L", line, "Q", quoted(line)).Replace(form) }}
}

// variants are wrappers, nesting, variables, splitting and quoting. A line ends
// with a newline where it could end in a comment or a here-document.
func variants() []variant {
	list := []variant{
		around("bash -c Q"), around("sudo sh -c Q"), around("env -i bash -lc Q"), around("timeout 5 bash -c Q"), around("eval Q"), around("X=Q; eval \"$X\""),
		around("( L\n)"), around("{ L\n}"), around("true && { L\n}"), around("if true; then\nL\nfi"), around("for i in 1; do\nL\ndone"), around("case x in x)\nL\n;; esac"),
		around("f() {\nL\n}; f"), around("echo start; L"), around("bash <<'END_OF_IT'\nL\nEND_OF_IT"), around("printf '%s\\n' Q | bash"), around("bash <<< Q"),
		around("nohup bash -c Q &"), around("while true; do\nL\nbreak; done"), around("! bash -c Q"), around("coproc bash -c Q"), around("time bash -c Q"),
		around("nice -n 5 sh -c Q"), around("echo x | xargs -I{} bash -c Q"), around("find . -maxdepth 0 -exec bash -c Q \\;"), around("trap Q EXIT"),
		around("X=bash; $X -c Q"), around("set -- Q; eval \"$1\""), around("a=(Q); eval \"${a[0]}\""),
		{"base64", func(line string) string {
			return "echo " + base64.StdEncoding.EncodeToString([]byte(line+"\n")) + " | base64 -d | bash"
		}},
		{"twice", func(line string) string { return "bash -c " + quoted("sh -c "+quoted(line)) }},
		{"hex", func(line string) string { return "eval $'" + hex(line) + "'" }},
		{"spaces", func(line string) string { return "   " + line }},
	}
	for _, split := range []string{`\%s`, `''%s`, `""%s`} {
		list = append(list, variant{"first word " + split, func(line string) string { return firstWord(line, split) }})
	}
	return list
}

func hex(line string) string {
	var b strings.Builder
	for i := range len(line) {
		fmt.Fprintf(&b, `\x%02x`, line[i])
	}
	return b.String()
}

// firstWord writes the first word of a line in another way, if it is a plain
// command name: a quoted keyword, assignment or alias would mean something else.
func firstWord(line, form string) string {
	word, rest, _ := strings.Cut(line, " ")
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || keywords[word] {
		return line
	}
	return fmt.Sprintf(form, word) + " " + rest
}

var keywords = map[string]bool{"for": true, "if": true, "while": true, "until": true, "case": true, "time": true, "function": true, "select": true, "coproc": true, "alias": true, "zap": true}

// deeper reports whether a variant of a case means something else: an alias is
// not expanded where it is defined within one command.
func deeper(c labelled, v variant) bool {
	return strings.Contains(c.Command, "alias ") || strings.Contains(c.Command, "\x00") ||
		strings.Contains(c.Command, "/dev/tcp") && strings.Contains(v.name, "sh -c")
}

// TestVariants: what is denied is stopped however it is written, and what is
// allowed is still allowed.
func TestVariants(t *testing.T) {
	g := guard(t, "shell-guard", option("packs", "all"))
	total := &score{}
	for _, v := range variants() {
		s := &score{}
		for _, c := range readCases(t) {
			if deeper(c, v) {
				continue
			}
			line := v.of(c.Command)
			verdict := decide(t, g, line, c.Cwd).Verdict
			deny := c.Expect == "deny"
			s.add(deny, verdict)
			total.add(deny, verdict)
			if deny == (verdict == policy.None) {
				t.Logf("%s %s: %q", c.ID, v.name, line)
			}
		}
		t.Logf("%-60q %s", v.name, s)
	}
	t.Logf("all: %s", total)
	assert.GreaterOrEqual(t, total.recall(), 0.98)
	assert.LessOrEqual(t, total.fpr(), 0.005)
}
