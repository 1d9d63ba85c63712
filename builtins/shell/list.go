package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
)

func itoa(n int) string { return strconv.Itoa(n) }

// list adds a command to the list, unless the same one is there already.
func (a *analysis) list(c *shCall) {
	cmd := Command{
		Name: c.name, Argv: c.argv, Env: c.env, Redirects: c.fr.redirects, Dir: a.dir(c.fr.st), Via: c.fr.via, Host: c.fr.host,
		Pipe: c.fr.pipe, Stage: c.fr.stage, Conditional: c.fr.conditional || c.fr.around, Offset: c.offset,
		Dynamic: slices.ContainsFunc(c.argv, func(w Word) bool { return w.Dynamic }), Flags: shellFlags(c.name, c.argv[min(1, len(c.argv)):]),
	}
	for _, name := range paths.GitVariables { // exported before, as what nobody says
		_, set := c.fr.st.vars.get(name)
		if on, _ := c.fr.st.exports.get(name); (c.name == "git" || c.name == "hub") && (on || set && c.fr.st.exportAll) {
			cmd.Env = append(slices.Clip(cmd.Env), Assign{Name: name})
		}
	}
	if i, ok := a.listed(&cmd); ok {
		c.index, c.muted = i, true
		return
	}
	if len(a.out.Commands) >= maxShellCommands {
		c.index = -1
		a.full = true
		a.unknown(c.fr, shellTooMany, c.offset)
		return
	}
	c.index = len(a.out.Commands)
	a.out.Commands = append(a.out.Commands, cmd)
	a.out.Dynamic = a.out.Dynamic || cmd.Dynamic
}

// repeat says that what follows may have been read before.
func (a *analysis) repeat() {
	if a.seen != nil {
		return
	}
	a.seen = make(map[string]int, len(a.out.Commands))
	for i := range a.out.Commands {
		a.seen[a.out.Commands[i].key()] = i
	}
}

func (a *analysis) listed(cmd *Command) (int, bool) {
	if a.seen == nil {
		return 0, false
	}
	key := cmd.key()
	a.bytes += len(key)
	if i, ok := a.seen[key]; ok {
		return i, true
	}
	a.seen[key] = len(a.out.Commands)
	return 0, false
}

// key tells commands apart.
func (cmd *Command) key() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(cmd.Offset))
	b.WriteString("\x00" + cmd.Dir + "\x00" + cmd.Host + "\x00" + strconv.Itoa(len(cmd.Via)))
	for _, w := range cmd.Argv {
		b.WriteString("\x00" + w.Text)
		if w.Dynamic || w.Pattern {
			b.WriteString("\x01")
		}
	}
	for _, r := range cmd.Redirects {
		b.WriteString("\x02" + r.Op + r.Target.Text)
	}
	return b.String()
}

// shellFlags are the words of args that look like options.
func shellFlags(name string, args []Word) []string {
	var out []string
	for _, w := range args {
		text := w.Text
		if text == "--" {
			break
		}
		if len(text) < 2 || text[0] != '-' || len(text) > 256 {
			continue
		}
		if strings.HasPrefix(text, "--") {
			text, _, _ = spell.Cut(text, "=")
			out = append(out, text)
			continue
		}
		out = append(out, text)
		if len(text) > 2 && !losses.LongDash()[name] && len(text) < 16 {
			for _, r := range text[1:] {
				if r == '=' {
					break
				}
				out = append(out, "-"+string(r))
			}
		}
	}
	return out
}

// effect adds what a command does.
//
//go:noinline
func (a *analysis) effect(c *shCall, e Effect) {
	if c.muted && c.index >= 0 {
		return
	}
	a.add(e, shTarget{index: c.index, offset: c.offset, fr: c.fr})
}

// does is effect for one of which no more is known.
//
//go:noinline
func (a *analysis) does(c *shCall, kind EffectKind, d Domain, op, target string) {
	a.effect(c, Effect{Kind: kind, Domain: d, Op: op, Target: target})
}

// shTarget says who an effect is of.
type shTarget struct {
	op     string
	domain Domain
	index  int
	offset int
	fr     *shFrame
	muted  bool
	// recursive is Effect.Recursive.
	recursive bool
}

// target makes the effects of a command on files.
//
//go:noinline
func (c *shCall) target(op string) shTarget {
	return shTarget{op: op, domain: DomainFile, index: c.index, offset: c.offset, fr: c.fr, muted: c.muted}
}

// maxEffects bounds the list of effects.
const maxEffects = 4 * maxShellCommands

func (a *analysis) add(e Effect, t shTarget) {
	if t.muted {
		return
	}
	if len(a.out.Effects) >= maxEffects {
		a.full = true
		a.unknown(t.fr, shellTooMany, t.offset)
		return
	}
	e.Command, e.Offset, e.Host = t.index, t.offset, t.fr.host
	if e.Certainty == "" {
		e.Certainty = CertainKnown
	}
	if e.Certainty == CertainDynamic || e.Kind == EffectUnknown {
		a.out.Dynamic = true
	}
	a.out.Effects = append(a.out.Effects, e)
}
