package guard

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/builtins/links"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/builtins/toolfiles"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var pathGuardRule = rule.Rule{
	Name: "path-guard",
	Cost: 7 * time.Microsecond,
	Doc:  "denies file tools and shell commands that would change protected files: by default the agents' and hookc's own configuration",
	Options: []rule.OptionSpec{
		{Name: "protect", Texts: true, Doc: "files and folders that must not be changed or deleted: src/gen, ~/x, /etc, **/*.lock"},
		{Name: "hide", Texts: true, Doc: "files and folders that must not be read either: **/.env"},
		{Name: "allow", Texts: true, Doc: "exceptions from both"},
		{Name: "agents", Type: policy.BoolType, Doc: "whether the agents' own configuration is protected; not written: true"},
		{Name: "outside", Type: policy.StringType, Doc: "ask or deny changes by file tools outside of the project and temporary folders; not written: no opinion"},
		unknownOption,
	},
	New: newPathGuard,
}

// agentFiles are where agents and hookc keep what they are told to run and
// what they may do: a change of them can switch every guard off.
func agentFiles() []string {
	return append([]string{
		".hookc", "hooks.yaml", "hooks.yml", "~/.config/hookc", "~/.local/state/hookc", "~/Library/Application Support/hookc", "/etc/hookc",
	}, agent.Protected()...)
}

// pathGuard judges the files that calls change or read.
type pathGuard struct {
	by                     policy.By
	protect, hidden, allow pathSet
	outside, unknown, asks policy.Verdict
}

func newPathGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &pathGuard{by: policy.By{Name: h.Name, At: h.Span}, unknown: s.unknown(), asks: h.Event.Spec().AskOrDeny()}
	protect := opts.Texts("protect")
	agents := []string(nil)
	if s.flag("agents", true) {
		agents = agent.Protected()
		protect = append(protect[:len(protect):len(protect)], agentFiles()...)
	}
	g.protect = s.paths("protect", protect)
	for i := range g.protect {
		g.protect[i].deep = lists.Has(agents, g.protect[i].text)
	}
	g.hidden = s.paths("hide", opts.Texts("hide"))
	g.allow = s.paths("allow", s.exceptions("allow"))
	if _, ok := opts["outside"]; ok {
		g.outside = s.verdict("outside", policy.Ask)
	}
	if len(g.protect)+len(g.hidden) == 0 && g.outside == policy.None && !s.found.HasErrors() {
		s.found.Add(rule.CodeOptionMissing.Report(rule.UseSpan(h), "path-guard without protect, hide, outside and agents guards nothing"))
	}
	s.needs(policy.FieldPath)
	return rule.Made{
		Runner: g,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldShell, policy.FieldPath), World: policy.WorldRead, Spec: true,
			May: powersFor(policy.Deny, g.unknown, g.asks, g.outside)},
	}, s.found
}

// Run judges a call by the files it names, as they are written and as they are
// with symbolic links followed.
func (g *pathGuard) Run(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	says := guardSays{by: g.by}
	kind := toolcall.KindOf(in.Text(policy.FieldToolName))
	if s, ok := toolcall.Shell(in); ok {
		g.shell(&says, s, &at, kind == toolcall.KindShell)
	}
	if kind != toolcall.KindShell || toolfiles.PatchText(in) != "" {
		tool, deed := in.Text(policy.FieldToolName), toolfiles.Deed(in, kind)
		takes := toolfiles.TakesAway(tool) && (deed != "write" || kind != toolcall.KindEdit) // an editor replaces text
		for _, f := range toolfiles.Of(in, kind) {
			g.file(&says, f, tool, deed, takes, at)
		}
	}
	return says.result(), nil
}

