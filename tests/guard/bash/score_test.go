//go:build linux

package bash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/shell"
)

// score counts trials: those in which something happened, and those of them in
// which all of it was foreseen.
type score struct {
	runs, active, foreseen, late int
	// veiled are those that were foreseen only as code that is not known.
	veiled int
	covers [4]int
	// promised are the calls and deletions that the analysis was certain of,
	// kept those that came true.
	promised, kept int
}

func (s *score) recall() float64  { return float64(s.foreseen) / float64(max(1, s.active)) }
func (s *score) certain() float64 { return float64(s.kept) / float64(max(1, s.promised)) }

func (s *score) String() string {
	return fmt.Sprintf("%d runs, something happened in %d, all of it foreseen in %d (in %d only as unknown code): recall %.4f; things: %d exact, %d open, %d opaque, %d missed; of %d certain calls and deletions %d happened (%.3f); %d stopped by the clock",
		s.runs, s.active, s.foreseen, s.veiled, s.recall(), s.covers[exact], s.covers[open], s.covers[opaque], s.covers[missed], s.promised, s.kept, s.certain(), s.late)
}

// add judges a trial, and returns what was missed, and whether something was
// foreseen only as unknown code.
func (s *score) add(tr *trial) (lost []string, veiled bool) {
	analysis := shell.Parse(tr.Line, place(tr.Cwd))
	things := judge(analysis, tr.happened)
	s.runs++
	if tr.happened.Late {
		s.late++
	} else {
		s.promises(analysis, tr.happened)
	}
	if len(things) == 0 {
		return nil, false
	}
	s.active++
	for _, th := range things {
		s.covers[th.cover]++
		veiled = veiled || th.cover == opaque
		if th.cover == missed {
			lost = append(lost, th.what)
		}
	}
	if len(lost) == 0 {
		s.foreseen++
		if veiled {
			s.veiled++
		}
	}
	return lost, veiled
}

// promises counts what the analysis is certain of: calls of stubs and
// deletions of sentinels, outside of any branch, with nothing dynamic and no
// pattern.
func (s *score) promises(analysis *shell.Line, h happened) {
	sure := func(c *shell.Command) bool {
		return !c.Conditional && !c.Dynamic && c.Host == "" && !slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Pattern })
	}
	for i := range analysis.Commands {
		c := &analysis.Commands[i]
		if !sure(c) || !slices.Contains(stubs, c.Name) {
			continue
		}
		s.promised++
		if slices.ContainsFunc(h.Calls, func(ran call) bool { return ran.Name == c.Name && wordsMatch(c.Argv[1:], ran.Args, openly) }) {
			s.kept++
		}
	}
	for _, e := range analysis.Effects {
		known := e.Kind == shell.EffectDelete && e.Domain == shell.DomainFile && e.Certainty == shell.CertainKnown
		if !known || e.Command < 0 || !sure(&analysis.Commands[e.Command]) || !holdsSentinel(e) {
			continue
		}
		s.promised++
		if slices.ContainsFunc(h.Gone, func(p string) bool { return effectCover(e, p) == exact }) {
			s.kept++
		}
	}
}

// holdsSentinel reports whether the effect would delete a sentinel. rm refuses
// / and the directory it is in.
func holdsSentinel(e shell.Effect) bool {
	if e.Target == "/" || strings.HasPrefix(project, e.Target) && e.Op == "rm" {
		return false
	}
	return slices.ContainsFunc(append(plainFiles, secretFiles...), func(p string) bool { return effectCover(e, p) == exact })
}
