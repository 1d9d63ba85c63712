package source

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeApproval = diag.Define("HK067", diag.Error, "approval that cannot be used")

var approvalKeys = []Key{
	{Place: InFile, Name: "approval", Type: TypeMap, Note: "how a question is answered that the agent cannot put to its user; the strictest of all files holds"},

	{Place: InApproval, Name: "when", Type: TypeWord, Words: []string{"unasked", "always"}, Default: "unasked", Note: "always: also where the agent can ask"},
	{Place: InApproval, Name: "wait", Type: TypeDuration, Default: "no time", Note: "how long a call waits for its answer, within the agent's deadline; 0: not at all, whatever another file says"},
	{Place: InApproval, Name: "ttl", Type: TypeDuration, Default: "1h", Note: "how long a question may be answered, and an unused grant be used"},
	{Place: InApproval, Name: "once", Type: TypeBool, Default: "false", Note: "true: no grant for a time or a session, which last 24h at most"},
	{Place: InApproval, Name: "approvers", Type: TypeTexts, Default: "everybody", Note: "people and groups who may answer"},
	{Place: InApproval, Name: "quorum", Type: TypeAtLeast1, Default: "1", Note: "how many people must grant"},
	{Place: InApproval, Name: "groups", Type: TypeMap, Note: "people by the name of their group; the most trusted file that names a group says who is in it"},
	{Place: InApproval, Name: "require", Type: TypeList, Note: "more approvers, or a greater quorum, for some hooks"},
	{Place: InApproval, Name: "source", Type: TypeText, Note: "Rego whose deny refuses an answer: input.raw.approval says who answers what"},
	{Place: InApproval, Name: "webhook", Type: TypeMap, Note: "where new questions are posted, signed"},

	{Place: InRequire, Name: "hook", Type: TypeText, Note: "glob of the names of hooks"},
	{Place: InRequire, Name: "approvers", Type: TypeTexts, Default: "approval.approvers", Note: "people and groups who may answer, of those who may anyway"},
	{Place: InRequire, Name: "quorum", Type: TypeAtLeast1, Default: "approval.quorum", Note: "how many people must grant"},

	{Place: InWebhook, Name: "url", Type: TypeText, Note: "the address, http or https"},
	{Place: InWebhook, Name: "format", Type: TypeWord, Words: []string{"json", "slack"}, Default: "json", Note: "slack: a message with buttons"},
}

// approval reads how questions are answered.
func (r *yamlReader) approval(n *tree.Node) {
	f := r.l.fields(r.in, n, InApproval, "")
	b := approval.Block{Tier: uint8(r.in.Tier)}
	when, _ := f.word("when", func(w string) bool { return w == "unasked" || w == "always" })
	b.Always = when == "always"
	if isZero(f.get("wait")) {
		b.Wait = -1
	} else {
		b.Wait, _ = f.duration("wait")
	}
	b.TTL, _ = f.duration("ttl")
	if f.bool("once", false) {
		b.Longest = -1
	}
	b.Groups = r.groups(f)
	known := map[string][]string{}
	maps.Copy(known, b.Groups)
	for _, earlier := range r.l.policy.Approvals {
		maps.Copy(known, earlier.Groups)
	}
	b.Rule = r.approvers(f, known)
	if list := f.get("require"); list != nil && list.Shape != tree.List {
		f.wrongType("require", list, "a list", "")
	} else if list != nil {
		for _, item := range list.Items {
			if item.Shape != tree.Map {
				r.report(tree.CodeType.Report(item.Span, "an entry of require is a map; this is %s", item.What()))
				continue
			}
			one := r.l.fields(r.in, item, InRequire, "")
			rule, hook := r.approvers(one, known), one.text("hook")
			if _, err := path.Match(hook.Value, ""); hook.IsZero() || err != nil {
				r.report(codeApproval.Report(item.Span, "an entry of require needs hook: a glob of names of hooks"))
			}
			rule.Hook = hook.Value
			b.Rules = append(b.Rules, rule)
		}
	}
	b.At = f.text("source")
	b.Source = b.At.Value
	if w := f.child("webhook", false); w != nil {
		b.Webhook = r.webhook(w)
	}
	if r.in.Untrusted == "" {
		r.l.policy.Approvals.Add(b)
		r.l.policy.Notes = append(r.l.policy.Notes, approvalNote(&b, r.in.Tier))
	}
}

// isZero reports whether a duration is written that is nothing.
func isZero(n *tree.Node) bool {
	if n == nil {
		return false
	}
	seconds, number := n.Float()
	d, err := time.ParseDuration(n.Text.Value)
	return number && seconds == 0 || n.IsText() && err == nil && d == 0
}

// approvalNote says what a question becomes.
func approvalNote(b *approval.Block, tier policy.Tier) string {
	when, wait := "where the agent cannot ask, a question (ask, defer)", "is refused at once"
	if b.Always {
		when = "a question (ask, defer)"
	}
	if b.Wait > 0 {
		wait = "waits " + b.Wait.String()
	}
	who := "anybody"
	if b.Approvers != nil {
		who = fmt.Sprint(b.Approvers)
	}
	return fmt.Sprintf("approval (%s): %s becomes an approval: the call %s and may be granted within %s by %d of %s: hookc approvals", tier, when, wait, lists.First(b.TTL, approval.DefaultTTL).Round(time.Second), max(b.Quorum, 1), who)
}

// approvers reads who may answer and how many must. known are the people of groups.
func (r *yamlReader) approvers(f fields, known map[string][]string) approval.Rule {
	rule := approval.Rule{Approvers: Values(f.texts("approvers")), Quorum: f.int("quorum", 1, 0)}
	var people []string
	for _, name := range rule.Approvers {
		if group, ok := known[name]; ok {
			people = append(people, group...)
		} else {
			people = append(people, name)
		}
	}
	lists.Sort(people)
	if n := len(lists.Compact(people)); rule.Approvers != nil && n < max(rule.Quorum, 1) {
		r.report(codeApproval.Report(f.node.Span, "of %d approvers %d must grant, so that nothing can be granted", n, max(rule.Quorum, 1)).
			WithHint("name more people, or ask for fewer"))
	}
	return rule
}

func (r *yamlReader) groups(f fields) map[string][]string {
	n := f.child("groups", false)
	if n == nil {
		return nil
	}
	out := map[string][]string{}
	for _, e := range n.Entries {
		var people []string
		for _, item := range e.Value.Items {
			if item.IsText() && item.Text.Value != "" {
				people = append(people, item.Text.Value)
			}
		}
		if e.Value.Shape != tree.List || len(people) != len(e.Value.Items) || len(people) == 0 {
			r.report(codeApproval.Report(e.Value.Span, "%s is not a list of people", e.Key.Text.Value).WithHint("write their names, such as [alice, bob]"))
		}
		out[e.Key.Text.Value] = people
	}
	return out
}

func (r *yamlReader) webhook(n *tree.Node) *approval.Webhook {
	f := r.l.fields(r.in, n, InWebhook, "")
	w := &approval.Webhook{URL: f.text("url").Value, Format: "json"}
	if format, _ := f.word("format", func(w string) bool { return w == "json" || w == "slack" }); format != "" {
		w.Format = format
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.report(codeApproval.Report(n.Span, "url is not the address of a webhook").WithHint("write one such as https://hooks.example.com/approvals"))
	case r.in.Tier > policy.TierUser:
		r.report(codeApproval.Report(n.Span, "a webhook of the %s tier is not told of calls", r.in.Tier).
			WithHint("move it to the user's own hooks.yaml, or to the managed one"))
	}
	return w
}
