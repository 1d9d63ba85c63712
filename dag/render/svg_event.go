package render

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render/layout"
)

// foldAbove is how many rules of a slot are drawn each on its own.
const foldAbove = 8

// drawing is an event's picture before layout: box 0 is the event, the last
// is the decision, the cells are between.
type drawing struct {
	boxes []layout.Box
	texts []boxText
	cells []cellOf
	at    map[string]int // box by the id of a hook
	links []layout.Link
	edges []*EdgeModel // of links; nil for the event's and the decision's
	title map[string]string
	cols  int // of a line in a box
}

// cellOf is what a box holds: a hook, or many rules of a slot.
type cellOf struct {
	hooks []*HookModel
	group string
}

// drawEvent draws an event, and says whether rules are folded into one box.
func drawEvent(e *EventModel, fold, narrow bool) (*picture, bool) {
	p := &picture{title: string(e.Event), narrow: narrow}
	sub := ""
	if len(e.Items) > 0 {
		sub = "critical path " + e.Estimate.CriticalUS.Text(3) + ", serial " + e.Estimate.SerialUS.Text(3)
		if e.Estimate.FirstDenyUS > 0 {
			sub += ", first deny " + e.Estimate.FirstDenyUS.Text(2)
		}
	}
	p.heading(eventTitle(e), sub)
	folded := false
	if len(e.Items) > 0 {
		folded = p.chain(e, fold)
	} else {
		p.note("", "no hook runs here: the event proceeds")
	}
	for i := range e.Breaks {
		b := &e.Breaks[i]
		who := some(plainAll(b.Hooks), ", ", maxNames)
		if b.Any {
			who = "any gate"
		}
		p.note("hk-warn", who+" ─ "+strings.Join(b.On, "/")+" → "+breakTarget(b))
	}
	for i := range e.Dead {
		p.note("hk-faint", plain(e.Dead[i].Name)+" – "+deadText(&e.Dead[i]))
	}
	p.h += margin
	return p, folded
}

// chain draws the boxes and arrows of an event.
func (p *picture) chain(e *EventModel, fold bool) bool {
	d := newDrawing(e, fold, p.cols())
	frames, w, h := layout.Place(d.boxes, d.links, titleWidths(d.title), p.narrow)
	dy := p.h
	p.drawFrames(frames, dy, d.title)
	for i := range d.links {
		k := &d.links[i]
		if k.Hidden {
			continue
		}
		class, title := "flow", ""
		if edge := d.edges[i]; edge != nil {
			class, title = string(edge.Kind), edgeText(edge)+": "+edge.Why
		}
		p.drawLink(k, class, d.id(k.From), d.id(k.To), title, dy)
	}
	last := len(d.boxes) - 1
	p.drawBox(&d.boxes[0], &d.texts[0], "end", "", "", "the event fires", dy)
	folded := false
	for i := range d.cells {
		c := &d.cells[i]
		if len(c.hooks) == 1 {
			p.drawBox(&d.boxes[i+1], &d.texts[i+1], c.hooks[0].Mode, c.hooks[0].ID, "", hookTitle(c.hooks[0]), dy)
			continue
		}
		folded = true
		ids := make([]string, len(c.hooks))
		for j, h := range c.hooks {
			ids[j] = h.ID
		}
		p.drawBox(&d.boxes[i+1], &d.texts[i+1], ModeInline, c.id(), strings.Join(ids, " "), "rules that are evaluated together", dy)
	}
	p.drawBox(&d.boxes[last], &d.texts[last], "end", "", "", "results retire in order and make the Decision", dy)
	p.w = max(p.w, w+2*margin)
	p.h = dy + h + 10
	p.legend(e, frames)
	p.h += 6
	return folded
}

// titleWidths are the widths of the titles of frames.
func titleWidths(titles map[string]string) map[string]float64 {
	out := map[string]float64{}
	for group, title := range titles {
		out[group] = layout.Width(title, runeWidth) * textSize
	}
	return out
}

// hookTitle is what a box tells when it is pointed at.
func hookTitle(h *HookModel) string {
	parts := []string{h.Name}
	for _, s := range []string{h.Description, h.Because, h.Origin} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	parts = append(parts, "reads "+flow(h))
	return strings.Join(append(parts, "on error "+h.OnError.String()), " · ")
}

