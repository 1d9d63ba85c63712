package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/builtins/harm"
	"github.com/hookc/hookc/builtins/links"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var shellGuardRule = rule.Rule{
	Name: "shell-guard",
	Cost: 6 * time.Microsecond,
	Doc:  "denies shell commands that would destroy what cannot be had back, run code from elsewhere or give secrets away; asks about what it cannot read",
	Options: []rule.OptionSpec{
		{Name: "packs", Texts: true, Doc: "what is judged: " + strings.Join(packNames(), ", ") + ", or all; not written: core and git"},
		{Name: "ask", Texts: true, Doc: "packs whose findings are asked about rather than denied"},
		{Name: "allow", Texts: true, Doc: "commands that are let through, `*` being any text: git push --force origin preview/*"},
		{Name: "allow_paths", Texts: true, Doc: "files and folders that may be deleted and written"},
		{Name: "protect", Texts: true, Doc: "further files and folders that must not be deleted or written"},
		{Name: "max_bytes", Type: policy.NumberType, Doc: "the longest command line that is read; not written: 131072"},
		unknownOption,
	},
	New: newShellGuard,
}

// shellPack is a set of packs, one bit each.
type shellPack uint16

// The packs, in the order of their names.
const (
	packCore shellPack = 1 << iota
	packGit
	packDisk
	packPermissions
	packDatabase
	packContainers
	packKubernetes
	packCloud
	packSystem
	packStrict

	packAll = packSystem<<1 - 1
	// packFiles are those that judge files.
	packFiles = packCore | packGit | packDisk | packPermissions
)

// shellPacks say what each pack judges.
var shellPacks = []struct {
	name string
	pack shellPack
	doc  string
}{
	{"core", packCore, "files outside the project and temporary folders, the project as a whole, devices, code from elsewhere, secrets that are shown or sent"},
	{"git", packGit, "commits, refs, stashes and uncommitted work that are lost"},
	{"disk", packDisk, "devices, partitions, volumes and file systems"},
	{"permissions", packPermissions, "rights on the machine's own files, setuid, capabilities"},
	{"database", packDatabase, "tables, rows, databases and migrations that are dropped, emptied or reset"},
	{"containers", packContainers, "volumes, prunes, other machines, mounts of the whole host"},
	{"kubernetes", packKubernetes, "namespaces, volumes, nodes, releases and all of a kind"},
	{"cloud", packCloud, "cloud resources, infrastructure, hosted apps, repositories, published packages, secrets"},
	{"system", packSystem, "shutdown, services, users, firewall, crontab, network, boot, kernel"},
	{"strict", packStrict, "what the other packs only ask about is denied; not one of all"},
}

//go:noinline
func packNames() []string {
	out := make([]string, len(shellPacks))
	for i, p := range shellPacks {
		out[i] = p.name
	}
	return out
}

// shellGuard judges the effects of a command line.
type shellGuard struct {
	by         policy.By
	packs, ask shellPack
	asks       policy.Verdict
	unknown    policy.Verdict
	maxBytes   int
	allow      []string
	free, kept pathSet
}

func newShellGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &shellGuard{by: policy.By{Name: h.Name, At: h.Span}, packs: packCore | packGit, asks: h.Event.Spec().AskOrDeny()}
	if _, ok := opts["packs"]; ok {
		g.packs = s.packs("packs")
	}
	g.ask = s.packs("ask")
	g.unknown = s.unknown()
	g.maxBytes = s.size("max_bytes", shell.MaxBytes, 8*shell.MaxBytes)
	g.allow = s.exceptions("allow")
	g.free = s.paths("allow_paths", s.exceptions("allow_paths"))
	g.kept = s.paths("protect", opts.Texts("protect"))
	s.needs(policy.FieldCommand)
	return rule.Made{
		Runner: g,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldShell), May: powersFor(policy.Deny, g.asks, g.unknown),
			World: policy.WorldRead, Spec: true},
	}, s.found
}

// packs reads an option that lists packs.
func (s *guardSetup) packs(name string) shellPack {
	var out shellPack
	for _, text := range s.opts.Texts(name) {
		i := slices.Index(packNames(), text)
		switch {
		case text == "all":
			out |= packAll
		case i >= 0:
			out |= shellPacks[i].pack
		default:
			s.found.Add(codeGuardPack.Report(rule.OptionSpan(s.opts[name]), "no pack is called %q", text).
				WithHint("%s", diag.DidYouMean(text, packNames(), "there are "+strings.Join(packNames(), ", ")+"; or all")))
		}
	}
	return out
}

// paths reads an option that lists files and folders.
func (s *guardSetup) paths(name string, texts []string) pathSet {
	set, bad := newPathSet(texts)
	for _, text := range bad {
		s.found.Add(rule.CodeOptionValue.Report(rule.OptionSpan(s.opts[name]), "%s: %q is not a path or glob", name, text))
	}
	return set
}

