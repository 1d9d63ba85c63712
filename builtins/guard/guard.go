// Package guard holds the guards: rules whose reasons tell the agent what to do
// instead.
package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// The guards are rules whose reasons tell the agent what to do instead. Each
// reason is "what would happen; instead: what to do", with commands in
// backticks; a test gives these back to the guard, which must let them pass.

var (
	codeGuardPosture = diag.Define("HK105", diag.Error, "guard that would let through what it cannot read")
	codeGuardPack    = diag.Define("HK106", diag.Error, "unknown pack of a guard")
	codeGuardAllow   = diag.Define("HK107", diag.Error, "exception that takes in everything")
)

// Rules lists the guards.
func Rules() []rule.Rule {
	return []rule.Rule{budgetGuardRule, loopGuardRule, mcpGuardRule, pathGuardRule, secretGuardRule, selfGuardRule, shellGuardRule}
}

// unknownOption is the option that all guards share.
var unknownOption = rule.OptionSpec{Name: "on_unknown", Type: policy.StringType,
	Doc: "ask or deny what cannot be read; not written: ask where the agent can ask, else deny"}

// guardSetup collects what is wrong while a guard is made.
type guardSetup struct {
	hook  *policy.Hook
	opts  rule.Options
	found diag.List
}

// unknown is the verdict on what the guard cannot read.
//
//go:noinline
func (s *guardSetup) unknown() policy.Verdict { return s.verdict("on_unknown", policy.Ask) }

// verdict reads an option that is ask or deny. Where the event cannot be asked
// about, ask is deny.
func (s *guardSetup) verdict(name string, otherwise policy.Verdict) policy.Verdict {
	opt, ok := s.opts[name]
	v := otherwise
	if ok {
		v, ok = policy.ParseVerdict(s.opts.Text(name))
		if !ok || v != policy.Ask && v != policy.Deny {
			s.found.Add(codeGuardPosture.Report(rule.OptionSpan(opt), "%s must be ask or deny, not %q", name, s.opts.Text(name)))
			return policy.Deny
		}
	}
	if v == policy.Ask {
		return s.hook.Event.Spec().AskOrDeny()
	}
	return v
}

// size reads an option that is a number of bytes between 1 and limit.
func (s *guardSetup) size(name string, otherwise, limit int) int {
	opt, ok := s.opts[name]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(strings.TrimSpace(numberText(opt.Value)))
	if err != nil || n < 1 || n > limit {
		s.found.Add(rule.CodeOptionValue.Report(rule.OptionSpan(opt), "%s must be a whole number from 1 to %d", name, limit))
		return otherwise
	}
	return n
}

func numberText(v any) string {
	data, err := policy.EncodeJSON(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// flag reads an option that is true or false.
func (s *guardSetup) flag(name string, otherwise bool) bool {
	if opt, ok := s.opts[name]; ok {
		return opt.Value == true
	}
	return otherwise
}

// texts reads a list of exceptions, none of which may match everything.
func (s *guardSetup) exceptions(name string) []string {
	list := s.opts.Texts(name)
	for _, e := range list {
		if strings.Trim(e, "*/ ") == "" {
			s.found.Add(codeGuardAllow.Report(rule.OptionSpan(s.opts[name]), "%q lets everything through", e))
		}
	}
	return list
}

// needs reports an event that carries none of the fields.
func (s *guardSetup) needs(fields ...policy.Field) {
	spec := s.hook.Event.Spec()
	if !slices.ContainsFunc(fields, spec.CanRead) {
		s.found.Add(rule.CodeOptionEvent.Report(rule.UseSpan(s.hook), "%s carries no %s", s.hook.Event, fields[0]))
	}
}

// maxReasons bounds how much one guard says of one call.
const maxReasons = 3

// guardSays collects what a guard finds in one call. The most restrictive
// verdict counts, with its reasons.
type guardSays struct {
	by      policy.By
	verdict policy.Verdict
	reasons []policy.Reason
}

// add adds a finding; reason is called only when it will be heard.
//
//go:noinline
func (g *guardSays) add(v policy.Verdict, reason func() string) {
	if v < g.verdict || v == g.verdict && len(g.reasons) >= maxReasons {
		return
	}
	if v > g.verdict {
		g.verdict, g.reasons = v, nil
	}
	text := reason()
	for _, r := range g.reasons {
		if r.Text == text {
			return
		}
	}
	g.reasons = append(g.reasons, policy.Reason{Text: text, At: g.by.At})
}

//go:noinline
func (g *guardSays) result() policy.Result {
	if g.verdict == policy.None {
		return policy.Result{}
	}
	return policy.Result{Verdict: g.verdict, VerdictBy: g.by, Reasons: g.reasons}
}

// powersFor is what a guard may say that says these verdicts.
//
//go:noinline
func powersFor(list ...policy.Verdict) policy.Powers {
	var out policy.Powers
	for _, v := range list {
		p, _ := policy.ParsePower(v.String())
		out |= p
	}
	return out
}

var notWild = strings.NewReplacer("?", `\?`, "[", `\[`, `\`, `\\`)

// wildcard matches text against a pattern in which `*` is any text.
func wildcard(pattern, text string) bool {
	return losses.GlobMatch(notWild.Replace(pattern), text)
}

//go:noinline
func wildcardAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return wildcard(p, text) })
}
