// Package print writes a loaded policy as one canonical hooks.yaml, and lays out the files
// that people write.
package print

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// Options say how Print writes a policy.
type Options struct {
	// Tier is the tier that is printed, and in which the file will be read.
	Tier policy.Tier
	// Dir is the absolute folder in which the file will lie: paths in it are
	// written relative to it, others as they are. "" writes all of them
	// absolute.
	Dir string
	// Header, Event and Hook are the comments at the head, above an event and
	// above a hook, one line or several each; nil writes none.
	Header []string
	Event  func(policy.Event) []string
	Hook   func(*policy.Hook) []string
}

var codeUnprintable = diag.Define("HK040", diag.Error, "meaning that a hooks.yaml cannot express")

// NotTheSame begins the comment in a printed file where a meaning was lost.
const NotTheSame = "NOT THE SAME: "

// Print writes the hooks and settings of one tier of a loaded policy as one
// canonical hooks.yaml (semantics.md §4.3 P1). The text depends on nothing but
// the policy and the options. Read in the same tier it gives the same hooks,
// places apart, and so the same program; what cannot be said that way is left
// out and in the findings, all of them errors. The policy is one that loaded
// without errors.
//
// What a file says once for many hooks (defaults.timeout, a rule's reason
// beside the rules) comes out beside each of them; an entry point of a HOOK.md
// is the one it has now.
func Print(p *policy.Policy, o Options) ([]byte, diag.List) {
	pr := &printer{policy: p, options: o}
	for _, h := range p.Hooks {
		if h.Tier == o.Tier {
			pr.hooks = append(pr.hooks, h)
		}
	}
	slices.SortStableFunc(pr.hooks, func(a, b *policy.Hook) int {
		return lists.First(a.Event.Compare(b.Event), policy.Compare(level(a), level(b), false))
	})
	root := block{apart: true}
	root.put("version", word("1"))
	pr.defaults(&root)
	pr.rego(&root)
	pr.tools(&root)
	pr.facts(&root)
	pr.approvals(&root)
	for _, e := range pr.events() {
		root.entries = append(root.entries, pr.event(e))
	}
	var w strings.Builder
	for _, c := range o.Header {
		writeComment(&w, 0, c, false)
	}
	root.write(&w, 0, false)
	return []byte(w.String()), pr.found
}

// level is a hook with nothing but its place to compare: a file lists hooks by
// place, whatever their priorities.
func level(h *policy.Hook) *policy.Hook {
	out := &policy.Hook{Order: h.Order, Group: h.Group}
	if h.Group != nil {
		out.Group = &policy.Group{Order: h.Group.Order}
	}
	return out
}

// printer prints one policy.
type printer struct {
	policy  *policy.Policy
	options Options
	hooks   []*policy.Hook
	// onError are the defaults.on_error that the file will have.
	onError map[policy.Kind]policy.Posture
	model   string
	found   diag.List
}

// lost reports what cannot be written.
func (pr *printer) lost(h *policy.Hook, at diag.Span, text string, args ...any) {
	d := codeUnprintable.Report(at, text, args...)
	if h != nil {
		d = d.WithHook(h.Name)
	}
	pr.found.Add(d)
}

// files are the distinct configurations of the files of the printed hooks of
// a kind ("" is all), in the hooks' order.
func (pr *printer) files(k policy.Kind) []*policy.FileConfig {
	var out []*policy.FileConfig
	for _, h := range pr.hooks {
		if k != "" && h.Kind != k {
			continue
		}
		if f := config(h); !slices.ContainsFunc(out, func(o *policy.FileConfig) bool { return o == f }) {
			out = append(out, f)
		}
	}
	return out
}

// noConfig is the configuration of hooks that are in no file.
var noConfig = &policy.FileConfig{}

func config(h *policy.Hook) *policy.FileConfig {
	if h.File == nil {
		return noConfig
	}
	return h.File
}

// defaults writes what holds for every hook. Of files that differ, only what
// they agree on is a default; hooks say the rest themselves.
func (pr *printer) defaults(root *block) {
	p, b := pr.policy, block{}
	if p.ChainTimeout > 0 {
		b.put("chain_timeout", pr.duration(nil, "defaults.chain_timeout", p.ChainTimeout))
	}
	if p.MaxConcurrent > 0 {
		b.put("max_concurrent", word(fmt.Sprint(p.MaxConcurrent)))
	}
	if p.MaxModels > 0 {
		b.put("max_models", word(fmt.Sprint(p.MaxModels)))
	}
	postures := block{}
	pr.agree()
	for _, name := range policy.KindNames() {
		if posture := pr.onError[policy.Kind(name)]; posture != policy.PostureUnset {
			postures.put(name, posture.String())
		}
	}
	b.some("on_error", postures)
	pr.text(&b, nil, "model", pr.model)
	root.some("defaults", b)
}

