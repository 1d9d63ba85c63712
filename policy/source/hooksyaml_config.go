package source

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// defaultValues are the keys of `defaults`, as far as they are written.
type defaultValues struct {
	chainTimeout, timeout time.Duration
	chainTimeoutSpan      diag.Span
	concurrent, models    int
	onError               map[policy.Kind]policy.Posture
	model                 string
	enforcement           policy.Enforcement
	spared                uint16
}

func (l *Loader) readDefaults(in *File, n *tree.Node) defaultValues {
	f := l.fields(in, n, InDefaults, "")
	var v defaultValues
	v.chainTimeout, v.chainTimeoutSpan = f.duration("chain_timeout")
	v.timeout, _ = f.duration("timeout")
	v.concurrent = f.int("max_concurrent", 1, 0)
	v.models = f.int("max_models", 1, 0)
	v.model = f.text("model").Value
	v.onError = f.postures("on_error")
	v.enforcement, v.spared = f.enforced("", 0)
	return v
}

// postures reads one posture for every kind, or one for each kind named.
func (f fields) postures(name string) map[policy.Kind]policy.Posture {
	n := f.get(name)
	if n == nil {
		return nil
	}
	out := map[policy.Kind]policy.Posture{}
	if n.Shape != tree.Map {
		if p := f.posture(name, n); p != policy.PostureUnset {
			for _, k := range policy.KindNames() {
				out[policy.Kind(k)] = p
			}
		}
		return out
	}
	for _, e := range n.Entries {
		kind, ok := parseKind(e.Key.Text.Value)
		if !ok {
			f.report(codeWord.Report(e.Key.Span, "%q is not a kind of hook", e.Key.Text.Value).
				WithHint("%s", diag.DidYouMean(e.Key.Text.Value, policy.KindNames(), "one of "+strings.Join(policy.KindNames(), ", "))))
			continue
		}
		if p := f.posture(name, e.Value); p != policy.PostureUnset {
			out[kind] = p
		}
	}
	return out
}

func (r *yamlReader) defaults(n *tree.Node) {
	v := r.l.readDefaults(r.in, n)
	r.config.OnError, r.config.Model = v.onError, v.model
	r.enforcement, r.spared = v.enforcement, v.spared
	if v.timeout != 0 {
		r.l.timeouts[r.config] = v.timeout
	}
	if r.in.Untrusted != "" {
		return
	}
	if v.chainTimeout != 0 {
		r.l.chainTimeout.offer(r.l, r.in, "chain_timeout", v.chainTimeout, v.chainTimeoutSpan)
	}
	if v.concurrent != 0 {
		r.l.concurrent.offer(r.l, r.in, "max_concurrent", v.concurrent, n.Get("max_concurrent").Span)
	}
	if v.models != 0 {
		r.l.models.offer(r.l, r.in, "max_models", v.models, n.Get("max_models").Span)
	}
}

func (r *yamlReader) rego(n *tree.Node) {
	f := r.l.fields(r.in, n, InRego, "")
	c := &r.config.Rego
	c.Paths, c.Data = r.paths(f.texts("paths")), r.paths(r.documents(f.get("data"), f))
	c.Forbid = Values(f.texts("forbid"))
	c.Version, _ = f.word("version", func(w string) bool { return lists.Has(FindKey(InRego, "version").Words, w) })
}

// documents are the names of documents, which maps may have with what they say of
// them.
func (r *yamlReader) documents(n *tree.Node, f fields) []diag.Text {
	if n == nil || n.Shape != tree.List {
		return f.texts("data")
	}
	out := []diag.Text{}
	for _, item := range n.Items {
		if item.Shape != tree.Map {
			if t := f.textOf("data", item); !t.IsZero() {
				out = append(out, t)
			}
			continue
		}
		doc := r.l.fields(r.in, item, InDocument, "")
		name := doc.text("file")
		open := doc.bool("open", false)
		switch {
		case doc.get("file") == nil:
			r.report(codeMissing.Report(item.Span, "a document has no file").WithHint("write file: with its name"))
		case name.IsZero():
		default:
			out = append(out, name)
			if open {
				r.config.Rego.Open = append(r.config.Rego.Open, r.in.path(r.config.Dir, name.Value))
			}
		}
	}
	return out
}

// paths makes file names absolute, reports those that do not exist, and adds
// them to what trust covers: of a folder, all that is or comes to be in it.
func (r *yamlReader) paths(texts []diag.Text) []diag.Text {
	var out []diag.Text
	for _, t := range texts {
		path := r.in.path(r.config.Dir, t.Value)
		r.l.sight.place(path)
		if _, err := os.Stat(path); err != nil {
			r.report(codeFile.Report(t.Span, "%s: %s", t.Value, plainError(err)).
				WithHint("it is looked for in %s", r.l.shown(r.config.Dir)))
			continue
		}
		if err := r.in.shared(path); err != nil {
			r.report(codeFile.Report(t.Span, "%s: %s", t.Value, err))
			continue
		}
		r.source.Uses = append(r.source.Uses, path)
		out = append(out, diag.NewText(path, t.Span, nil))
	}
	return out
}