// Run judges a shell call, and says nothing of other calls. It returns no
// error: what cannot be read gets the guard's own verdict.
func (g *shellGuard) Run(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
	s, surely, trouble := g.read(in)
	says := guardSays{by: g.by}
	if trouble != "" {
		says.add(g.unknown, func() string { return unreadable(trouble) })
		return says.result(), nil
	}
	if s == nil {
		return policy.Result{}, nil
	}
	var at shell.At
	looks := g.packs&packFiles != 0 && len(s.Effects) > 0 || len(g.kept) > 0
	if looks || len(g.free) > 0 {
		at = shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	}
	follow := links.New(at)
	for i := range s.Effects {
		e := &s.Effects[i]
		if e.Kind == shell.EffectUnknown && !surely {
			continue
		}
		g.finds(&says, s, e, g.judge(s, e, &at))
		if looks && says.verdict != policy.Deny && ofFile(e) {
			g.linked(&says, s, i, &follow)
		}
	}
	g.harms(&says, s, in)
	if g.packs&packCore != 0 && mentionsHookc(s) {
		own := selfCall{at: &at, g: &selfGuard{by: g.by, verdict: g.asks}, own: &selfParts{}, says: says}
		for i := range s.Commands {
			own.byName(s, &s.Commands[i], g.lets)
		}
		says = own.says
	}
	return says.result(), nil
}

// finds adds what there is to say against an effect, if anything.
func (g *shellGuard) finds(says *guardSays, s *shell.Line, e *shell.Effect, a *shellAdvice) {
	if a != nil {
		says.add(g.verdict(a), func() string { return a.reason(s, e) })
	}
}

// read returns the analysis of a shell call, nil for any other. surely is
// false when it is not sure that the text is shell at all: an unknown tool may
// call anything its command. trouble says why nothing could be read.
func (g *shellGuard) read(in *policy.Context) (s *shell.Line, surely bool, trouble string) {
	surely = toolcall.KindOf(in.Text(policy.FieldToolName)) == toolcall.KindShell
	line, ok := toolcall.Command(in)
	if input, _ := in.Get(policy.FieldToolInput); !ok && surely && !emptyInput(input) {
		return nil, true, "the call has no command line that is known"
	}
	if n := len(line); n > g.maxBytes {
		return nil, surely, fmt.Sprintf("the command line has %d bytes and at most %d are read", n, g.maxBytes)
	}
	if surely && toolcall.Unreadable(in) {
		return nil, true, "the call has a command line that is no text"
	}
	if len(line) > shell.MaxBytes {
		return toolcall.Parse(in, g.maxBytes), surely, ""
	}
	s, _ = toolcall.Shell(in)
	return s, surely, ""
}

func emptyInput(v any) bool {
	input, ok := v.(map[string]any)
	return v == nil || ok && len(input) == 0
}

//go:noinline
func unreadable(why string) string {
	return why + ", so the guard cannot tell what it would do; instead: run one short, plain command at a time, such as `ls -la`, and put long text into a file with the file tool"
}

// verdict is what the guard says of a finding.
func (g *shellGuard) verdict(a *shellAdvice) policy.Verdict {
	switch {
	case a.verdict == policy.None:
		return g.unknown
	case a.verdict == policy.Ask && g.packs&packStrict == 0, a.packs&g.packs&^g.ask == 0:
		return g.asks
	}
	return policy.Deny
}

// judge returns what there is to say against an effect, or nil.
func (g *shellGuard) judge(s *shell.Line, e *shell.Effect, at *shell.At) *shellAdvice {
	a := judgeEffect(s, e)
	if changes := e.Kind == shell.EffectDelete || e.Kind == shell.EffectWrite || e.Kind == shell.EffectGitHistory; a != nil && changes && (a.packs&packCore == 0 || e.Domain == shell.DomainOutside) && e.Command >= 0 && e.Domain != shell.DomainFile && harm.ThrownAway(s, e) || a != nil && e.Op == "upload" && e.Command >= 0 && harm.Dry(&s.Commands[e.Command]) {
		a = nil
	}
	if len(g.kept) > 0 && (e.Kind == shell.EffectDelete || e.Kind == shell.EffectWrite) && e.Domain == shell.DomainFile && e.Host == "" && g.protects(e, at) {
		a = adviceProtected
	}
	return g.counts(a, s, e, at)
}

// counts is what is left of an advice when the packs and the exceptions are looked at.
func (g *shellGuard) counts(a *shellAdvice, s *shell.Line, e *shell.Effect, at *shell.At) *shellAdvice {
	if a == nil || a.packs&g.packs == 0 {
		return nil
	}
	if len(g.allow) > 0 && e.Command >= 0 && g.lets(&s.Commands[e.Command]) {
		return nil
	}
	if len(g.free) > 0 && a != adviceProtected && (e.Kind == shell.EffectDelete || e.Kind == shell.EffectWrite) && e.Certainty == shell.CertainKnown && e.Host == "" {
		if _, ok := g.free.match(e.Target, at); ok {
			return nil
		}
	}
	return a
}

func (g *shellGuard) protects(e *shell.Effect, at *shell.At) bool {
	_, ok := touches(g.kept, e, at)
	return ok
}

// touches returns the entry of a set that an effect on a file changes.
func touches(set pathSet, e *shell.Effect, at *shell.At) (string, bool) {
	if text, ok := set.match(e.Target, at); ok || e.Op == "rmdir" { // of a folder that is empty
		return text, ok
	}
	if e.Certainty == shell.CertainPattern {
		text, ok := set.globbed(e, at)
		if ok || !takesFolder(e, at) {
			return text, ok
		}
		return set.globTakes(e.Target, at)
	}
	if takesFolder(e, at) {
		return set.within(e.Target, e.Recursive, at)
	}
	return "", false
}

// lets reports whether an exception names the command, of which every word
// must be known.
func (g *shellGuard) lets(c *shell.Command) bool {
	if c.Dynamic {
		return false
	}
	return wildcardAny(g.allow, strings.Join(shell.WordTexts(c.Argv), " "))
}