// agree finds the defaults of the printed file: what the files say of a kind,
// as far as all that have a hook of the kind say the same.
func (pr *printer) agree() {
	pr.onError = map[policy.Kind]policy.Posture{}
	for _, name := range policy.KindNames() {
		k := policy.Kind(name)
		files := pr.files(k)
		if len(files) == 0 {
			files = pr.files("")[:min(1, len(pr.hooks))]
		}
		for i, f := range files {
			if i > 0 && pr.onError[k] != f.OnError[k] {
				pr.onError[k] = policy.PostureUnset
				break
			}
			pr.onError[k] = f.OnError[k]
			if k == policy.KindLLM {
				pr.model = f.Model
			}
		}
		if k == policy.KindLLM && slices.ContainsFunc(files, func(f *policy.FileConfig) bool { return f.Model != pr.model }) {
			pr.model = ""
		}
	}
}

// rego writes what Rego hooks share; in one file they share all of it.
func (pr *printer) rego(root *block) {
	files := pr.files(policy.KindRego)
	if len(files) == 0 {
		files = pr.files("")[:min(1, len(pr.hooks))]
	}
	if len(files) == 0 {
		return
	}
	c, b := &files[0].Rego, block{}
	for _, h := range pr.hooks {
		if h.Kind == policy.KindRego && !sameRego(c, &config(h).Rego) {
			pr.lost(h, h.Span, "%s comes from a file with another rego: part than hooks before it, and one file has one", h.Name)
		}
	}
	b.some("version", c.Version)
	if c.Paths != nil {
		b.put("paths", pr.paths(c.Paths))
	}
	if c.Data != nil {
		b.put("data", pr.documents(c))
	}
	b.some("forbid", flow(c.Forbid))
	root.some("rego", b)
}

func sameRego(a, b *policy.RegoConfig) bool {
	return a.Version == b.Version && reflect.DeepEqual(a.Forbid, b.Forbid) &&
		reflect.DeepEqual(source.Values(a.Paths), source.Values(b.Paths)) && reflect.DeepEqual(source.Values(a.Data), source.Values(b.Data)) &&
		lists.Equal(a.Open, b.Open)
}

// documents are the names of documents; those that are open say so.
func (pr *printer) documents(c *policy.RegoConfig) any {
	if c.Open == nil {
		return pr.paths(c.Data)
	}
	out := block{list: true}
	for _, t := range c.Data {
		doc := block{}
		doc.put("file", pr.path(t.Value))
		if lists.Has(c.Open, t.Value) {
			doc.put("open", word("true"))
		}
		out.entries = append(out.entries, blockEntry{value: doc})
	}
	return out
}

func (pr *printer) paths(texts []diag.Text) flow {
	out := flow{}
	for _, t := range texts {
		out = append(out, pr.path(t.Value))
	}
	return out
}

