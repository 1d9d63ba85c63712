package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

// shRule is one thing a tool does that cannot be undone: the tool, the words
// of its command, and what that is.
type shRule struct {
	// words must follow each other among the first operands; alternatives are
	// joined with |, * is any text in a word, <> a word that is not known.
	words []string
	// need are options of which one must be there, not those that make it
	// harmless.
	need, not []string
	// kind is "" for what is harmless.
	kind   EffectKind
	domain Domain
	op     string
	// first is true where the words must be the first operands.
	first bool
}

// shTool is how the options of a tool of the rules are written.
type shTool struct {
	short, long string
	how         int
	// domain is that of what the lexicon finds, "" for a tool it is not asked of.
	domain Domain
	// agent is true for one that runs calls of tools, as its settings say.
	agent bool
}

// dryRuns are the options with which nothing happens, for every tool, without the
// dashes inside of them.
var dryRuns = losses.Words("--dryrun --help --version --whatif --noop --checkonly --planonly --pretend --justprint --noact --simulate --preview --previewonly --printsql --dumpsql --assumeno -help")

// shRuleTable are the rules by tool, and shToolTable how the tools read their
// options; rulesOf and toolOf read them.
var (
	shRuleTable = map[string][]shRule{}
	shToolTable = map[string]shTool{}
)

//go:noinline
func rulesOf(name string) []shRule {
	shFilled()
	return shRuleTable[name]
}

//go:noinline
func toolOf(name string) shTool {
	shFilled()
	return shToolTable[name]
}

// applyRules adds the effects of the first rule of a tool that matches, or else
// of what the lexicon finds. A credential it prints is its value.
func (a *analysis) applyRules(c *shCall, tool string, args []Word) shValue {
	t := toolOf(tool)
	o := options(args, t.short, t.long, t.how)
	if losses.Builds()[tool] {
		a.builtTool(c, &o)
	}
	v, found := a.ruled(c, tool, &o)
	if c.fr.out != nil && v.origin().kind != credential && !WordIn(tool, "git cargo go") && !o.dry() && lexCredential(&o, true) {
		return shUnknown("$("+c.name+")", shOrigin{credential, strings.TrimSpace(c.name + " " + strings.Join(WordTexts(o.operands), " "))})
	}
	if !found && t.domain != "" {
		a.lexicon(c, t.domain, args)
	} else if c.fr.out == nil && !WordIn(tool, "git cargo go") && !o.dry() && v.origin().kind != credential && lexCredential(&o, true) {
		a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: strings.Join(WordTexts(args), " ")})
	}
	return v
}

// ruled adds the effects of the first rule of a tool that matches.
func (a *analysis) ruled(c *shCall, tool string, o *shOpts) (v shValue, found bool) {
	for _, r := range rulesOf(tool) {
		rest, ok := r.matches(o)
		switch {
		case !ok:
			continue
		case r.op == credential:
			return shUnknown("$("+c.name+")", shOrigin{credential, strings.TrimSpace(c.name + " " + strings.Join(WordTexts(o.operands), " "))}), true
		case r.kind == EffectGitHistory:
			a.gitLoss(c, r.op, strings.Join(WordTexts(rest), " "))
		case r.kind != "":
			if r.op == "service-stop" && len(rest) == 0 {
				rest = o.operands[:min(1, len(o.operands))]
			}
			a.resource(c, r.kind, r.domain, r.op, rest)
		}
		return printsText(a, c), true
	}
	return printsText(a, c), false
}

// builtTool applies the rules of the database tool that a task of a build tool
// names: flyway:clean, flywayClean, org.liquibase:liquibase-maven-plugin:dropAll.
func (a *analysis) builtTool(c *shCall, o *shOpts) {
	for _, w := range o.operands {
		tokens := losses.Tokens(w.Text)
		for i, t := range tokens[:max(len(tokens)-1, 0)] {
			if toolOf(t).domain == DomainDatabase || WordIn(t, "flyway liquibase") {
				a.applyRules(c, t, []Word{NewWord(strings.TrimPrefix(strings.Join(tokens[i+1:], "-"), "maven-plugin-"))})
			}
		}
	}
}

