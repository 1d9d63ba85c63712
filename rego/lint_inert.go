package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUncalled = diag.Define("HK158", diag.Warning, "Rego rule that nobody asks").Guarding()
var codeAllowAlone = diag.Define("HK159", diag.Warning, "allow alone denies nothing")
var codeSays = diag.Define("HK164", diag.Warning, "Rego rule that says what is no reason")

// aside keeps what is found for check, which asks for it.
func (u *unit) aside(find func()) {
	before := u.found
	u.found = nil
	find()
	for i := range u.found {
		u.found[i].Hook = u.hook.Name
	}
	u.inert.Add(u.found...)
	u.found = before
}

// Inert is what is to be said of rules of the module that do nothing, or not what
// they are written for.
func (m *Module) Inert() diag.List { return m.inert }

// Inert is the module's.
func (n *Native) Inert() diag.List {
	m, err := n.module()
	if err != nil {
		return nil
	}
	return m.inert
}

// lintAllow finds a package that approves and never refuses.
func (u *unit) lintAllow() {
	if u.hook.Event != policy.PreToolExecution && u.hook.Event != policy.PermissionRequest || u.hook.Body.AllowIsOpinion {
		return
	}
	for _, e := range u.entries {
		if e.part != partAllow && e.part != partContext && e.part != partMessage {
			return
		}
	}
	for _, e := range u.entries {
		if e.part == partAllow {
			u.reportHint(codeAllowAlone, e.rules[0].Location, "write `default allow := false` to deny the rest, or `allow: opinion` on the hook where the agent is to decide it",
				"%s alone denies nothing", e.name)
			return
		}
	}
}

// lintUncalled finds rules of the hook's own that no entry point uses.
func (u *unit) lintUncalled(c *ast.Compiler, reached map[*ast.Rule]bool) {
	if u.ownPath != "" {
		return // other hooks may use it
	}
	used := map[string]bool{}
	for _, r := range c.Modules[ownFile].Rules {
		if reached[r] {
			used[ruleName(r)] = true
		}
	}
	for _, r := range u.own.Rules {
		name := ruleName(r)
		if used[name] || contractRow(name) >= 0 || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "test_") {
			continue
		}
		used[name] = true
		hint := "take it out, or use it"
		if meant := meantEntry(name); meant != "" {
			hint = "did you mean \"" + meant + "\"?"
		}
		u.reportHint(codeUncalled, r.Location, hint, "%s is no entry point, and nothing uses it", name)
	}
}

func ruleName(r *ast.Rule) string {
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return string(name)
}

// meantEntry is the entry point that a name looks like, "" if there is none.
func meantEntry(name string) string {
	for _, stem := range []struct{ begins, entry string }{{"den", "deny"}, {"viol", "deny"}, {"block", "deny"}, {"forbid", "deny"}, {"reject", "deny"},
		{"allow", "allow"}, {"permit", "allow"}, {"approv", "allow"}, {"ask", "ask"}, {"warn", "warn"}, {"patch", "patch"}, {"skip", "skip"}, {"stop", "stop"}} {
		if strings.HasPrefix(strings.ToLower(name), stem.begins) {
			return stem.entry
		}
	}
	return diag.Suggest(name, []string{"deny", "ask", "allow", "skip", "stop", "patch", "context", "message", "feedback", "result"})
}

// lintSays finds heads whose value is no reason, and formats that do not fit.
func (u *unit) lintSays() {
	for _, e := range u.entries {
		for _, r := range e.rules {
			for b := r; b != nil; b = b.Else {
				value := b.Head.Value
				if b.Head.RuleKind() == ast.MultiValue {
					value = b.Head.Key
				}
				if value == nil {
					continue
				}
				if wrong := u.noReason(e, assigned(b, value)); wrong != "" {
					u.reportHint(codeSays, value.Location, "give a text, or {\"reason\": text}", "%s says %s", e.name, wrong)
				}
				ast.WalkTerms(b, func(t *ast.Term) bool { u.lintFormat(b, t); return false })
			}
		}
	}
}

// noReason says what a value is that no entry point of texts takes.
func (u *unit) noReason(e *entry, value *ast.Term) string {
	if !e.part.verdict() {
		return ""
	}
	switch v := value.Value.(type) {
	case ast.Object:
		keys, constant := constantKeys(value)
		if constant && keys["reason"] == nil && keys["msg"] == nil {
			return "an object without reason"
		}
	case ast.Call:
		if b := ast.BuiltinMap[v[0].Value.String()]; b != nil {
			switch kind := b.Decl.Result().String(); kind {
			case "number":
				return "a number"
			}
		}
	}
	return ""
}

// lintFormat finds a call of sprintf whose values do not fit its format.
func (u *unit) lintFormat(in *ast.Rule, t *ast.Term) {
	call, ok := t.Value.(ast.Call)
	if !ok || len(call) != 3 || call[0].Value.String() != ast.Sprintf.Name {
		return
	}
	format, constant := call[1].Value.(ast.String)
	switch v := assigned(in, call[2]).Value.(type) {
	case *ast.Array:
		verbs := strings.Count(strings.ReplaceAll(string(format), "%%", ""), "%")
		if constant && verbs != v.Len() && !strings.ContainsAny(string(format), "*[") {
			u.reportHint(codeSays, t.Location, "give each verb one value", "the format has %d verbs and is given %d values", verbs, v.Len())
		}
	case ast.String, ast.Number, ast.Boolean:
		u.reportHint(codeSays, t.Location, "write [value]", "sprintf takes a list of values")
	case ast.Ref:
		if f, known := policy.ParseField(strings.Join(leadingKeys(v), ".")); known && v[0].Equal(ast.InputRootDocument) && scalar(f.Spec().Type) {
			u.reportHint(codeSays, t.Location, "write ["+call[2].String()+"]", "sprintf takes a list of values")
		}
	}
}

// assigned is what a rule assigns to a variable, or the term itself.
func assigned(in *ast.Rule, t *ast.Term) *ast.Term {
	if _, is := t.Value.(ast.Var); !is {
		return t
	}
	for _, x := range in.Body {
		if x.IsAssignment() && len(x.Operands()) == 2 && x.Operand(0).Equal(t) {
			return x.Operand(1)
		}
	}
	return t
}
