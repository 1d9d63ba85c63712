package native

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBuiltinAllocations: tests allocate nothing, and sprintf its text alone.
func TestBuiltinAllocations(t *testing.T) {
	command, list := Value("sudo rm -rf /tmp/x"), Value([]Value{"a", "b", 3})
	glob, delimiters := Value("/home/*/.ssh/**"), Value([]Value{"/"})
	for _, c := range []struct {
		name string
		args []Value
		most float64
	}{
		{"contains", []Value{command, "rm -rf"}, 0},
		{"startswith", []Value{command, "rm"}, 0},
		{"endswith", []Value{command, "x"}, 0},
		{"equal", []Value{command, "rm"}, 0},
		{"internal.member_2", []Value{"b", list}, 0},
		{"regex.match", []Value{`\brm\s+-rf`, command}, 0},
		{"glob.match", []Value{glob, delimiters, "/home/me/.ssh/id"}, 0},
		{"count", []Value{list}, 0},
		{"lower", []Value{command}, 0},
		{"trim_space", []Value{command}, 0},
		{"sprintf", []Value{"%s is not for %v (%d)", list}, 2},
	} {
		f := ownBuiltin(c.name).call()
		var call Call
		got := testing.AllocsPerRun(100, func() {
			if _, _, err := f(&call, c.args); err != nil {
				panic(err)
			}
		})
		require.LessOrEqual(t, got, c.most+unpooled, c.name)
	}
}