// override applies HOOKC_DEFAULTS_*: to hooks that are neither managed nor
// locked, and to the limits of the whole policy where no such hook shares them.
// What is wrong with a variable is noted and the variable ignored: whoever sets
// it must not keep a policy from deciding.
func (l *Loader) override(written map[string]string) {
	if len(written) == 0 {
		return
	}
	in := &File{Name: "environment", Tier: policy.TierUser}
	n := &tree.Node{Shape: tree.Map}
	for _, name := range lists.Keys(written) {
		variable, text := "HOOKC_DEFAULTS_"+strings.ToUpper(name), written[name]
		entry, wrong := overrideEntry(variable, name, text)
		if wrong == "" {
			wrong = l.tryDefaults(in, entry)
		}
		if name := strings.ToLower(name); wrong == "" && (name == "enforcement" || name == "rollout") {
			wrong = "no variable says whether a hook is in force"
		}
		if wrong == "" && overridesLimit(name) && slices.ContainsFunc(l.policy.Hooks, firm) {
			wrong = "managed or locked hooks share this limit"
		}
		if wrong != "" {
			l.policy.Notes = append(l.policy.Notes, variable+"="+text+" is ignored: "+wrong)
			continue
		}
		l.policy.Notes = append(l.policy.Notes, variable+"="+text+" overrides defaults."+strings.ToLower(name))
		n.Entries = append(n.Entries, entry)
	}
	v := l.readDefaults(in, n)
	overrideLimit(&l.policy.ChainTimeout, v.chainTimeout, l.chainTimeout)
	overrideLimit(&l.policy.MaxConcurrent, v.concurrent, l.concurrent)
	overrideLimit(&l.policy.MaxModels, v.models, l.models)
	l.overrideHooks(v)
}

// overrideEntry is a variable as a key of defaults, or what is wrong with it.
func overrideEntry(variable, name, text string) (e tree.Entry, wrong string) {
	src := diag.NewSource(variable, text)
	value, found := tree.ParseYAML(src, 0, len(text))
	if found.HasErrors() {
		return e, found[0].Text
	}
	if value == nil {
		value = &tree.Node{Shape: tree.Scalar, Tag: tree.TagNull, Span: diag.Span{Source: src}}
	}
	key := diag.NewText(strings.ToLower(name), diag.Span{Source: src, End: len(text)}, nil)
	return tree.Entry{Key: &tree.Node{Shape: tree.Scalar, Tag: tree.TagText, Text: key, Span: key.Span}, Value: value}, ""
}

// tryDefaults says what is wrong with one key of defaults.
func (l *Loader) tryDefaults(in *File, e tree.Entry) (wrong string) {
	alone := &Loader{dialect: l.dialect, faithful: l.faithful, dir: l.dir}
	alone.readDefaults(in, &tree.Node{Shape: tree.Map, Entries: []tree.Entry{e}})
	for _, d := range alone.diags {
		if d.Severity == diag.Error {
			return d.Text
		}
	}
	return ""
}

// overridesLimit reports whether a key of defaults holds for all hooks at once.
func overridesLimit(name string) bool {
	return lists.Has([]string{"chain_timeout", "max_concurrent", "max_models"}, strings.ToLower(name))
}

// firm reports whether no variable changes a hook.
func firm(h *policy.Hook) bool { return h.Tier <= policy.TierManaged || h.Locked }

func overrideLimit[T comparable](to *T, value T, written chosen[T]) {
	var zero T
	if value != zero && !(written.set && written.tier <= policy.TierManaged) {
		*to = value
	}
}

func (l *Loader) overrideHooks(v defaultValues) {
	changed := map[*policy.FileConfig]*policy.FileConfig{}
	for _, h := range l.policy.Hooks {
		if firm(h) {
			continue
		}
		if h.Timeout == 0 && !h.Kind.InProcess() {
			h.Timeout = v.timeout
		}
		if v.model == "" && v.onError == nil {
			continue
		}
		old := h.File
		if old == nil {
			old = &policy.FileConfig{Dir: h.Dir}
		}
		if changed[h.File] == nil || h.File == nil {
			config := *old
			config.OnError = map[policy.Kind]policy.Posture{}
			maps.Copy(config.OnError, old.OnError)
			maps.Copy(config.OnError, v.onError)
			if v.model != "" {
				config.Model = v.model
			}
			l.timeouts[&config] = l.timeouts[h.File]
			changed[h.File] = &config
		}
		h.File = changed[h.File]
	}
}
