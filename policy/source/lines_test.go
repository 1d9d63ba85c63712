package source

import (
	"fmt"

	"github.com/hookc/hookc/policy/diag"
)

// lines are findings as line:col code text; hint.
func lines(found diag.List) []string {
	var out []string
	for _, d := range found {
		line, col := d.Span.Position()
		text := fmt.Sprintf("%d:%d %s %s", line, col, d.Code.ID, d.Text)
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		out = append(out, text)
	}
	return out
}