// matches reports whether the rule says something of these arguments, and
// returns the operands after its words.
func (r *shRule) matches(o *shOpts) ([]Word, bool) {
	if len(r.need) > 0 && !slices.ContainsFunc(r.need, o.needs) || o.dry() || slices.ContainsFunc(r.not, o.needs) {
		return nil, false
	}
	starts := 3
	if r.first || r.kind == "" && r.domain == DomainCloud {
		starts = 1 // account is a command of az, and a word of others
	}
	for start := 0; start < starts && start+len(r.words) <= len(o.operands); start++ {
		if matchWords(r.words, o.operands[start:]) {
			end := start + len(r.words)
			if len(r.words) > 0 && r.words[len(r.words)-1] == "<>" {
				end-- // what is not known is what it is done to
			}
			return o.operands[end:], true
		}
	}
	return nil, false
}

// needs reports whether an option is there; name=value wants that value.
func (o *shOpts) needs(want string) bool {
	name, value, valued := spell.Cut(want, "=")
	switch {
	case !valued && o.shortened:
		return o.has(name)
	case !valued:
		return o.exact(name)
	}
	return slices.ContainsFunc(o.values(name), func(w Word) bool { return strings.EqualFold(w.Text, value) || matchWord(value, w) })
}

var withoutDashes = strings.NewReplacer("-", "", "_", "")

// dry reports whether options, or help as the last word, say that nothing happens.
func (o *shOpts) dry() bool {
	for _, opt := range o.list {
		dashes := opt.name[:strings.IndexFunc(opt.name+"x", func(r rune) bool { return r != '-' })]
		if dryRuns()[dashes+strings.ToLower(withoutDashes.Replace(opt.name))] && !(opt.set && (opt.value.Is("false", "none", "no", "0") || opt.name == "--version")) {
			return true
		}
	}
	return len(o.operands) > 1 && (o.operands[len(o.operands)-1].Is("help") || o.first("help"))
}

func matchWords(words []string, operands []Word) bool {
	for i, w := range words {
		for alt, rest, more := spell.Cut(w, "|"); !matchWord(alt, operands[i]); alt, rest, more = spell.Cut(rest, "|") {
			if !more {
				return false
			}
		}
	}
	return true
}

func matchWord(want string, w Word) bool {
	if want == "<>" {
		return w.Dynamic || w.Pattern || w.Text == "*"
	}
	before, after, open := spell.Cut(want, "*")
	if some, ok := spell.CutSuffix(w.Text, "*"); ok && len(some) > 2 && strings.HasPrefix(before, some) {
		return true // a pattern of the program's own
	}
	if strings.Contains(after, "*") {
		return losses.GlobMatch(want, w.Text)
	}
	if open {
		return len(w.Text) >= len(before)+len(after) && strings.HasPrefix(w.Text, before) && strings.HasSuffix(w.Text, after)
	}
	return want == w.Text
}

// credential is the op, and the origin, of a secret that a program prints.
const credential = "read-secret"

// settings is the origin of what may hold secrets among much else.
const settings = "settings"

// lossKinds are what the marks of the table of losses mean.
var lossKinds = map[byte]EffectKind{0: EffectDelete, '+': EffectWrite, '%': EffectExec, '^': EffectPrivilege, '$': EffectRead, '?': ""}

// fillLosses takes over the table of losses.
func fillLosses() {
	for _, t := range losses.Tools() {
		tool := shTool{short: t.Short, long: t.Long}
		if t.Dash {
			tool.how = optDash
		}
		if !t.Quiet {
			tool.domain = Domain(t.Domain)
		}
		tool.agent = slices.ContainsFunc(t.Entries, func(e losses.Entry) bool { return e.Op == "agent-unguarded" })
		var rules []shRule
		for _, e := range t.Entries {
			r := shRule{words: e.Words, need: e.Need, not: e.Not, kind: lossKinds[e.Mark], domain: Domain(e.Domain), op: e.Op, first: t.First}
			switch {
			case r.kind == EffectRead:
				r.op = credential
			case r.kind == EffectDelete && r.domain == DomainGit:
				r.kind = EffectGitHistory
			}
			rules = append(rules, r)
		}
		for _, name := range t.Names {
			if _, known := shToolTable[name]; !known {
				shToolTable[name] = tool
			}
			shRuleTable[name] = append(shRuleTable[name], rules...)
		}
	}
}
