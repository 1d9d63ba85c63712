package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// How much of a long list the text shows; json has all of it.
const (
	maxNames   = 8
	maxEdges   = 60
	maxMoments = 16
	maxTools   = 12
)

// edgeGroup is edges that differ in their ends only.
type edgeGroup struct {
	from, to []string // IDs
	key      string
	arrow    string
	why      string
}

func (t *textPage) edges(e *EventModel) {
	if len(e.Edges) == 0 && len(e.Breaks) == 0 {
		return
	}
	t.line(" " + t.Palette.paint(t.Palette.Title, "EDGES"))
	groups := groupEdges(e.Edges)
	names := newEdgeNames(e)
	ends, widest := make([]string, len(groups)), 0
	for i, g := range groups {
		ends[i] = names.join(g.from) + " " + g.arrow + " " + names.join(g.to)
		if w := textWidth(ends[i]); w <= 48 && g.why != "" {
			widest = max(widest, w)
		}
	}
	for i, g := range groups {
		if i == maxEdges {
			t.line(fmt.Sprintf("   … and %d more", len(groups)-maxEdges))
			break
		}
		if g.why == "" {
			t.para(3, "", "", strings.Fields(ends[i]), " ")
			continue
		}
		t.prose(3, pad(ends[i], widest), "", g.why)
	}
	for _, b := range e.Breaks {
		who := some(plainAll(b.Hooks), ", ", maxNames)
		if b.Any {
			who = "any gate"
		}
		to := string(b.Action)
		if b.To != "" {
			to = "leaves " + string(b.To) + " (" + to + ")"
		}
		t.para(3, "", "", strings.Fields(who+" ─"+strings.Join(b.On, "/")+"─► "+to), " ")
	}
}

// groupEdges puts edges with one origin and one reason together, then origins
// with the same targets, in the order of the chain.
func groupEdges(edges []EdgeModel) []edgeGroup {
	byFrom := lists.Copy(edges)
	at, order := map[string]int{}, map[string]int{}
	var groups []edgeGroup
	for _, e := range byFrom {
		if _, ok := order[e.From]; !ok {
			order[e.From] = len(order)
		}
	}
	for _, e := range byFrom {
		g := edgeGroup{from: []string{e.From}, to: []string{e.To}, arrow: arrow(&e), why: plain(e.Why)}
		if len(e.Fields) > 0 {
			g.why = ""
		}
		g.key = g.arrow + "\x00" + g.why
		i, ok := at[e.From+"\x00"+g.key]
		if !ok {
			at[e.From+"\x00"+g.key] = len(groups)
			groups = append(groups, g)
			continue
		}
		groups[i].to = append(groups[i].to, e.To)
	}
	sort.SliceStable(groups, func(i, j int) bool { return order[groups[i].from[0]] < order[groups[j].from[0]] })
	merged := map[string]int{}
	var out []edgeGroup
	for _, g := range groups {
		key := g.key + "\x00" + strings.Join(g.to, "\x00")
		if i, ok := merged[key]; ok {
			out[i].from = append(out[i].from, g.from...)
			continue
		}
		merged[key] = len(out)
		out = append(out, g)
	}
	return out
}

func arrow(e *EdgeModel) string {
	what := string(e.Kind)
	switch {
	case len(e.Fields) > 0:
		what += "(" + plain(strings.Join(e.Fields, ", ")) + ")"
	case e.Start:
		what += "(start)"
	}
	return "─" + what + "─►"
}

// edgeNames turns IDs into names; all members of a group are its name.
type edgeNames struct {
	label  map[string]string
	groups []ItemModel
}

func newEdgeNames(e *EventModel) *edgeNames {
	n := &edgeNames{label: map[string]string{}}
	for _, item := range e.Items {
		for _, h := range item.Hooks {
			n.label[h.ID] = plain(h.Label)
		}
		if item.Group != "" && len(item.Hooks) > 1 {
			n.groups = append(n.groups, item)
		}
	}
	return n
}

