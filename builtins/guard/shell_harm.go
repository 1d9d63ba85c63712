package guard

import (
	"github.com/hookc/hookc/builtins/harm"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/policy"
)

// adviceHarm is what there is to say of a kind of harm: an ask, or the guard's on_unknown for
// what nobody can read.
func adviceHarm(kind string) *shellAdvice {
	text := harm.Advice(kind)
	a := &shellAdvice{verdict: policy.Ask, what: text[1], instead: text[2]}
	for _, p := range shellPacks {
		if shell.WordIn(p.name, text[0]) {
			a.packs |= p.pack
		}
	}
	if kind == "blind" {
		a.verdict = policy.None
	}
	return a
}

// harms adds the classes of harm that effects do not name.
func (g *shellGuard) harms(says *guardSays, s *shell.Line, in *policy.Context) {
	if says.verdict != policy.None {
		return
	}
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	for _, f := range harm.Find(s, at) {
		e := &shell.Effect{Kind: shell.EffectDelete, Op: f.Kind, Target: f.Target, Command: f.Command}
		g.finds(says, s, e, g.counts(adviceHarm(f.Kind), s, e, &at))
	}
}