// legend says what colours and lines mean, of those that are drawn.
func (p *picture) legend(e *EventModel, frames []layout.Frame) {
	x := margin
	p.h += lineH
	next := func(text string, draw func(y float64)) {
		lines := wrap(strings.Fields(text), " ", 0, p.room(1000, colWidth)-5)
		width := 0.0
		for _, line := range lines {
			width = max(width, 34+layout.Width(line, runeWidth)*textSize+16)
		}
		if x > margin && x+width > p.legendWidth() {
			x, p.h = margin, p.h+lineH+2
		}
		draw(p.h - 4)
		for i, line := range lines {
			p.h += lineH * float64(min(i, 1))
			p.text(x+34, p.h, "hk-faint", line)
		}
		x += width
	}
	for _, k := range []struct{ mode, text string }{{ModeInline, "evaluated in process"}, {ModeProcess, "a process"},
		{ModeLLM, "a question to a model"}, {ModeAsync, "started, not waited for"}} {
		if e.has(k.mode) {
			next(k.text, func(y float64) {
				fmt.Fprintf(&p.body, `<g class="hk-%s"><rect class="hk-box" x="%s" y="%s" width="28" height="11" rx="3"/></g>`+"\n", k.mode, num(x), num(y-6))
			})
		}
	}
	if len(frames) > 0 {
		next("evaluated or started together", func(y float64) {
			fmt.Fprintf(&p.body, `<rect class="hk-frame" x="%s" y="%s" width="28" height="11" rx="3"/>`+"\n", num(x), num(y-6))
		})
	}
	for _, k := range []struct {
		kind dag.EdgeKind
		text string
	}{{dag.DataEdge, "data: reads what the other may write"}, {dag.GateEdge, "gate: not started while the other may end the chain"},
		{dag.OrderEdge, "order: their use of the world is not swapped"}} {
		if slices.ContainsFunc(e.Edges, func(edge EdgeModel) bool { return edge.Kind == k.kind }) {
			next(k.text, func(y float64) {
				p.drawLink(&layout.Link{Points: []layout.Point{{X: x - margin, Y: y}, {X: x - margin + 28, Y: y}}}, string(k.kind), "", "", k.text, 0)
			})
		}
	}
}

// legendWidth is where a line of the legend ends.
func (p *picture) legendWidth() float64 {
	if p.narrow {
		return narrowWidth
	}
	return max(p.w, 700)
}

// has reports whether a hook of the event runs in this mode.
func (e *EventModel) has(mode string) bool {
	for i := range e.Items {
		if slices.ContainsFunc(e.Items[i].Hooks, func(h HookModel) bool { return h.Mode == mode }) {
			return true
		}
	}
	return false
}

func newDrawing(e *EventModel, fold bool, cols int) *drawing {
	d := &drawing{cols: cols, at: map[string]int{}, title: map[string]string{}}
	d.add([]string{plain(string(e.Event))}, "")
	d.collect(e, fold)
	if !d.sort(e) {
		d.cells = nil
		d.collect(e, false)
	}
	for i := range d.cells {
		c := &d.cells[i]
		for _, h := range c.hooks {
			d.at[h.ID] = len(d.boxes)
		}
		if len(c.hooks) == 1 {
			d.add(boxLines(c.hooks[0]), c.group)
		} else {
			d.add(c.foldedLines(e), "")
		}
	}
	d.connect(e)
	return d
}

// collect makes the cells of an event in the order of its hooks.
func (d *drawing) collect(e *EventModel, fold bool) {
	slots := map[string]int{}
	for i := range e.Items {
		item := &e.Items[i]
		for j := range item.Hooks {
			h := &item.Hooks[j]
			group := ""
			switch {
			case item.Group != "":
				group = "item" + item.Pos
				d.title[group] = plain(item.Group) + " – parallel, " + item.Fold.String()
			case h.Slot >= 0:
				group = "slot" + strconv.Itoa(h.Slot)
				d.title[group] = "slot " + strconv.Itoa(h.Slot) + ", in process"
				if at, ok := slots[group]; ok && fold {
					d.cells[at].hooks = append(d.cells[at].hooks, h)
					continue
				}
				slots[group] = len(d.cells)
			}
			d.cells = append(d.cells, cellOf{[]*HookModel{h}, group})
		}
	}
	var out []cellOf
	for _, c := range d.cells {
		if len(c.hooks) > foldAbove {
			out = append(out, c)
			continue
		}
		for _, h := range c.hooks {
			out = append(out, cellOf{[]*HookModel{h}, c.group})
		}
	}
	d.cells = out
}

// sort puts each cell behind those that it waits for. It is false when a cell of
// several hooks would wait for itself.
func (d *drawing) sort(e *EventModel) bool {
	at := map[string]int{}
	for i, c := range d.cells {
		for _, h := range c.hooks {
			at[h.ID] = i
		}
	}
	edges := make([]dag.Edge, len(e.Edges))
	for i, edge := range e.Edges {
		edges[i] = dag.Edge{From: at[edge.From], To: at[edge.To]}
	}
	ranks, ok := layout.Ranks(len(d.cells), edges)
	if !ok {
		return false
	}
	order := make([]int, len(d.cells))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return ranks[order[i]] < ranks[order[j]] })
	cells := make([]cellOf, len(order))
	for i, from := range order {
		cells[i] = d.cells[from]
	}
	d.cells = cells
	return true
}

// id is what the viewer knows the cell by.
func (c *cellOf) id() string {
	if len(c.hooks) == 1 {
		return c.hooks[0].ID
	}
	return c.group
}

// foldedLines is what the box of many rules says.
func (c *cellOf) foldedLines(e *EventModel) []string {
	names, slot := make([]string, len(c.hooks)), c.hooks[0].Slot
	for i, h := range c.hooks {
		names[i] = plain(h.Label)
	}
	return []string{fmt.Sprintf("%d rules", len(c.hooks)), fmt.Sprintf("slot %d, in process · %s", slot, e.slot(slot).EstUS.Text(2)), some(names, ", ", 3)}
}

