package guard

import (
	"bufio"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

var class = flag.String("class", "", "the one class of classes.txt to look at")

// classed is a command of classes.txt: stopped is true for one that must not
// pass without somebody being asked.
type classed struct {
	class, command string
	stopped        bool
}

// readClasses reads classes.txt: a line with # begins a class, - is before a
// command to stop and + before one to let through; \n is a new line.
func readClasses(t testing.TB) []classed {
	t.Helper()
	f, err := os.Open("classes.txt")
	require.NoError(t, err)
	defer f.Close()
	var out []classed
	name := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "#":
			name = rest
		case "-", "+":
			out = append(out, classed{name, strings.ReplaceAll(rest, `\n`, "\n"), mark == "-"})
		default:
			require.Empty(t, line, "a line of classes.txt")
		}
	}
	return out
}

// TestClasses: of every class of losses the dangerous are stopped, and the
// harmless that look like them are not.
func TestClasses(t *testing.T) {
	g := guard(t, "shell-guard", option("packs", "all"))
	for _, c := range readClasses(t) {
		if *class != "" && c.class != *class {
			continue
		}
		r := decide(t, g, c.command, root)
		assert.Equal(t, c.stopped, r.Verdict != policy.None, "%s: %q: it says %s", c.class, c.command, told(r))
	}
}
