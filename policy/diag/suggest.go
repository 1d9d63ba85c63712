package diag

import (
	"strings"

	"github.com/hookc/hookc/internal/lists"
)

// Suggest returns the candidate closest to name, or "" when none is close
// enough to be what was meant. Letter case, `_` and `-` count as differences
// only between candidates that are equally close otherwise, and the only
// candidate that begins with the name is close; ties go to the first in sorted
// order.
func Suggest(name string, candidates []string) string {
	best, bestCost, bestLook := "", 1<<30, 0
	want := fold(name)
	sorted := lists.Copy(candidates)
	lists.Sort(sorted)
	longer := continued(want, candidates)
	for _, c := range sorted {
		cost, look := distance(want, fold(c)), distance(name, c)
		if longer != "" && fold(c) == longer {
			cost = min(cost, 1)
		}
		if cost < bestCost || cost == bestCost && look < bestLook {
			best, bestCost, bestLook = c, cost, look
		}
	}
	if bestCost > max(1, len(want)/3) {
		return ""
	}
	return best
}

// minPrefix is how many letters of a longer name say which one is meant.
const minPrefix = 4

// continued is the one candidate, folded, that begins with a folded name, ""
// when there is none or more than one.
func continued(want string, candidates []string) string {
	found := ""
	for _, c := range candidates {
		c = fold(c)
		switch {
		case len(want) < minPrefix || !strings.HasPrefix(c, want) || c == found:
		case found != "":
			return ""
		default:
			found = c
		}
	}
	return found
}

// DidYouMean is Suggest as a hint, or other when nothing is close.
func DidYouMean(name string, candidates []string, other string) string {
	if s := Suggest(name, candidates); s != "" {
		return "did you mean " + quote(s) + "?"
	}
	return other
}

func quote(s string) string { return `"` + s + `"` }

func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// distance is the number of insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
