package table

import (
	"bytes"
	"crypto/sha256"
	"strings"
)

// Marker begins the names of the files in a project's state folder whose times
// say when the gate last answered an event on its own: the agent and its name of
// the event follow, with a dot between them. MarkEvery is how old one may be, in
// seconds, before it is made again.
const (
	Marker    = "gate-"
	MarkEvery = 20
)

// Runs is the file in a project's state folder with a line for each hook that the
// gate has evaluated: the event, the hook's name and how many nanoseconds it took,
// with tabs between. hookc adds them to its counters. The gate writes no more than
// MaxRuns bytes.
const (
	Runs    = "runs.log"
	MaxRuns = 256 << 10
)

// Leaf is the name of a project's state folder, as package policy/state has it.
// root is the real, clean path of the project.
func Leaf(root string) string {
	sum := sha256.Sum256([]byte(root))
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 60)
	for _, b := range sum[:6] {
		out = append(out, digits[b>>4], digits[b&15])
	}
	out = append(out, '-')
	base := root[strings.LastIndexByte(root, '/')+1:]
	if base == "" {
		base = "/"
	}
	name := make([]byte, 0, len(base))
	run := false // of what has no place in a name
	for i := range len(base) {
		c := base[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
		switch {
		case plain:
			name = append(name, c)
		case !run:
			name = append(name, '_')
		}
		run = !plain
	}
	if name = bytes.Trim(name, "._"); len(name) == 0 {
		name = []byte("root")
	}
	return string(append(out, name[:min(len(name), 40)]...))
}
