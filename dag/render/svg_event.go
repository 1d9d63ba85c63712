package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/dag"
)

// drawing is an event's picture before layout: box 0 is the event, the last
// is the decision, the hooks are between.
type drawing struct {
	boxes []box
	lines [][]string
	hooks []*HookModel
	at    map[string]int
	links []link
	edges []*EdgeModel // of links; nil for the event's and the decision's
}

func drawEvent(e *EventModel) *picture {
	p := &picture{title: string(e.Event)}
	sub := ""
	if len(e.Items) > 0 {
		sub = "critical path " + e.Estimate.CriticalUS.Text(3) + ", serial " + e.Estimate.SerialUS.Text(3)
		if e.Estimate.FirstDenyUS > 0 {
			sub += ", first deny " + e.Estimate.FirstDenyUS.Text(2)
		}
	}
	p.heading(eventTitle(e), sub)
	if len(e.Items) > 0 {
		p.chain(e)
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
		p.note("hk-faint", "not in the chain: "+plain(e.Dead[i].Name)+" – "+deadText(&e.Dead[i]))
	}
	p.h += margin
	return p
}

// chain draws the boxes and arrows of an event.
func (p *picture) chain(e *EventModel) {
	d := newDrawing(e)
	frames, w, h := layout(d.boxes, d.links)
	dy := p.h
	groups := map[string]string{}
	for _, item := range e.Items {
		groups["item"+item.Pos] = plain(item.Group) + " – parallel, " + item.Fold.String()
	}
	p.drawFrames(frames, dy, func(group string) string {
		if slot, ok := strings.CutPrefix(group, "slot"); ok {
			return "slot " + slot + ", in process"
		}
		return groups[group]
	})
	for i, k := range d.links {
		if k.hidden {
			continue
		}
		from, to, class, title := d.id(k.from), d.id(k.to), "flow", ""
		if edge := d.edges[i]; edge != nil {
			class, title = string(edge.Kind), edgeText(edge)+": "+edge.Why
		}
		p.drawLink(k.points, class, from, to, title, dy)
	}
	last := len(d.boxes) - 1
	p.drawBox(&d.boxes[0], d.lines[0], "end", "", "the event fires", dy)
	for i, hook := range d.hooks {
		p.drawBox(&d.boxes[i+1], d.lines[i+1], hook.Mode, hook.ID, hookTitle(hook), dy)
	}
	p.drawBox(&d.boxes[last], d.lines[last], "end", "", "results retire in order and make the Decision", dy)
	p.w = max(p.w, w+2*margin)
	p.h = dy + h + 10
	p.legend(e)
	p.h += 6
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

func (p *picture) legend(e *EventModel) {
	kinds := []struct {
		kind dag.EdgeKind
		text string
	}{{dag.DataEdge, "data: reads what the other may write"}, {dag.GateEdge, "gate: not started while the other may end the chain"},
		{dag.OrderEdge, "order: their use of the world is not swapped"}}
	x := margin
	p.h += lineH
	for _, k := range kinds {
		if !slices.ContainsFunc(e.Edges, func(edge EdgeModel) bool { return edge.Kind == k.kind }) {
			continue
		}
		y := p.h - 4
		p.drawLink([]point{{x - margin, y}, {x - margin + 28, y}}, string(k.kind), "", "", k.text, 0)
		p.text(x+34, p.h, "hk-faint", k.text)
		x += 34 + float64(textWidth(k.text))*colWidth + 16
	}
	if x == margin {
		p.h -= lineH
	}
}

func newDrawing(e *EventModel) *drawing {
	d := &drawing{at: map[string]int{}}
	d.add([]string{plain(string(e.Event))}, "")
	for i := range e.Items {
		item := &e.Items[i]
		for j := range item.Hooks {
			h := &item.Hooks[j]
			group := ""
			switch {
			case item.Group != "":
				group = "item" + item.Pos
			case h.Slot >= 0:
				group = "slot" + strconv.Itoa(h.Slot)
			}
			d.at[h.ID] = len(d.boxes)
			d.hooks = append(d.hooks, h)
			d.add(boxLines(h), group)
		}
	}
	d.connect(e)
	return d
}

func (d *drawing) add(lines []string, group string) {
	w, h := boxSize(lines)
	d.boxes, d.lines = append(d.boxes, box{w: w, h: h, group: group}), append(d.lines, lines)
}

func (d *drawing) id(box int) string {
	if box < 1 || box > len(d.hooks) {
		return ""
	}
	return d.hooks[box-1].ID
}

// connect adds the links: every data edge and those gate and order edges no
// other path implies, with so many edges that they would hide each other only
// the latter of any kind; from the event to what waits for nothing and from
// what nothing waits for to the decision, one link for the boxes of a slot.
func (d *drawing) connect(e *EventModel) {
	last := len(d.boxes)
	d.add([]string{"Decision"}, "")
	edges := make([]dag.Edge, len(e.Edges))
	data := 0
	for i, edge := range e.Edges {
		edges[i] = dag.Edge{From: d.at[edge.From], To: d.at[edge.To]}
		if edge.Kind == dag.DataEdge {
			data++
		}
	}
	graph := dag.NewGraph(len(d.boxes), edges)
	implied := graph.Reduced()
	crowded := data > 3*len(d.boxes)+100
	for i := range e.Edges {
		edge := &e.Edges[i]
		if (edge.Kind != dag.DataEdge || crowded) && implied(edges[i].From, edges[i].To) {
			continue
		}
		d.links = append(d.links, link{from: edges[i].From, to: edges[i].To})
		d.edges = append(d.edges, edge)
	}
	d.ends(graph, last)
}

// ends joins the event and the decision to the hooks, once a frame.
func (d *drawing) ends(graph *dag.Graph, last int) {
	ranks := graph.Ranks()
	seen := map[string]bool{}
	join := func(from, to, hook int) {
		hidden := false
		if group := d.boxes[hook].group; group != "" {
			frame := fmt.Sprintf("%d>%d %s %d", min(from, 1), to/last, group, ranks[hook])
			hidden = seen[frame]
			seen[frame] = true
		}
		d.links, d.edges = append(d.links, link{from: from, to: to, frames: true, hidden: hidden}), append(d.edges, nil)
	}
	waited := false
	for v := 1; v < last; v++ {
		if len(graph.In(v)) == 0 {
			join(0, v, v)
		}
		if len(graph.Out(v)) == 0 && d.hooks[v-1].Mode != ModeAsync {
			join(v, last, v)
			waited = true
		}
	}
	if !waited {
		d.links, d.edges = append(d.links, link{from: 0, to: last}), append(d.edges, nil)
	}
}

// drawPipeline draws a pipeline's events and actions with its break edges.
func drawPipeline(m *PipelineModel) *picture {
	p := &picture{title: "pipeline " + m.Name}
	p.heading("pipeline "+plain(m.Name), "")
	nodes, edges := pipeGraph(m, "p")
	at := map[string]int{}
	var boxes []box
	var lines [][]string
	for i, n := range nodes {
		at[n.id] = i
		text := []string{n.text}
		w, h := boxSize(text)
		boxes, lines = append(boxes, box{w: w, h: h}), append(lines, text)
	}
	links := make([]link, len(edges))
	for i, e := range edges {
		links[i] = link{from: at[e.from], to: at[e.to]}
	}
	frames, w, h := layout(boxes, links)
	dy := p.h
	p.drawFrames(frames, dy, func(g string) string { return g })
	for i, e := range edges {
		class := "flow"
		if e.breaks {
			class = "break"
		}
		p.drawLink(links[i].points, class, "", "", e.text, dy)
	}
	for i, n := range nodes {
		class := "event"
		if n.action {
			class = "action"
		}
		p.drawBox(&boxes[i], lines[i], class, "", n.text, dy)
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