// path is a path as the file will name it.
func (pr *printer) path(path string) string {
	if pr.options.Dir == "" {
		return path
	}
	rel, err := filepath.Rel(pr.options.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

func (pr *printer) tools(root *block) {
	b := block{}
	b.some("known", flow(pr.policy.Tools.Known))
	b.some("open", flow(pr.policy.Tools.Open))
	root.some("tools", b)
}

// approvals prints who answers questions.
func (pr *printer) approvals(root *block) {
	printed := false
	for i := range pr.policy.Approvals {
		a := &pr.policy.Approvals[i]
		if policy.Tier(a.Tier) != pr.options.Tier {
			continue
		}
		if printed {
			pr.lost(nil, diag.Span{}, "two files have approval:, and one file has one")
			return
		}
		printed = true
		b := block{}
		if a.Always {
			b.put("when", word("always"))
		}
		for _, d := range []struct {
			key string
			is  time.Duration
		}{{"wait", a.Wait}, {"ttl", a.TTL}} {
			if d.is != 0 {
				b.put(d.key, max(d.is, 0).String())
			}
		}
		if a.Longest < 0 {
			b.put("once", word("true"))
		}
		groups := block{}
		for _, name := range lists.Keys(a.Groups) {
			groups.put(name, flow(a.Groups[name]))
		}
		if a.Groups != nil {
			b.put("groups", groups)
		}
		putRule(&b, a.Rule)
		rules := block{list: true}
		for _, r := range a.Rules {
			one := block{}
			one.put("hook", r.Hook)
			putRule(&one, r)
			rules.entries = append(rules.entries, blockEntry{value: one})
		}
		b.some("require", rules)
		b.some("source", a.Source)
		if w := a.Webhook; w != nil {
			one := block{}
			one.put("url", w.URL)
			one.put("format", w.Format)
			b.put("webhook", one)
		}
		root.put("approval", b)
	}
}

func putRule(b *block, r approval.Rule) {
	b.some("approvers", flow(r.Approvers))
	if r.Quorum > 0 {
		b.put("quorum", word(strconv.Itoa(r.Quorum)))
	}
}

// facts prints the declarations of the tier.
func (pr *printer) facts(root *block) {
	b := block{}
	for _, f := range pr.policy.Facts {
		if f.Tier != pr.options.Tier {
			continue
		}
		one := block{}
		switch f.Type {
		case "list":
			one.put("list", "string")
		case "enum":
			one.put("enum", flow(f.Words))
		default:
			one.put("type", f.Type)
		}
		if f.Command != nil {
			one.put("command", f.Command.Body.Command.Value)
		}
		b.put(f.Name, one)
	}
	root.some("facts", b)
}

// events are those that have a hook or a setting, in lifecycle order.
func (pr *printer) events() []policy.Event {
	var out []policy.Event
	for _, h := range pr.hooks {
		out = append(out, h.Event)
	}
	for _, s := range pr.policy.Settings {
		if s.Tier == pr.options.Tier {
			out = append(out, s.Event)
		}
	}
	return lists.Compact(lists.Order(out, policy.Event.Compare))
}

// event is an event with its hooks: a list, or a map where something is set.
func (pr *printer) event(e policy.Event) blockEntry {
	out := blockEntry{key: string(e)}
	if pr.options.Event != nil {
		out.comments = pr.options.Event(e)
	}
	hooks, before := pr.items(e), len(pr.found)
	set := pr.setting(e)
	for _, d := range pr.found[before:] {
		out.comments = append(out.comments, NotTheSame+d.Text)
	}
	if len(set.entries) == 0 {
		out.value = hooks
		return out
	}
	if len(hooks.entries) > 0 {
		set.put("hooks", hooks)
	}
	out.value = set
	return out
}

// setting is what the printed tier sets for an event. Several files may say
// the same; the compiler refuses those that differ.
func (pr *printer) setting(e policy.Event) block {
	var s policy.Setting
	for _, more := range pr.policy.Settings {
		if more.Event != e || more.Tier != pr.options.Tier {
			continue
		}
		if s.Strategy != "" && more.Strategy != "" && s.Strategy != more.Strategy ||
			s.ChainTimeout != 0 && more.ChainTimeout != 0 && s.ChainTimeout != more.ChainTimeout ||
			s.Order != "" && more.Order != "" && s.Order != more.Order {
			pr.lost(nil, lists.First(more.StrategySpan, more.ChainTimeoutSpan, more.OrderSpan), "%s is set differently elsewhere in the tier", e)
		}
		s.Strategy, s.ChainTimeout, s.Order = lists.First(s.Strategy, more.Strategy), lists.First(s.ChainTimeout, more.ChainTimeout), lists.First(s.Order, more.Order)
	}
	b := block{}
	b.some("strategy", string(s.Strategy))
	if s.ChainTimeout > 0 {
		b.put("chain_timeout", pr.duration(nil, string(e)+".chain_timeout", s.ChainTimeout))
	}
	b.some("order", s.Order)
	return b
}

// duration is a duration with its unit.
func (pr *printer) duration(h *policy.Hook, key string, d time.Duration) string {
	if d <= 0 || d > source.MaxDuration {
		at := diag.Span{}
		if h != nil {
			at = h.Span
		}
		pr.lost(h, at, "%s: %s is not between nothing and a day", key, d)
		d = min(max(d, time.Millisecond), source.MaxDuration)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// text writes a key's text when there is one.
func (pr *printer) text(b *block, h *policy.Hook, key, value string) {
	if value == "" {
		return
	}
	pr.checkText(h, key, value)
	b.put(key, value)
}

// checkText reports a text that the reader of a hooks.yaml would refuse.
func (pr *printer) checkText(h *policy.Hook, key, value string) {
	at := diag.Span{}
	if h != nil {
		at = h.Span
	}
	switch {
	case !utf8.ValidString(value):
		pr.lost(h, at, "%s is not UTF-8", key)
	case strings.TrimSpace(value) == "":
		pr.lost(h, at, "%s is an empty text", key)
	}
}