func (n *edgeNames) join(ids []string) string {
	var out []string
	done := map[string]bool{}
	for _, id := range ids {
		if done[id] {
			continue
		}
		name := n.label[id]
		for _, item := range n.groups {
			whole := !lists.Some(item.Hooks, func(h *HookModel) bool { return !lists.Has(ids, h.ID) })
			member := lists.Some(item.Hooks, func(h *HookModel) bool { return h.ID == id })
			if !whole || !member {
				continue
			}
			name = plain(item.Group)
			for _, h := range item.Hooks {
				done[h.ID] = true
			}
		}
		out = append(out, name)
	}
	return some(out, ", ", maxNames)
}

// engines says which hooks are evaluated how, where a kind has several ways:
// those whose engine gives a reason.
func (t *textPage) engines(e *EventModel) {
	var ways []string
	hooks := map[string][]string{}
	for i := range e.Items {
		for _, h := range e.Items[i].Hooks {
			if h.RecheckOf != "" || !strings.Contains(h.Engine, "(") {
				continue
			}
			way := h.way()
			if hooks[way] == nil {
				ways = append(ways, way)
			}
			hooks[way] = append(hooks[way], plain(h.Name))
		}
	}
	for i, way := range ways {
		ways[i] = some(hooks[way], ", ", maxNames) + ": " + plain(way)
	}
	t.list("ENGINES", ways)
}

// list writes a title and a line for each item; nothing where there is none.
func (t *textPage) list(title string, items []string) {
	if len(items) > 0 {
		t.title(1, title)
	}
	for _, s := range items {
		t.prose(3, "", "", s)
	}
}

// way is how a hook is evaluated, by hookc and where there is only hookgate.
func (h *HookModel) way() string {
	switch why, no := strings.CutPrefix(h.Cold, "no: "); {
	case h.Cold == "yes":
		return h.Engine + ", cold"
	case no && !strings.Contains(h.Engine, "topdown"): // which says why already
		return h.Engine + ", cold: no, " + why
	}
	return h.Engine
}

func (t *textPage) timeline(e *EventModel) {
	t.list("CONCURRENCY", e.moments())
}

// moments is the timeline in words, one text a moment.
func (e *EventModel) moments() []string {
	var parts []string
	for i := 0; i < len(e.Timeline); i++ {
		if len(parts) == maxMoments {
			return append(parts, fmt.Sprintf("… %d more steps", len(e.Timeline)-i))
		}
		at := &e.Timeline[i]
		part := "t=0: "
		if at.AtUS > 0 {
			part = at.AtUS.Text(2) + ": "
		}
		part += e.moment(at)
		if i+1 < len(e.Timeline) && e.follows(at, &e.Timeline[i+1]) {
			i++
			part += ", then " + e.moment(&e.Timeline[i])
		}
		parts = append(parts, part)
	}
	return parts
}

// follows reports whether next starts as soon as the slot at is evaluated;
// slot 0 has a moment of its own.
func (e *EventModel) follows(at, next *MomentModel) bool {
	return at.Slot > 0 && next.Slot < 0 && next.AtUS-at.AtUS <= e.slot(at.Slot).EstUS+1
}

func (e *EventModel) slot(k int) SlotModel {
	for _, s := range e.Slots {
		if s.Slot == k {
			return s
		}
	}
	return SlotModel{}
}

func (e *EventModel) moment(at *MomentModel) string {
	if at.Slot < 0 {
		return some(plainAll(at.Hooks), " ∥ ", maxNames)
	}
	s := e.slot(at.Slot)
	if at.Slot == 0 {
		return "slot0 (" + s.Holds + ", inline)"
	}
	return fmt.Sprintf("slot%d (%s)", s.Slot, s.Holds)
}

func (t *textPage) estimates(e *EventModel, tool string) {
	if len(e.Items) == 0 {
		return
	}
	whole := "all hooks"
	if tool != "" && len(e.Tools) > 0 {
		whole = plain(tool)
	}
	t.estimate(whole, &e.Estimate, e.outside())
	shown := 0
	for i := range e.Tools {
		g := &e.Tools[i]
		if tool != "" && lists.Has(g.Tools, tool) {
			continue
		}
		if shown++; shown > maxTools {
			t.line(fmt.Sprintf(" … and %d more groups of tools", len(e.Tools)-maxTools))
			break
		}
		t.estimate(some(plainAll(g.Tools), ", ", maxNames), &g.EstimateModel, e.outside())
	}
	if len(e.Tools) == 0 || !e.outside() {
		return
	}
	free := "none"
	if len(e.NoProcess) > 0 {
		free = some(plainAll(e.NoProcess), ", ", maxNames)
	}
	t.prose(3, "tools never reaching a process:", "", free)
}

