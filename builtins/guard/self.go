package guard

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/builtins/toolfiles"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// SelfGuard is the name of the rule that keeps agents from changing the policy
// that judges them.
const SelfGuard = "self-guard"

var selfGuardRule = rule.Rule{
	Name: SelfGuard,
	Cost: 9 * time.Microsecond,
	Doc:  "keeps the files of this policy, the agents' settings that start hookc, its state and its programs from being changed; hookc adds it on its own to policies with managed or locked hooks, path-guard or shell-guard",
	Options: []rule.OptionSpec{
		{Name: "verdict", Type: policy.StringType, Doc: "ask or deny; not written: deny"},
	},
	New: func(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
		s := guardSetup{hook: h, opts: opts}
		g := &selfGuard{by: policy.By{Name: h.Name, At: h.Span}, verdict: s.verdict("verdict", policy.Deny), unsure: policy.None, own: &Self{}}
		if g.verdict == policy.Deny {
			g.unsure = h.Event.Spec().AskOrDeny()
		}
		s.needs(policy.FieldPath)
		return rule.Made{Runner: g, Effects: policy.Effects{
			Reads: policy.FieldPaths(policy.FieldShell, policy.FieldPath), World: policy.WorldRead, Spec: true, May: powersFor(g.verdict, g.unsure)}}, s.found
	},
}

// Self is what hookc and a policy consist of on this machine. The zero Self
// names nothing. It is safe for concurrent use.
type Self struct{ parts atomic.Pointer[selfParts] }

type selfParts struct {
	set pathSet
	// files are the absolute paths, for what must be compared with the disk.
	files []string
	// programs are hookc and hookgate.
	programs []string
	// secrets may not be read either.
	secrets pathSet
}

// Set replaces the list: files are absolute paths of files and folders, programs
// those of hookc and hookgate, secrets those that may not be read either.
func (s *Self) Set(files, programs []string, secrets ...string) {
	p := &selfParts{programs: programs}
	for i, list := range [][]string{files, programs, secrets} {
		for _, f := range list {
			f = paths.Slash(f)
			e, ok := newPathEntry(literalPath(f))
			if !ok || !filepath.IsAbs(f) {
				continue
			}
			e.rest, e.literal, e.text = strings.ToLower(strings.TrimPrefix(path.Clean(f), "/")), true, f
			p.set, p.files = append(p.set, e), append(p.files, f)
			if i == 2 {
				p.secrets = append(p.secrets, e)
			}
		}
	}
	s.parts.Store(p)
}

// literalPath is a path that newPathEntry reads whatever characters it holds.
func literalPath(p string) string { return shell.Globless.Replace(strings.ReplaceAll(p, "{", "_")) }

// Protect makes a runner of SelfGuard protect own; any other stays as it is.
func Protect(r policy.Runner, own *Self) {
	if g, ok := r.(*selfGuard); ok && own != nil {
		g.own = own
	}
}

// selfGuard judges what calls would do to hookc itself. unsure is its verdict on
// what it cannot tell, None where that is left to the policy.
type selfGuard struct {
	by              policy.By
	verdict, unsure policy.Verdict
	own             *Self
}

// compiledPolicies are artifacts, wherever they lie.
const compiledPolicies = ".hookc"

// Run judges a call by the files it would change and the commands it would run.
func (g *selfGuard) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	call := selfCall{g: g, ctx: ctx, at: &at, own: g.own.parts.Load(), says: guardSays{by: g.by}}
	if call.own == nil {
		call.own = &selfParts{}
	}
	kind := toolcall.KindOf(in.Text(policy.FieldToolName))
	if s, ok := toolcall.Shell(in); ok {
		call.shell(s, kind == toolcall.KindShell, 0)
	}
	if kind != toolcall.KindShell || toolfiles.PatchText(in) != "" {
		for _, f := range toolfiles.Of(in, kind) {
			if f.Writes && (!f.Guessed || call.names(f.Path)) {
				call.file(f.Path, kind == toolcall.KindMCP || kind == toolcall.KindOther)
			} else if p, ok := toolfiles.At(f.Path, at); ok {
				call.reads(&shell.Effect{Kind: shell.EffectRead, Certainty: shell.CertainKnown, Target: p})
			}
		}
	}
	return call.says.result(), nil
}

// selfCall is one call that is judged.
type selfCall struct {
	g    *selfGuard
	ctx  context.Context
	at   *shell.At
	own  *selfParts
	says guardSays
}

func (c *selfCall) deny(p, entry string) {
	c.says.add(c.g.verdict, func() string {
		part := "belongs to the policy that guards this session"
		if entry != p {
			part = "holds " + shown(entry) + ", which " + part
		}
		return fmt.Sprintf("%s %s, so an agent must not change it; instead: work on another file, and tell the user which change you suggest and why (it may be read: `cat %s`)",
			shown(p), part, quoting.Quote(entry))
	})
}

