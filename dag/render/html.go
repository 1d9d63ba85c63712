package render

import (
	_ "embed" // the page's style and viewer
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"

	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/policy"
)

//go:embed html.css.gz
var htmlStyle string // packed, as htmlViewer is

//go:embed html.js.gz
var htmlViewer string

// page is an HTML document under construction. Its methods escape.
type page struct{ strings.Builder }

func htmlText(s string) string { return template.HTMLEscapeString(plain(s)) }

// put writes markup whose %s verbs are filled with escaped texts.
func (p *page) put(markup string, texts ...string) {
	args := make([]any, len(texts))
	for i, s := range texts {
		args[i] = htmlText(s)
	}
	fmt.Fprintf(p, markup, args...)
}

// cells writes table cells of one kind.
//
//go:noinline
func (p *page) cells(tag string, texts ...string) {
	for _, s := range texts {
		p.put("<"+tag+">%s</"+tag[:2]+">", s)
	}
}

// renderHTML writes one page that needs nothing else: no network, no other
// file. Its policy lets the browser load nothing.
func renderHTML(w io.Writer, m *Model, _ Style) error {
	// Marshal writes <, > and & as escapes, so no text ends the script.
	model, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p := &page{}
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>hookc plan %s</title>
<style>
`, ShortHash(m.Hash))
	p.WriteString(packed.Text(htmlStyle) + packed.Text(svgStyle) + "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the chains</a>\n")
	p.header(m)
	p.WriteString("<main id=\"main\">\n")
	if len(m.Events) == 0 {
		p.WriteString("<p>No hooks: every event proceeds.</p>\n")
	}
	for i := range m.Events {
		p.event(&m.Events[i], i)
	}
	p.pipelines(m.outermost())
	p.findings(m)
	p.WriteString("<details><summary>The model as JSON</summary><pre id=\"json\"></pre></details>\n</main>\n")
	p.WriteString("<script type=\"application/json\" id=\"model\">" + string(model) + "</script>\n")
	p.WriteString("<script>\n" + packed.Text(htmlViewer) + "</script>\n</body>\n</html>\n")
	_, err = io.WriteString(w, p.String())
	return err
}

func (p *page) header(m *Model) {
	p.put("<header>\n<h1>hookc plan %s</h1>\n", ShortHash(m.Hash))
	for _, s := range m.Sources {
		p.put("<p>%s <span class=\"faint\">%s %s</span>", s.Name, s.Tier.String(), s.Format)
		if s.Untrusted != "" {
			p.put(" <span class=\"warn\">not trusted: %s</span>", s.Untrusted)
		}
		p.WriteString("</p>\n")
		if runs := s.uncovered(); len(runs) > 0 {
			p.WriteString("<p class=\"warn\">Trust does not cover what these run, for it cannot be determined:</p>\n<ul class=\"warn\">\n")
			for _, c := range runs {
				p.put("<li><code>%s</code></li>\n", c)
			}
			p.WriteString("</ul>\n")
		}
	}
	p.WriteString("<nav aria-label=\"Events\"><p>")
	for i := range m.Events {
		p.put("<a href=\"#event%s\">%s</a>\n", strconv.Itoa(i), string(m.Events[i].Event))
	}
	p.WriteString("</p></nav>\n<p><label for=\"find\">Find a hook</label> <input type=\"search\" id=\"find\"></p>\n</header>\n")
}

func (p *page) event(e *EventModel, i int) {
	p.put("<section data-event=\"%s\" id=\"event%s\">\n<h2>%s</h2>\n", string(e.Event), strconv.Itoa(i), string(e.Event))
	if len(e.Items) > 0 {
		p.put("<p>strategy %s: %s · deadline %s", string(e.Strategy), e.Halts, duration(e.DeadlineMS))
		if e.Class == policy.Guard || e.Class == policy.Quality || len(e.Open) > 0 {
			p.put(" · posture %s", e.Posture)
		}
		p.WriteString("</p>\n")
	}
	for _, o := range e.Open {
		p.put("<p class=\"warn\">open: %s: %s</p>\n", o.Hook, o.Why)
	}
	for _, l := range e.Losses {
		p.put("<p class=\"warn\">degraded: %s: %s</p>\n", l.String(), l.Why)
	}
	for _, narrow := range []bool{false, true} {
		if drawn, folded := drawEvent(e, true, narrow); folded {
			each, _ := drawEvent(e, false, narrow)
			p.folding(drawn, each)
		} else {
			p.figure(drawn)
		}
	}
	if len(e.Timeline) > 0 {
		p.WriteString("<h3>Concurrency</h3>\n<ul>\n")
		for _, m := range e.moments() {
			p.put("<li>%s</li>\n", m)
		}
		p.WriteString("</ul>\n")
	}
	for _, u := range e.Unmatched {
		p.put("<p class=\"faint\">cannot match: %s %s (%s)</p>\n", u.ID, u.Name, u.Filter)
	}
	if len(e.Items) > 0 {
		p.hooks(e)
		p.estimates(e)
	}
	if len(e.Edges) > 0 {
		p.edges(e)
	}
	if len(e.Dead) > 0 {
		p.dead(e)
	}
	p.WriteString("</section>\n")
}

func (p *page) figure(pic *picture) {
	p.put("<figure class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s, drawn\">\n", pic.width(), pic.title)
	fmt.Fprintf(p, `<svg class="hk" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" aria-hidden="true">`+"\n", num(pic.w), num(pic.h))
	p.WriteString(pic.body.String() + "</svg>\n</figure>\n")
}

