package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
)

// textPage collects the lines of a text rendering.
type textPage struct {
	Style
	b bytes.Buffer
}

func (t *textPage) line(s string) {
	t.b.WriteString(strings.TrimRight(s, " "))
	t.b.WriteByte('\n')
}

// para writes a lead in the role's colour and then words, wrapped under the
// first word; words are joined by sep.
func (t *textPage) para(indent int, lead, role string, words []string, sep string) {
	margin, hang := strings.Repeat(" ", indent), indent
	if lead != "" && len(words) > 0 {
		hang = indent + textWidth(lead) + 3
	}
	at, room := hang, 0
	if t.Width > 0 {
		if hang > t.Width/2 {
			hang = min(indent+3, t.Width/2)
		}
		room = t.Width - hang
	}
	if t.Width > 0 && at > t.Width-8 && lead != "" {
		for _, s := range wrap(strings.Fields(lead), " ", 0, t.Width-indent) {
			t.line(margin + t.Palette.paint(role, s))
		}
		lead, at, margin = "", hang, strings.Repeat(" ", hang)
		if len(words) == 0 {
			return
		}
	} else if at > indent {
		lead = pad(lead, at-indent)
	}
	for i, s := range wrap(words, sep, at-hang, room) {
		if i > 0 {
			t.line(strings.Repeat(" ", hang) + s)
			continue
		}
		t.line(margin + t.Palette.paint(role, strings.TrimRight(lead, " ")) + lead[len(strings.TrimRight(lead, " ")):] + s)
	}
}

// title writes a line of its own in the role of titles.
func (t *textPage) title(indent int, text string) {
	for _, s := range wrap(strings.Fields(text), " ", 0, max(0, t.Width-indent)) {
		t.line(strings.Repeat(" ", indent) + t.Palette.paint(t.Palette.Title, s))
	}
}

func (t *textPage) prose(indent int, lead, role, text string) {
	t.para(indent, lead, role, strings.Fields(plain(text)), " ")
}