// file judges a file that a tool names. takes says that a folder is taken with
// all that is in it.
func (g *pathGuard) file(says *guardSays, f toolfiles.File, tool, deed string, takes bool, at shell.At) {
	p, ok := toolfiles.At(f.Path, at)
	if !ok {
		if f.Writes && !f.Guessed {
			says.add(g.unknown, func() string {
				return fmt.Sprintf("the path %q cannot be told, so it may be a protected file; instead: give an absolute path inside the project", shown(f.Path))
			})
		}
		return
	}
	if strings.ContainsAny(p, losses.GlobChars) && !f.Guessed && (f.Writes || strings.Trim(path.Base(p), "*") != "") {
		e := shell.Effect{Kind: shell.EffectRead, Domain: shell.DomainFile, Target: p, Certainty: shell.CertainPattern}
		if f.Writes {
			e.Kind = shell.EffectWrite
		}
		g.effect(says, &e, &at)
	}
	for _, name := range withReal(p) {
		g.path(says, name, f.Writes, &at)
		if takes && f.Writes && !f.Guessed {
			g.effect(says, &shell.Effect{Kind: shell.EffectDelete, Domain: shell.DomainFile, Target: name, Certainty: shell.CertainKnown, Recursive: true}, &at)
		}
		if f.Writes && !f.Guessed && g.outside != policy.None && at.Root != "" && !at.InProject(name) && !at.InTemp(name) && !g.allowed(name, &at) {
			says.add(g.outside, func() string {
				return fmt.Sprintf("%s is outside of the project; instead: write inside %s or into a temporary folder, and let the user move it", shown(name), at.Root)
			})
		}
		if !(f.Guessed && f.Writes) && deed != "" && !g.allowed(name, &at) {
			g.place(says, name, tool, deed, at)
		}
		if root, err := paths.Real(at.Root, "/"); err == nil && at.Root != "" {
			at.Root = root // of where the links lead
		}
	}
}

// place judges a file that a tool shows, writes or deletes as shell-guard does, by what
// it holds and where it lies. Settings of agents are left to the list.
func (g *pathGuard) place(says *guardSays, p, tool, deed string, at shell.At) {
	at.Root = lists.First(at.Root, at.Cwd)
	e := &shell.Effect{Kind: shell.EffectKind(deed), Domain: shell.DomainFile, Op: deed, Certainty: shell.CertainKnown, Recursive: deed == "delete", Target: p}
	if deed == "config" {
		e.Kind = shell.EffectRead
	}
	s := shell.Parse("cat", at)
	s.Commands[0].Name = tool
	e.Place, e.Secret = at.ZoneOf(p)
	a := judgeEffect(s, e)
	switch {
	case a == nil || a == adviceAgentSettings || a == adviceHookc:
	case a == adviceDeleteOutside && (losses.IsUnder(at.Root, p) || e.Place == shell.ZoneOther && !isFolder(p, false) && !isFile(p)): // the project holds the home; a thing of no disk
	case deed == "write" && (a == adviceWriteShared || a == adviceWriteSystem && !whoMay().MatchString(p)): // outside says what becomes of it
	case deed == "write" && (p == "/" || path.Dir(p) == path.Dir(at.Home)):
	default:
		v := lists.First(a.verdict, g.unknown)
		if v == policy.Ask {
			v = g.asks
		}
		says.add(v, func() string { return a.reason(s, e) })
	}
}

