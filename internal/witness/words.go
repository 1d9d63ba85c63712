package witness

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// mostWays bounds how many contradictions are spelled out.
const mostWays = 3

// words say a proof: the contradictions, a fix where there is one, and the test at
// fault.
func words(p *solve.Proof) (why []string, hint string, at diag.Span) {
	for _, w := range p.Ways {
		text := contradiction(&w)
		if !lists.Has(why, text) {
			why = append(why, text)
		}
		if hint == "" {
			hint = w.Fix()
		}
		if at.IsZero() && len(w.Atoms) > 0 {
			at = w.Atoms[len(w.Atoms)-1].At
		}
	}
	if len(why) == 0 {
		why = []string{"it can have no value"}
	}
	if n := len(why) - mostWays; n > 0 {
		why = append(why[:mostWays], fmt.Sprintf("and %d others", n))
	}
	return why, hint, at
}

func contradiction(w *solve.Contradiction) string {
	var tests []string
	for i, a := range w.Atoms {
		text := fmt.Sprintf("`%s`", a.Source)
		if !w.Holds[i] {
			text = "not " + text
		}
		if !lists.Has(tests, text) {
			tests = append(tests, text)
		}
	}
	facts := strings.Join(w.Facts, ", ")
	switch {
	case len(tests) == 0:
		return facts
	case facts != "" && len(tests) == 1:
		return facts + ": never " + tests[0]
	case facts != "":
		return facts + ": never " + strings.Join(tests, " and ")
	case len(tests) == 1:
		return tests[0] + " never holds: no value of " + w.Term.String() + " fulfils it"
	}
	return strings.Join(tests, " and ") + " cannot hold together"
}
