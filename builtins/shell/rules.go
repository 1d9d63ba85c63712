package shell

import (
	"slices"
	"strings"
)

// shRule is one thing a tool does that cannot be undone: the tool, the words
// of its command, and what that is.
type shRule struct {
	tools string
	// words must follow each other among the first operands; alternatives are
	// joined with |, * is any word, a final * any ending.
	words string
	// need are options of which one must be there, not those that make it
	// harmless.
	need, not string
	kind      EffectKind
	domain    Domain
	op        string
}

// shTool is how the options of a tool of the rules are written.
type shTool struct {
	short, long string
	how         int
	// own is true when the tool's own reader applies the rules.
	own bool
}

// dryRuns are the options with which nothing happens, for every tool.
var dryRuns = []string{"--dry-run", "--dryrun", "--help", "--version", "--what-if", "--dry_run", "--noop", "--check-only", "--plan-only"}

// shRuleTable are the rules by tool, and shToolTable how the tools read their
// options; rulesOf and toolOf read them.
var (
	shRuleTable = map[string][]shRule{}
	shToolTable = map[string]shTool{}
)

func rulesOf(name string) []shRule {
	shFilled()
	return shRuleTable[name]
}

func toolOf(name string) shTool {
	shFilled()
	return shToolTable[name]
}

func rulesFor(tool shTool, list []shRule) {
	for _, r := range list {
		for name := range strings.FieldsSeq(r.tools) {
			if shRuleTable[name] == nil {
				if !tool.own {
					programs((*analysis).ruled, name)
				}
				shToolTable[name] = tool
			}
			shRuleTable[name] = append(shRuleTable[name], r)
		}
	}
}

// ruled is a program that is read by the rules.
func (a *analysis) ruled(c *shCall) shValue {
	a.applyRules(c, c.name, c.args())
	return printsText(a, c)
}

// applyRules adds the effects of the rules of a tool that match.
func (a *analysis) applyRules(c *shCall, tool string, args []Word) {
	t := toolOf(tool)
	o := options(args, t.short, t.long, t.how)
	for _, r := range rulesOf(tool) {
		if rest, ok := r.matches(&o); ok {
			a.resource(c, r.kind, r.domain, r.op, rest)
			return
		}
	}
}

// matches reports whether the rule says something of these arguments, and
// returns the operands after its words.
func (r *shRule) matches(o *shOpts) ([]Word, bool) {
	if r.need != "" && !slices.ContainsFunc(strings.Fields(r.need), func(n string) bool { return o.needs(n) }) {
		return nil, false
	}
	if o.dry() || r.not != "" && o.exact(strings.Fields(r.not)...) {
		return nil, false
	}
	words := strings.Fields(r.words)
	if len(words) == 0 {
		return o.operands, true
	}
	for start := 0; start < 3 && start+len(words) <= len(o.operands); start++ {
		if matchWords(words, o.operands[start:]) {
			return o.operands[start+len(words):], true
		}
	}
	return nil, false
}

// needs reports whether an option is there; name=value wants that value.
func (o *shOpts) needs(want string) bool {
	name, value, valued := strings.Cut(want, "=")
	if !valued {
		return o.exact(name)
	}
	return slices.ContainsFunc(o.values(name), func(w Word) bool { return strings.EqualFold(w.Text, value) })
}

func (o *shOpts) dry() bool {
	for _, opt := range o.list {
		if slices.Contains(dryRuns, opt.name) && !(opt.set && opt.value.Is("false", "none")) {
			return true
		}
	}
	return false
}

func matchWords(words []string, operands []Word) bool {
	for i, w := range words {
		if !slices.ContainsFunc(strings.Split(w, "|"), func(alt string) bool { return matchWord(alt, operands[i].Text) }) {
			return false
		}
	}
	return true
}

func matchWord(want, word string) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(word, prefix)
	}
	return want == word
}