// width is for which screens the picture is.
func (p *picture) width() string {
	if p.narrow {
		return "narrow"
	}
	return "wide"
}

// folding writes a picture with rules folded and the one with each of them; the viewer
// shows the second when it is asked to.
func (p *page) folding(folded, each *picture) {
	p.put("<div class=\"folding %s\">\n", folded.width())
	p.WriteString("<p><button type=\"button\" aria-expanded=\"false\">Draw each rule</button></p>\n")
	p.figure(folded)
	p.figure(each)
	p.WriteString("</div>\n")
}

func (p *page) hooks(e *EventModel) {
	p.WriteString("<div class=\"scroll\"><table>\n<thead><tr>")
	p.cells(`th scope="col"`, "#", "hook", "tier", "kind", "filter", "reads → writes", "may", "world", "runs", "est", "on error", "written")
	p.WriteString("</tr></thead>\n<tbody>\n")
	for i := range e.Items {
		for j := range e.Items[i].Hooks {
			h := &e.Items[i].Hooks[j]
			name, filter := h.Label, h.Filter
			if h.Locked {
				name += " [locked]"
			}
			if e.Items[i].Group != "" {
				name = e.Items[i].Group + " / " + name
			}
			if h.RecheckOf != "" {
				filter = "recheck of " + h.RecheckOf + ": " + h.Because
			}
			p.put("<tr tabindex=\"0\" data-id=\"%s\">", h.ID)
			p.cells("td", h.ID, name, h.Tier.String(), string(h.Kind), filter, flow(h), may(h), world(h), runs(h),
				h.EstUS.Text(2), h.OnError.String(), h.Origin)
			p.WriteString("</tr>\n")
		}
	}
	p.WriteString("</tbody></table></div>\n")
}

func (p *page) estimates(e *EventModel) {
	p.WriteString("<h3>Estimate</h3>\n<div class=\"scroll\"><table>\n<thead><tr>")
	p.cells(`th scope="col"`, "calls", "serial", "critical path", "by way of", "first deny", "processes", "model calls")
	p.WriteString("</tr></thead>\n<tbody>\n")
	line := func(what string, m *EstimateModel) {
		deny := "–"
		if m.FirstDenyUS > 0 {
			deny = m.FirstDenyUS.Text(2)
		}
		p.WriteString("<tr>")
		p.cells("td", what, m.SerialUS.Text(3), m.CriticalUS.Text(3), some(m.Path, " → ", maxNames), deny,
			strconv.Itoa(m.Processes), strconv.Itoa(m.Models))
		p.WriteString("</tr>\n")
	}
	line("all hooks shown", &e.Estimate)
	for i := range e.Tools {
		line(strings.Join(e.Tools[i].Tools, ", "), &e.Tools[i].EstimateModel)
	}
	p.WriteString("</tbody></table></div>\n")
}

func (p *page) edges(e *EventModel) {
	p.put("<details><summary>%s</summary>\n<div class=\"scroll\"><table>\n<thead><tr>", count(len(e.Edges), "edge", "edges"))
	p.cells(`th scope="col"`, "from", "", "to", "why")
	p.WriteString("</tr></thead>\n<tbody>\n")
	for i := range e.Edges {
		edge := &e.Edges[i]
		p.WriteString("<tr>")
		p.cells("td", edge.FromHook, arrow(edge), edge.ToHook, edge.Why)
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody></table></div></details>\n")
}

func (p *page) dead(e *EventModel) {
	p.WriteString("<h3>Not in force, or dead</h3>\n<div class=\"scroll\"><table>\n<thead><tr>")
	p.cells(`th scope="col"`, "hook", "tier", "kind", "status", "reason", "code", "written")
	p.WriteString("</tr></thead>\n<tbody>\n")
	for _, d := range e.Dead {
		p.WriteString("<tr>")
		p.cells("td", d.Name, d.Tier.String(), string(d.Kind), d.place(), d.Reason, d.Code, d.Origin)
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody></table></div>\n")
}

func (p *page) pipelines(all []*PipelineModel) {
	for _, pipe := range all {
		p.put("<section>\n<h2>pipeline %s</h2>\n<p><code>%s</code></p>\n", pipe.Name, pipe.text())
		p.figure(drawPipeline(pipe, false))
		p.figure(drawPipeline(pipe, true))
		p.WriteString("</section>\n")
	}
}

func (p *page) findings(m *Model) {
	if len(m.Diagnostics)+len(m.Warnings)+len(m.Notes) == 0 {
		return
	}
	p.WriteString("<section>\n<h2>Findings</h2>\n<ul>\n")
	for _, list := range [][]DiagnosticModel{m.Diagnostics, m.Warnings} {
		for _, d := range list {
			p.put("<li><strong>%s %s</strong> %s", d.Severity, d.Code, strings.TrimSuffix(d.Msg+" → "+d.Fix, " → "))
			if d.File != "" {
				p.put(" <span class=\"faint\">%s:%s:%s</span>", d.File, strconv.Itoa(d.Line), strconv.Itoa(d.Column))
			}
			p.WriteString("</li>\n")
		}
	}
	for _, n := range m.Notes {
		p.put("<li>%s</li>\n", n)
	}
	p.WriteString("</ul>\n</section>\n")
}
