package source

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeLog = diag.Define("HK184", diag.Error, "log setting that cannot be used")

// logSetting is what one file says of the log.
type logSetting struct {
	in *File
	record.Setting
}

// log reads what a file says of the decision log.
func (r *yamlReader) log(n *tree.Node) {
	f := r.l.fields(r.in, n, InLog, "")
	s := record.Setting{Tier: r.in.Tier.String(), Rank: int(r.in.Tier), At: keySpan(n), Durable: f.bool("durable", false),
		KeepDays: f.int("keep_days", 1, 0), KeepMB: f.int("keep_mb", 1, 0), Version: r.config.Rego.Version}
	if f.get("enabled") != nil {
		s.Enabled = map[bool]string{true: "on", false: "off"}[f.bool("enabled", true)]
	}
	s.OnError, _ = f.word("on_error", func(w string) bool { return lists.Has(FindKey(InLog, "on_error").Words, w) })
	for _, t := range f.texts("mask") {
		r.logMask(&s, t, diag.Text{})
	}
	if when := f.child("mask_when", false); when != nil {
		for _, e := range when.Entries {
			if t := f.expression("mask_when", e.Value); !t.IsZero() {
				r.logMask(&s, e.Key.Text, t)
			}
		}
	}
	for _, t := range f.texts("drop") {
		if event, known := policy.ParseEvent(t.Value); known {
			s.Drop = append(s.Drop, record.When{What: string(event)})
			continue
		}
		r.report(codeLog.Report(t.Span, "drop: unknown event %q", t.Value).WithHint("%s", diag.DidYouMean(t.Value, policy.EventNames(), "`hookc help events` lists the events")))
	}
	if e := f.get("drop_when"); e != nil {
		if t := f.expression("drop_when", e); !t.IsZero() {
			s.Drop = append(s.Drop, record.When{If: t})
		}
	}
	s.Rego = r.logRego(f)
	if t := f.text("checkpoints"); !t.IsZero() && !filepath.IsAbs(t.Value) {
		r.report(codeLog.Report(t.Span, "checkpoints: %s is no absolute path", t.Value).WithHint("begin it with /"))
	} else {
		s.Checkpoints = t.Value
	}
	if r.in.Untrusted == "" {
		r.l.logs = append(r.l.logs, logSetting{r.in, s})
	}
}

// keySpan is where a map begins.
func keySpan(n *tree.Node) diag.Span {
	if len(n.Entries) > 0 {
		return n.Entries[0].Key.Span
	}
	return n.Span
}

func (r *yamlReader) logMask(s *record.Setting, pointer, when diag.Text) {
	if err := record.CheckPointer(pointer.Value); err != nil {
		r.report(codeLog.Report(pointer.Span, "%v", err))
		return
	}
	s.Mask = append(s.Mask, record.When{What: pointer.Value, If: when})
}

// logRego reads the files of Rego; what is in them is looked at when the policy is
// compiled.
func (r *yamlReader) logRego(f fields) (out []diag.Text) {
	for _, t := range r.paths(f.texts("rego")) {
		content := ""
		info, err := os.Stat(t.Value)
		if err == nil {
			content, err = readRegular(t.Value, info)
		}
		if err != nil {
			r.report(codeFile.Report(t.Span, "%s: %s", r.l.shown(t.Value), plainError(err)))
			continue
		}
		src := diag.NewSource(r.l.shown(t.Value), content)
		out = append(out, diag.NewText(src.Content, diag.Span{Source: src, End: len(src.Content)}, nil))
	}
	return out
}

// settleLog reports what does not hold. A repository must not break its user's agent.
func (l *Loader) settleLog() {
	for _, s := range l.logs {
		l.policy.Log = append(l.policy.Log, s.Setting)
	}
	if len(l.logs) == 0 {
		return
	}
	for _, u := range record.Settle(l.policy.Log).Unused {
		i := slices.IndexFunc(l.logs, func(s logSetting) bool { return s.At == u.At })
		d := codeLog.Report(u.At, "%s", u.Text).WithHint("remove it here")
		d.Severity = diag.Warning
		l.Report(l.logs[max(i, 0)].in, d)
	}
}
