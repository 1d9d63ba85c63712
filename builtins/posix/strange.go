package posix

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
)

// Strange are words with which a builtin changes how the shell reads what follows, in ways
// that are not followed.
var Strange = map[string]string{
	"shopt": "lastpipe localvar_inherit cdable_vars xpg_echo extdebug", "set": "posix", "hash": "-p", "jobs": "-x", "enable": "-f",
	"pushd": "-n", "popd": "-n", "break": "2 3 4", "continue": "2 3 4",
}

// Special reports whether an assignment changes how the shell reads what follows.
func Special(name, text string) bool {
	switch text {
	case "", `""`, "''":
		return false
	}
	return losses.In(name, "CDPATH GLOBIGNORE BASH_ARGV0 BASH_CMDS BASH_ALIASES") || name == "PS4" && (strings.Contains(text, "$(") || strings.Contains(text, "`"))
}

// CompareIndexes orders the indexes of an array: numbers by their value, and keys as they are.
func CompareIndexes(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// NextIndex is the index of the next element of an array of n.
func NextIndex(n int, key func(i int) string) string {
	if n == 0 {
		return "0"
	}
	last, err := strconv.Atoi(key(n - 1))
	if err != nil {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(last + 1)
}
