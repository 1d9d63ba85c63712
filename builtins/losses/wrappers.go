package losses

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/packed"
)

// Wrapper describes a program that starts the command in its arguments.
type Wrapper struct {
	// Short and Long are its options that take a value.
	Short, Long string
	// Skip is how many operands stand before the command.
	Skip int
	// Sub are operands that must come first: uv run.
	Sub string
	// Code is an option whose value is shell code; joined is true when the
	// operands are code too.
	Code   string
	Joined bool
	// Assigns is true when NAME=value may stand before the command.
	Assigns bool
	// Quiet are options with which nothing is started.
	Quiet string
	// Dir is an option that names the directory.
	Dir string
	// Privilege is true when the command gets rights of another user.
	Privilege bool
}

// wrappers is wrappers.txt, packed: the names of programs, and behind bars their short and long
// options, how many operands to skip, what comes first, the options of code, the quiet ones, the
// one of a folder, and j (joined), a (assigns) and p (privilege).
//
//go:embed wrappers.txt.gz
var wrappers string

// Wrappers are the programs that start others, by name.
func Wrappers() map[string]Wrapper {
	out := make(map[string]Wrapper, 256)
	for line := range strings.Lines(packed.Text(wrappers)) {
		f := strings.Split(strings.TrimSuffix(line, "\n")+"||||||||", "|")
		skip, _ := strconv.Atoi(f[3])
		w := Wrapper{Short: f[1], Long: f[2], Skip: skip, Sub: f[4], Code: f[5], Quiet: f[6], Dir: f[7],
			Joined: strings.Contains(f[8], "j"), Assigns: strings.Contains(f[8], "a"), Privilege: strings.Contains(f[8], "p")}
		for _, name := range strings.Fields(f[0]) {
			out[name] = w
		}
	}
	return out
}