// outside reports whether a hook of the event runs outside of this process.
func (e *EventModel) outside() bool { return e.has(ModeProcess) || e.has(ModeLLM) || e.has(ModeAsync) }

// estimate writes what a call may take. Of processes it speaks only where the event has
// hooks outside of this one.
func (t *textPage) estimate(what string, m *EstimateModel, outside bool) {
	if len(m.Path) == 0 {
		t.para(1, "ESTIMATE "+what, t.Palette.Title, []string{"nothing runs"}, "")
		return
	}
	parts := []string{"serial " + m.SerialUS.Text(3),
		"critical path " + m.CriticalUS.Text(3) + " = " + some(plainAll(m.Path), " → ", maxNames)}
	switch {
	case m.FirstDenyUS > 0 && m.Processes+m.Models == 0:
		parts = append(parts, "first deny "+m.FirstDenyUS.Text(2))
	case m.FirstDenyUS > 0:
		parts = append(parts, fmt.Sprintf("first deny %s, %s", m.FirstDenyUS.Text(2), count(m.FirstDenyStarts, "process", "processes")))
	case m.Processes+m.Models > 0:
		parts = append(parts, "no hook denies in process")
	}
	if outside && m.Processes+m.Models == 0 {
		parts = append(parts, "all in process")
	}
	t.para(1, "ESTIMATE "+what, t.Palette.Title, parts, "   ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (t *textPage) unmatched(e *EventModel, tool string) {
	if len(e.Unmatched) == 0 {
		return
	}
	var parts []string
	for _, u := range e.Unmatched {
		parts = append(parts, u.ID+" "+plain(u.Name)+" ("+plain(u.Filter)+")")
	}
	t.list("NOT FOR "+plain(tool), parts)
}

// dead lists the hooks that can never run, or those that are not in force.
func (t *textPage) dead(e *EventModel, title string, never bool) {
	hooks := lists.Without(e.Dead, func(d *DeadModel) bool { return (d.Status == dag.Dead) != never })
	if len(hooks) == 0 {
		return
	}
	t.line(" " + t.Palette.paint(t.Palette.Title, title))
	tab := &table{columns: []column{{least: 8}, {}, {}}}
	for _, d := range hooks {
		tab.rows = append(tab.rows, textRow(plain(d.Name), d.Tier.String(), string(d.Status)))
	}
	widths := tab.widths()
	for i, d := range hooks {
		lead := ""
		for j, c := range tab.rows[i].cells {
			lead += pad(c.text, widths[j]) + "  "
		}
		why := d.Reason
		if d.By != "" && !strings.Contains(why, d.By) {
			why += " (by " + d.By + ")"
		}
		if d.Code != "" {
			why += "  " + d.Code
		}
		t.prose(3, strings.TrimSuffix(lead, "  "), t.Palette.Faint, why)
	}
}

func (t *textPage) open(e *EventModel) {
	if len(e.Open) == 0 {
		return
	}
	t.line(" " + t.Palette.paint(t.Palette.Warn, "OPEN"))
	for _, o := range e.Open {
		t.prose(3, plain(o.Hook), t.Palette.Name, o.Why)
	}
}

func (t *textPage) diagnostic(d *DiagnosticModel) {
	lead, role := "WARN", t.Palette.Warn
	switch d.Severity {
	case "error":
		lead, role = "ERROR", t.Palette.Bad
	case "hint":
		lead, role = "HINT", t.Palette.Faint
	}
	text := d.Msg
	if d.Hook != "" && !strings.Contains(d.Msg, d.Hook) {
		text = d.Hook + ": " + text
	}
	if d.Fix != "" {
		text += " → " + d.Fix
	}
	if d.File != "" {
		text += fmt.Sprintf("  (%s:%d:%d)", d.File, d.Line, d.Column)
	}
	t.prose(0, lead+" "+d.Code, role, text)
}

func (t *textPage) losses(e *EventModel) {
	if len(e.Losses) == 0 {
		return
	}
	t.line(" " + t.Palette.paint(t.Palette.Title, "DEGRADED"))
	for _, l := range e.Losses {
		t.prose(3, l.String(), t.Palette.Name, l.Why)
	}
}