func renderText(w io.Writer, m *Model, style Style) error {
	t := &textPage{Style: style}
	t.header(m)
	if len(m.Events) == 0 {
		t.line("no hooks: every event proceeds")
	}
	for i := range m.Events {
		if t.b.Len() > 0 {
			t.line("")
		}
		t.event(&m.Events[i], m.Tool)
	}
	t.pipelines(m)
	if len(m.Diagnostics)+len(m.Warnings)+len(m.Notes) > 0 {
		t.line("")
	}
	for _, d := range m.Diagnostics {
		t.diagnostic(&d)
	}
	for _, d := range m.Warnings {
		t.diagnostic(&d)
	}
	for _, n := range m.Notes {
		t.prose(0, "NOTE", t.Palette.Faint, n)
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// ShortHash is the first eight digits of a program's hash.
func ShortHash(hash string) string {
	_, digits, ok := strings.Cut(hash, ":")
	if !ok {
		digits = hash
	}
	return digits[:min(8, len(digits))]
}

func (t *textPage) header(m *Model) {
	var parts []string
	for _, s := range m.Sources {
		what := s.Tier.String()
		if s.Untrusted != "" {
			what += ", not trusted"
		}
		parts = append(parts, plain(s.Name)+" ("+what+")")
	}
	if hash := ShortHash(m.Hash); hash != "" {
		parts = append(parts, "plan "+hash)
	}
	if m.Agent != "" {
		parts = append(parts, "for "+plain(m.Agent))
	}
	if m.Compiled > 0 {
		parts = append(parts, "compiled in "+m.Compiled.Round(time.Microsecond*100).String())
	}
	if len(parts) > 0 {
		t.para(0, "", "", parts, "  ")
	}
	for _, s := range m.Sources {
		if s.Untrusted != "" {
			t.prose(0, "NOT TRUSTED "+plain(s.Name), t.Palette.Warn, s.Untrusted)
		}
		for _, c := range s.uncovered() {
			t.prose(0, "NOT COVERED "+plain(s.Name), t.Palette.Warn, "runs what cannot be determined: "+c)
		}
	}
}

func (t *textPage) event(e *EventModel, tool string) {
	t.eventLine(e, tool)
	if len(e.Items) == 0 {
		t.line(" no hook runs here: the event proceeds")
	} else {
		for i, s := range t.hooks(e).lines(1, &t.Style) {
			if i == 0 {
				s = t.Palette.paint(t.Palette.Faint, s)
			}
			t.line(s)
		}
	}
	t.engines(e)
	t.edges(e)
	t.timeline(e)
	t.estimates(e, tool)
	t.unmatched(e, tool)
	t.dead(e, "DEAD", true)
	t.dead(e, "NOT IN FORCE", false)
	t.open(e)
	t.losses(e)
}

func (t *textPage) eventLine(e *EventModel, tool string) {
	words := []string{"strategy " + string(e.Strategy), e.Halts}
	if e.ByPriority {
		words = append(words, "by priority before tier")
	}
	if e.DeadlineMS > 0 {
		words = append(words, "deadline "+duration(e.DeadlineMS))
	}
	switch {
	case len(e.Items) == 0:
		words = nil
	case e.Posture == "open":
		names := make([]string, len(e.Open))
		for i, o := range e.Open {
			names[i] = plain(o.Hook)
		}
		words = append(words, "posture OPEN ("+some(names, ", ", 6)+")")
	case e.Class == policy.Guard, e.Class == policy.Quality:
		words = append(words, "posture closed")
	}
	if tool != "" && len(words) > 0 {
		words = append(words, "tool "+plain(tool))
	}
	t.para(0, "EVENT "+plain(string(e.Event)), t.Palette.Title, words, " · ")
}

// duration is a time in milliseconds the way policies write it: 30s, 2m30s.
func duration(ms float64) string {
	s := (time.Duration(ms * float64(time.Millisecond))).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// some joins the first n names and counts the rest.
func some(names []string, sep string, n int) string {
	if len(names) <= n+1 {
		return strings.Join(names, sep)
	}
	return strings.Join(names[:n], sep) + fmt.Sprintf("%s… %d more", sep, len(names)-n)
}

func plainAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = plain(n)
	}
	return out
}

// hooks is the table of the chain.
func (t *textPage) hooks(e *EventModel) *table {
	tab := &table{grow: 6, columns: []column{
		{}, {least: 12}, {}, {least: 4}, {}, {least: 6}, {least: 8}, {least: 4}, {least: 3}, {least: 7}, {right: true}}}
	tab.rows = append(tab.rows, textRow("#", "hook", "", "tier", "kind", "filter", "reads → writes", "may", "world", "runs", "est"))
	for i := range e.Items {
		item := &e.Items[i]
		grouped := item.Parallel || item.Group != ""
		if grouped {
			tab.rows = append(tab.rows, t.groupRow(item))
		}
		for j := range item.Hooks {
			branch := ""
			if grouped {
				branch = "├ "
				if j == len(item.Hooks)-1 {
					branch = "└ "
				}
			}
			tab.rows = append(tab.rows, t.hookRow(&item.Hooks[j], branch))
		}
	}
	return tab
}

//go:noinline
func textRow(texts ...string) row {
	r := row{cells: make([]cell, len(texts))}
	for i, s := range texts {
		r.cells[i].text = s
	}
	return r
}

func (t *textPage) groupRow(item *ItemModel) row {
	fold := map[policy.Fold]string{policy.FoldMax: "most restrictive wins", policy.FoldFirst: "the first verdict wins",
		policy.FoldLast: "the last verdict wins", policy.FoldNone: "nothing is decided"}[item.Fold]
	r := textRow(item.Pos, plain(item.Group), "", item.Hooks[0].Tier.String())
	r.span, r.from, r.to = "parallel: all run on one snapshot, "+fold, 4, 11
	if item.Group == "" {
		r.from = 1
	}
	return r
}

func (t *textPage) hookRow(h *HookModel, branch string) row {
	number, lock, tier := h.ID, "", h.Tier.String()
	if branch != "" {
		number, tier = "", ""
	}
	if h.Locked {
		lock = "🔒"
	}
	r := textRow(number, branch+plain(h.Label), lock, tier, string(h.Kind), plain(h.Filter), flow(h), may(h), world(h), runs(h), h.EstUS.Text(2))
	r.cells[1].role = t.Palette.Name
	if h.RecheckOf == "" {
		return r
	}
	r.cells[1].text = branch + plain(h.Name)
	if branch != "" {
		r.cells[1].text = branch + plain(h.Label)
	}
	r.span, r.from, r.to = strings.TrimSuffix("(recheck of "+h.RecheckOf+": "+plain(h.Because), ": ")+")", 2, 9
	return r
}

func flow(h *HookModel) string {
	s := strings.Join(plainAll(h.Reads), ", ")
	if s == "" {
		s = "–"
	}
	if len(h.Writes) > 0 {
		s += " → " + strings.Join(plainAll(h.Writes), ", ")
	}
	return s
}

func may(h *HookModel) string {
	out := strings.Join(h.May, " ")
	switch {
	case h.Enforcement != "":
		out = "nothing (" + string(h.Enforcement) + ")"
	case len(h.May) == 0:
		out = "–"
	case h.MayAll && len(h.May) > 1:
		out = "*"
	}
	return strings.TrimSuffix(out+" in "+h.Rollout, " in ")
}

func world(h *HookModel) string {
	if h.World == policy.WorldUnset || h.World == policy.WorldNone {
		return "–"
	}
	return h.World.String()
}

func runs(h *HookModel) string {
	switch {
	case h.Mode == ModeInline && h.Slot >= 0:
		return fmt.Sprintf("%s s%d", h.Mode, h.Slot)
	case h.Durable:
		return h.Mode + ",durable"
	case h.Mode != ModeInline && h.Spec:
		return h.Mode + ",spec"
	}
	return h.Mode
}