// file judges a file that a tool would write; whole says that the tool may do
// anything to it, as far as its name tells.
func (c *selfCall) file(text string, whole bool) {
	p, ok := toolfiles.At(text, *c.at)
	if !ok {
		c.says.add(c.g.verdict, func() string {
			return fmt.Sprintf("the path %q cannot be told, so it may be a file of hookc; instead: give an absolute path inside the project", shown(text))
		})
		return
	}
	c.path(p, whole)
}

// names reports whether a text that may be a path is one of hookc's.
func (c *selfCall) names(text string) bool {
	p, ok := toolfiles.At(text, *c.at)
	if !ok {
		return false
	}
	_, ok = c.own.holds(p, c.at)
	return ok
}

// path judges a known path.
func (c *selfCall) path(p string, whole bool) {
	for _, name := range withReal(p) {
		if entry, ok := c.own.holds(name, c.at); ok {
			c.deny(name, entry)
			return
		}
		if entry, ok := c.own.set.within(name, whole, c.at); ok && whole {
			c.deny(name, entry)
			return
		}
	}
	if entry, ok := c.own.linked(p); ok {
		c.deny(p, entry)
	}
}

// holds returns the part of hookc that p is, or is below.
func (o *selfParts) holds(p string, at *shell.At) (string, bool) {
	if entry, ok := o.set.match(p, at); ok {
		return entry, true
	}
	base := strings.ToLower(path.Base(p))
	return p, strings.HasSuffix(base, compiledPolicies) && base != compiledPolicies
}

// shell judges what a command line would do.
func (c *selfCall) shell(s *shell.Line, surely bool, depth int) {
	if surely && len(s.Unknown) > 0 && c.g.unsure != policy.None {
		c.says.add(c.g.unsure, func() string { return unreadable(s.Unknown[0]) })
	}
	links := c.links(s)
	for i := range s.Effects {
		e := &s.Effects[i]
		if !onFiles(e) {
			continue
		}
		c.effect(s, e)
		for _, p := range landings(s, e) {
			c.path(p, true)
			c.overlay(s, e, p)
		}
		for _, l := range links {
			if e.Certainty == shell.CertainKnown && e.Kind != shell.EffectRead && losses.IsUnder(l.name, e.Target) {
				c.path(path.Join(l.to, e.Target[len(l.name):]), true)
			}
		}
	}
	for i := range s.Commands {
		if cmd := &s.Commands[i]; cmd.Host == "" {
			c.command(s, cmd, depth)
		}
	}
}

func (c *selfCall) effect(s *shell.Line, e *shell.Effect) {
	c.copies(s, e)
	switch e.Kind {
	case shell.EffectWrite, shell.EffectDelete, shell.EffectPrivilege:
	case shell.EffectRead:
		c.reads(e)
		return
	default:
		return
	}
	switch e.Certainty {
	case shell.CertainKnown:
		c.path(e.Target, takesFolder(e, c.at))
		c.overlay(s, e, e.Target)
	case shell.CertainPattern:
		if e.Op != "rmdir" { // of what is empty
			c.pattern(e)
		}
	case shell.CertainDynamic:
		c.dynamic(e)
	}
}

// reads judges what is read: with the key of the webhook an agent could answer what it
// asks for.
func (c *selfCall) reads(e *shell.Effect) {
	if len(c.own.secrets) == 0 {
		return
	}
	if e.Certainty == shell.CertainDynamic && !strings.HasPrefix(e.Target, "/") {
		if base := strings.ToLower(path.Base(e.Target)); c.g.unsure != policy.None && (base == "webhook-key" || base == "approvals") {
			c.says.add(c.g.unsure, func() string {
				return fmt.Sprintf("%s may be a secret of hookc, because only the running shell knows its folder; instead: write the path out", shown(e.Target))
			})
		}
		return
	}
	names := []string{e.Target}
	if e.Certainty == shell.CertainKnown {
		names = withReal(e.Target)
	}
	for _, name := range names {
		found := *e
		found.Target = name
		entry, ok := touches(c.own.secrets, &found, c.at)
		if !ok && e.Certainty == shell.CertainKnown { // to list a folder reads nothing: what reads one takes what it holds
			entry, ok = c.own.secrets.within(name, true, c.at)
		}
		if ok {
			c.says.add(c.g.verdict, func() string {
				return fmt.Sprintf("%s holds the key with which approvals are answered (%s), so an agent must not read it; instead: look with `hookc approvals list`", shown(name), shown(entry))
			})
		}
	}
}