// whoMay is where a system says who may do what on it, and what it starts.
var whoMay = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:/private)?/etc/(?:sudoers|cron|anacron|ld\.so|passwd|shadow|gshadow|group|ssh/|pam|security/|profile|bash|zsh|environment|systemd/|init|rc|apt/)|^(?:/System)?/Library/Launch|^/(?:usr/)?lib/systemd/|^/proc/|^/sys/|^/boot/`)
})

// withReal is a path, and where it leads when links are followed if that is
// elsewhere.
//
//go:noinline
func withReal(p string) []string {
	if target, err := paths.Real(p, "/"); err == nil && target != p {
		return []string{p, target}
	}
	return []string{p}
}

//go:noinline
func (g *pathGuard) allowed(p string, at *shell.At) bool {
	_, ok := g.allow.match(p, at)
	return ok
}

func (g *pathGuard) path(says *guardSays, p string, writes bool, at *shell.At) {
	if g.allowed(p, at) {
		return
	}
	if name, ok := g.hidden.match(p, at); ok {
		says.add(policy.Deny, func() string { return hiddenReason(p, name) })
	}
	if !writes {
		return
	}
	if name, ok := g.protect.match(p, at); ok {
		says.add(policy.Deny, func() string { return protectedReason(p, name) })
	}
}

func protectedReason(p, entry string) string {
	return fmt.Sprintf("%s is protected (%s): it decides what agents may do here, or the policy names it; instead: work on another file, and tell the user which change you suggest and why (it may be read: `cat %s`)",
		shown(p), entry, quoting.Quote(p))
}

func hiddenReason(p, entry string) string {
	return fmt.Sprintf("%s must not be read or changed (%s); instead: ask the user for what you need, or look at what is beside it (`ls -la`)", shown(p), entry)
}

// shell judges what a command line would do to files of this machine.
func (g *pathGuard) shell(says *guardSays, s *shell.Line, at *shell.At, surely bool) {
	if surely && len(s.Unknown) > 0 {
		says.add(g.unknown, func() string { return unreadable(s.Unknown[0]) })
	}
	l := links.New(*at)
	for i := range s.Effects {
		e := &s.Effects[i]
		if !onFiles(e) {
			continue
		}
		g.effect(says, e, at)
		lands := landings(s, e)
		if ofFile(e) {
			to, _ := follow(s, e, &l)
			for _, p := range to {
				if !folderWrites[e.Op] || isFolder(p, false) { // else the link is replaced
					lands = append(lands, p)
				}
			}
			makeLinks(s, i, &l)
		}
		for _, p := range lands {
			landed := *e
			landed.Target = p
			g.effect(says, &landed, at)
		}
	}
	g.changed(says, s, at)
}

// onFiles reports whether an effect is one on files here: what is run as another user is none.
func onFiles(e *shell.Effect) bool {
	return e.Host == "" && (e.Domain == shell.DomainFile || e.Domain == shell.DomainPermission && (e.Kind != shell.EffectPrivilege || e.Op == "setuid"))
}

func (g *pathGuard) effect(says *guardSays, e *shell.Effect, at *shell.At) {
	writes := e.Kind == shell.EffectWrite || e.Kind == shell.EffectDelete || e.Kind == shell.EffectPrivilege && e.Domain == shell.DomainPermission
	if !writes && e.Kind != shell.EffectRead {
		return
	}
	if e.Certainty == shell.CertainDynamic {
		if g.dynamic(says, e, writes, at); !strings.HasPrefix(e.Target, "/") {
			return
		}
	}
	if e.Certainty == shell.CertainKnown && !writes && len(g.hidden) == 0 || e.Certainty == shell.CertainKnown && g.allowed(e.Target, at) {
		return
	}
	names := []string{e.Target}
	if e.Certainty == shell.CertainKnown {
		names = withReal(e.Target)
	}
	for _, name := range names {
		found := *e
		found.Target = name
		if entry, ok := touches(g.hidden, &found, at); ok {
			says.add(policy.Deny, func() string { return hiddenReason(name, entry) })
		}
		if entry, ok := touches(g.protect, &found, at); ok && writes {
			says.add(policy.Deny, func() string { return protectedReason(name, entry) })
		}
	}
}

// dynamic judges a file of which parts are not known: one that could be a protected file
// by the parts that are may be it.
func (g *pathGuard) dynamic(says *guardSays, e *shell.Effect, writes bool, at *shell.At) {
	found := *e
	found.Certainty, found.Target = shell.CertainPattern, expansionOf().ReplaceAllString(e.Target, "*")
	_, tail, _ := spell.Cut(strings.ToLower(found.Target[strings.LastIndexByte(found.Target, '*')+1:]), "/")
	base := strings.ToLower(path.Base(e.Target))
	may := func(set pathSet) bool {
		if strings.HasPrefix(e.Target, "/") {
			_, ok := touches(set, &found, at)
			return ok && !losses.IsUnder(losses.FixedPart(found.Target), at.Root)
		}
		return slices.ContainsFunc(set, func(e pathEntry) bool {
			rest, more := strings.TrimRight(e.rest, "*/"), e.from == '.' || e.from == '*'
			for ; more; _, rest, more = spell.Cut(rest, "/") {
				if rest != "" && strings.HasPrefix(tail, rest+"/") {
					return true
				}
			}
			return e.literal && path.Base(e.rest) == base
		})
	}
	if writes && may(g.protect) || may(g.hidden) {
		says.add(g.unknown, func() string {
			return fmt.Sprintf("%s may be a protected file, because only the running shell knows its folder; instead: write the path out", shown(e.Target))
		})
	}
}