func (d *drawing) add(lines []string, group string) {
	text := newBoxText(lines, d.cols)
	d.boxes, d.texts = append(d.boxes, text.box(group)), append(d.texts, text)
}

func (d *drawing) id(box int) string {
	if box < 1 || box > len(d.cells) {
		return ""
	}
	return d.cells[box-1].id()
}

// connect adds the links: every data edge and those gate and order edges no
// other path implies, with so many edges that they would hide each other only
// the latter of any kind; from the event to what waits for nothing and from
// what nothing waits for to the decision, one link for the boxes of a slot.
func (d *drawing) connect(e *EventModel) {
	last := len(d.boxes)
	d.add([]string{"Decision"}, "")
	edges := make([]dag.Edge, 0, len(e.Edges))
	models := make([]*EdgeModel, 0, len(e.Edges))
	data, seen := 0, map[string]bool{}
	for i := range e.Edges {
		edge := &e.Edges[i]
		from, to := d.at[edge.From], d.at[edge.To]
		key := fmt.Sprint(from, to, edge.Kind)
		folded := len(d.cells[from-1].hooks) > 1 || len(d.cells[to-1].hooks) > 1
		if from == to || folded && seen[key] {
			continue
		}
		seen[key] = true
		edges, models = append(edges, dag.Edge{From: from, To: to}), append(models, edge)
		if edge.Kind == dag.DataEdge {
			data++
		}
	}
	graph := dag.NewGraph(len(d.boxes), edges)
	implied := graph.Reduced()
	crowded := data > 3*len(d.boxes)+100
	for i, edge := range models {
		if (edge.Kind != dag.DataEdge || crowded) && implied(edges[i].From, edges[i].To) {
			continue
		}
		d.links = append(d.links, layout.Link{From: edges[i].From, To: edges[i].To})
		d.edges = append(d.edges, edge)
	}
	d.ends(graph, last)
}

// ends joins the event and the decision to the hooks, once a frame.
func (d *drawing) ends(graph *dag.Graph, last int) {
	seen := map[string]bool{}
	join := func(from, to, hook int) {
		hidden := false
		if group := d.boxes[hook].Group; group != "" {
			frame := fmt.Sprintf("%d>%d %s", min(from, 1), to/last, group)
			hidden = seen[frame]
			seen[frame] = true
		}
		d.links, d.edges = append(d.links, layout.Link{From: from, To: to, Frames: true, Hidden: hidden}), append(d.edges, nil)
	}
	waited, awaited := false, func(v int) bool { return d.cells[v-1].hooks[0].Mode != ModeAsync }
	for v := 1; v < last; v++ {
		if len(graph.In(v)) == 0 {
			join(0, v, v)
		}
		if awaited(v) && !slices.ContainsFunc(graph.Out(v), awaited) {
			join(v, last, v)
			waited = true
		}
	}
	if !waited {
		d.links, d.edges = append(d.links, layout.Link{From: 0, To: last}), append(d.edges, nil)
	}
}

// pipeLines is what the box of a step says: its event, and below it the hooks.
func pipeLines(text string) []string {
	name, hooks, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if hooks == "" {
		return []string{text}
	}
	return append([]string{name}, wrap(strings.Split(hooks, " "), " ", 0, 28)...)
}

// drawPipeline draws a pipeline's events and actions with its break edges.
func drawPipeline(m *PipelineModel, narrow bool) *picture {
	p := &picture{title: "pipeline " + m.Name, narrow: narrow}
	p.heading("pipeline "+plain(m.Name), "")
	nodes, edges := pipeGraph(m, "p")
	at := map[string]int{}
	var boxes []layout.Box
	var texts []boxText
	for i, n := range nodes {
		at[n.id] = i
		text := newBoxText(pipeLines(n.text), p.cols())
		boxes, texts = append(boxes, text.box("")), append(texts, text)
	}
	links := make([]layout.Link, len(edges))
	for i, e := range edges {
		links[i] = layout.Link{From: at[e.from], To: at[e.to]}
	}
	_, w, h := layout.Place(boxes, links, nil, p.narrow)
	dy := p.h
	for i, e := range edges {
		class := "flow"
		if e.breaks {
			class = "break"
		}
		p.drawLink(&links[i], class, "", "", e.text, dy)
	}
	for i, n := range nodes {
		class := "event"
		if n.action {
			class = "action"
		}
		p.drawBox(&boxes[i], &texts[i], class, "", "", n.text, dy)
	}
	p.w, p.h = max(p.w, w+2*margin), dy+h+6
	for i := range m.Breaks {
		b := &m.Breaks[i]
		text := some(plainAll(b.Hooks), ", ", maxNames) + " at " + string(b.Event) + " ─ " + strings.Join(b.On, "/") + " → leaves " + string(b.To)
		if skips := m.skipped(b.Skips); len(skips) > 0 {
			text += ", skips " + some(skips, ", ", maxNames)
		}
		p.note("hk-warn", text)
	}
	p.h += margin
	return p
}