// pattern judges a glob.
func (c *selfCall) pattern(e *shell.Effect) {
	glob := strings.ToLower(e.Target)
	if entry, ok := c.own.set.match(losses.FixedPart(e.Target), c.at); ok {
		c.deny(e.Target, entry) // what find begins with is found as well
		return
	}
	for i := range c.own.set {
		if full := "/" + c.own.set[i].rest; losses.GlobTouches(glob, full) {
			c.deny(e.Target, c.own.set[i].text)
			return
		}
	}
}

// dynamic judges a path of which parts are known only at run time: what could be
// a part of hookc by the parts that are known may be it.
func (c *selfCall) dynamic(e *shell.Effect) {
	if c.g.unsure == policy.None {
		return
	}
	glob := dynamicGlob(e.Target)
	base := path.Base(glob)
	for i := range c.own.set {
		full := "/" + c.own.set[i].rest
		same := strings.HasPrefix(glob, "/") && !strings.HasPrefix(glob, "/*") && losses.GlobTouches(glob, full)
		if !same && !strings.HasPrefix(glob, "/") {
			for at := full; at != "/" && !same; at = path.Dir(at) {
				ok, err := path.Match(base, path.Base(at))
				same = ok || err != nil
			}
		}
		if same {
			c.says.add(c.g.unsure, func() string {
				return fmt.Sprintf("%s may be a file of hookc's policy, because only the running shell knows it; instead: write the path out", shown(e.Target))
			})
			return
		}
	}
}

// overlay judges what is copied over a folder by what the source holds, and
// what an archive may hold by where it is unpacked.
func (c *selfCall) overlay(s *shell.Line, e *shell.Effect, to string) {
	if e.Kind != shell.EffectWrite || e.Op != "copy" && e.Op != "extract" {
		return
	}
	for _, full := range c.own.files {
		if full == to || !losses.IsUnder(strings.ToLower(to), strings.ToLower(full)) {
			continue
		}
		if e.Op == "extract" {
			c.says.add(c.g.verdict, func() string {
				return fmt.Sprintf("an archive that is unpacked into %s may write over %s, which belongs to hookc's policy; instead: unpack it into a folder of its own, such as `mkdir -p unpacked`", shown(to), shown(full))
			})
			return
		}
		rel := strings.TrimPrefix(full[len(to):], "/")
		for _, from := range sourcesOf(s, e) {
			held := path.Join(from, rel)
			if exists(held) || shell.AnyEffect(s.Effects, func(w *shell.Effect) bool { return w.Kind == shell.EffectWrite && w.Target == held }) {
				c.deny(to, full)
				return
			}
		}
	}
}

// selfLink is a link that a command line makes before it goes on.
type selfLink struct{ name, to string }

// links lists the links of a command line, and judges those that lead to a part
// of hookc: what is later written through one could not be told.
func (c *selfCall) links(s *shell.Line) []selfLink {
	var out []selfLink
	for i := range s.Commands {
		cmd := &s.Commands[i]
		if !makesLinks(cmd) || cmd.Host != "" {
			continue
		}
		paths := operandPaths(cmd)
		if len(paths) > 1 && !keepsOwnName(cmd) && slices.ContainsFunc(paths[:len(paths)-1], c.isProgramOrGlob) {
			c.renames(strings.Join(paths[:len(paths)-1], " "))
		}
		for j, p := range paths {
			name := paths[len(paths)-1]
			for _, full := range append([]string{p}, path.Join(path.Dir(name), cmd.Argv[min(1+j, len(cmd.Argv)-1)].Text)) {
				if entry, ok := c.own.set.match(full, c.at); ok {
					c.deny(full, entry)
				} else if entry, ok := c.own.set.within(full, false, c.at); ok && j < len(paths)-1 {
					c.deny(full, entry)
				}
			}
			if j < len(paths)-1 {
				out = append(out, selfLink{name, p})
			}
		}
	}
	return out
}

// makesLinks reports whether a command makes links of its operands.
func makesLinks(c *shell.Command) bool {
	switch c.Name {
	case "ln", "gln", "link":
		return true
	case "cp", "gcp":
		return slices.ContainsFunc(c.Flags, func(f string) bool { return f == "-l" || f == "-s" || f == "--link" || f == "--symbolic-link" })
	}
	return false
}

// expansionOf is what a running shell puts in the place of, from the first bracket
// to the last.
var expansionOf = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)\\$\\(.*\\)|\\$\\{[^}]*\\}|\\$\\w*|`[^`]*`?")
})

// dynamicGlob is a path with `*` for each part that is not known.
func dynamicGlob(p string) string { return strings.ToLower(expansionOf().ReplaceAllString(p, "*")) }
