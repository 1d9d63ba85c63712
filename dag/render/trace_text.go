package render

import (
	"io"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// TraceRenderer draws a TraceModel in one form.
type TraceRenderer struct {
	Name string
	// Doc says in a line what comes out.
	Doc string
	// Render writes m to w. The error is w's.
	Render func(w io.Writer, m *TraceModel, style Style) error
}

var traceRenderers = []TraceRenderer{
	{"text", "one line a hook", renderTrace},
	{"json", "the model the text is drawn from", func(w io.Writer, m *TraceModel, _ Style) error {
		text, err := indented(m)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}},
}

// FindTraceRenderer returns the trace renderer of the given name.
func FindTraceRenderer(name string) (TraceRenderer, bool) {
	for _, r := range traceRenderers {
		if r.Name == name {
			return r, true
		}
	}
	return TraceRenderer{}, false
}

func renderTrace(w io.Writer, m *TraceModel, style Style) error {
	t := &textPage{Style: style}
	t.traceHeader(m)
	t.traceHooks(m)
	t.prose(0, "why", t.Palette.Title, m.Why)
	if ways := m.Engines(); ways != "" {
		t.prose(0, "engine", t.Palette.Title, plain(ways))
	}
	for _, c := range m.Changes {
		value := "deleted"
		if c.Value != nil {
			if raw, err := policy.EncodeJSON(c.Value); err == nil {
				value = string(raw)
			}
		}
		t.prose(0, "change "+c.Field, t.Palette.Title, cut(plain(value), 400))
	}
	for i, texts := range [][]string{m.Feedback, m.Context, m.System} {
		for _, s := range texts {
			t.prose(0, [...]string{"feedback", "context", "message"}[i], t.Palette.Title, s)
		}
	}
	if m.Degraded != "" {
		t.prose(0, "degraded", t.Palette.Warn, m.Degraded)
	}
	if m.Without != nil {
		t.prose(0, "without "+plain(m.Without.Hook), t.Palette.Title, m.Without.text(m.outside))
	}
	for _, d := range m.Warnings {
		t.diagnostic(&d)
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// Engines says what evaluated the rules of Rego that ran.
func (m *TraceModel) Engines() string {
	var ways []string
	hooks := map[string][]string{}
	for i := range m.Hooks {
		h := &m.Hooks[i]
		way := h.Engine
		if h.Left != "" {
			way += ", which left the event to OPA: " + h.Left
		}
		if way == "" {
			continue
		}
		if hooks[way] == nil {
			ways = append(ways, way)
		}
		hooks[way] = append(hooks[way], plain(h.Label))
	}
	for i, way := range ways {
		ways[i] = some(hooks[way], ", ", maxNames) + ": " + way
	}
	return strings.Join(ways, "   ")
}

// actionWord is the word a trace begins its verdict with.
func actionWord(m *TraceModel) string {
	if m.Verdict == policy.Deny && m.Control == policy.Go {
		return "DENY"
	}
	if m.Action == policy.Proceed && m.Verdict == policy.Allow {
		return "ALLOW"
	}
	return strings.ToUpper(string(m.Action))
}

func (t *textPage) traceHeader(m *TraceModel) {
	what := []string{plain(string(m.Event))}
	if m.Tool != "" {
		what = append(what, plain(m.Tool))
	}
	if m.Input != "" {
		what = append(what, cut(plain(m.Input), 100))
	}
	head := strings.Join(what, " ")
	for _, of := range [][2]string{{"facts", cut(plain(m.Facts), 100)}, {"session", plain(m.Session)}, {"use", plain(m.Use)}} {
		if of[1] != "" {
			head += "  " + of[0] + " " + of[1]
		}
	}
	verdict, role := actionWord(m), t.Palette.Bad
	if m.Action == policy.Proceed {
		role = t.Palette.Good
	}
	if m.By != "" {
		verdict += " by " + plain(m.By)
	}
	cost := []string{}
	if m.ElapsedUS > 0 {
		cost = append(cost, m.ElapsedUS.Text(2))
	}
	if m.outside {
		cost = append(cost, count(m.Processes, "process", "processes"))
	}
	if m.Models > 0 {
		cost = append(cost, count(m.Models, "model call", "model calls"))
	}
	tail := ""
	if len(cost) > 0 {
		tail = "  (" + strings.Join(cost, ", ") + ")"
	}
	if t.Width > 0 && textWidth(head)+4+textWidth(verdict+tail) > t.Width {
		t.line(cut(head, t.Width))
		t.line("  " + t.Palette.paint(role, cut(verdict, t.Width-2)) + cut(tail, max(0, t.Width-2-textWidth(verdict))))
		return
	}
	t.line(head + "    " + t.Palette.paint(role, verdict) + tail)
}

// traceHooks writes a line a hook; hooks not started for one reason share a
// line. What a narrow terminal cuts off is written out below.
func (t *textPage) traceHooks(m *TraceModel) {
	tab := &table{columns: []column{{least: 3}, {least: 8}, {}, {least: 16}, {right: true}, {}}}
	for i := 0; i < len(m.Hooks); i++ {
		h := &m.Hooks[i]
		if h.Status != policy.StatusNotStarted {
			tab.rows = append(tab.rows, t.traceRow(h))
			continue
		}
		ids := []string{h.ID}
		for ; i+1 < len(m.Hooks) && m.Hooks[i+1].Status == h.Status && m.Hooks[i+1].Why == h.Why; i++ {
			ids = append(ids, m.Hooks[i+1].ID)
		}
		r := textRow(h.ID, plain(h.Label), "", "", "", "")
		r.span, r.from, r.to = "not started: "+plain(h.Why), 2, 6
		if len(ids) > 1 {
			r.span, r.from = some(ids, ",", 12)+"  "+r.span, 0
		}
		tab.rows = append(tab.rows, r)
	}
	if len(tab.rows) == 0 {
		t.line(" no hook is on this event")
		return
	}
	for _, s := range tab.lines(1, &t.Style) {
		t.line(s)
	}
	for _, r := range tab.rows {
		if details := r.cells[3].text; tab.cuts(3, details) {
			t.prose(1, r.cells[1].text, t.Palette.Name, details)
		}
	}
}

func (t *textPage) traceRow(h *TraceHook) row {
	said := h.Verdict.String()
	if h.Control != policy.Go {
		said = strings.TrimPrefix(said+" "+h.Control.String(), "none ")
	}
	why := h.Why
	switch entry := dag.EntryStatus(h.Status); {
	case entry == dag.Disabled || entry == dag.Overridden:
		said, why = "not in force", string(entry)+": "+why
	case h.Status != policy.StatusRan:
		said = string(h.Status)
		if h.Decides {
			said += ", " + h.Verdict.String()
		}
	}
	var parts []string
	spoke := h.Verdict != policy.None || h.Control != policy.Go
	if h.At != "" && (spoke || h.Status == policy.StatusFailed) {
		parts = append(parts, plain(h.At))
	}
	for _, reason := range h.Reasons {
		parts = append(parts, `"`+plain(reason)+`"`)
	}
	if len(h.Saw) > 0 {
		parts = append(parts, "because "+plain(strings.Join(h.Saw, ", ")))
	}
	if why != "" {
		parts = append(parts, plain(why))
	}
	if h.Attempts > 1 {
		parts = append(parts, count(h.Attempts, "attempt", "attempts"))
	}
	spent, decides := "", ""
	if h.US > 0 {
		spent = h.US.Text(2)
	}
	if h.Decides {
		decides = "◄ decides"
	}
	r := textRow(h.ID, plain(h.Label), said, strings.Join(parts, "  "), spent, decides)
	r.cells[1].role, r.cells[5].role = t.Palette.Name, t.Palette.Title
	switch {
	case h.Status == policy.StatusFailed:
		r.cells[2].role = t.Palette.Warn
	case h.Status != policy.StatusRan:
		r.cells[2].role, r.cells[3].role = t.Palette.Faint, t.Palette.Faint
	case h.Verdict == policy.Deny || h.Control != policy.Go:
		r.cells[2].role = t.Palette.Bad
	case h.Verdict == policy.Allow:
		r.cells[2].role = t.Palette.Good
	}
	return r
}

// text is the counterfactual on one line; outside says whether the event has hooks
// that run outside of this process.
func (c *Counterfactual) text(outside bool) string {
	said := "no in-process hook decides"
	if !outside {
		said = "no hook decides"
	}
	if c.Verdict != policy.None || c.Action != policy.Proceed {
		said = string(c.Action)
		if c.By != "" {
			said = c.Verdict.String() + " by " + c.By + ", action " + said
		}
		if c.At != "" {
			said += " at " + c.At
		}
		if len(c.Reasons) > 0 {
			said += ` "` + strings.Join(c.Reasons, `" "`) + `"`
		}
	}
	if !outside {
		return said + "  (counterfactual)"
	}
	would := "no process would run"
	if len(c.WouldRun) > 0 {
		would = some(c.WouldRun, ", ", maxNames) + " would run"
	}
	return said + "; " + would + "  (counterfactual, rules only)"
}
