package render

import (
	_ "embed" // the colours of pictures
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hookc/hookc/dag/render/layout"
	"github.com/hookc/hookc/internal/packed"
)

// svgStyle is svg.css, packed: it colours the pictures, in the light and in the dark. It is
// written without variables, which not every program that shows SVG knows.
//
//go:embed svg.css.gz
var svgStyle string

// picture is a drawing: the inside of an svg element and its size.
type picture struct {
	title string
	w, h  float64
	body  strings.Builder
	// narrow is drawn downwards, for a screen of narrowWidth pixels.
	narrow bool
}

// narrowWidth is the width of a narrow picture whose texts are short.
const narrowWidth = 366.0

// room is how many columns of a type a line of text may have.
func (p *picture) room(least int, column float64) int {
	if p.narrow {
		return int((narrowWidth - 2*margin) / column)
	}
	return max(least, int((p.w-2*margin)/column))
}

// cols is how many columns a line in a box has.
func (p *picture) cols() int {
	if p.narrow {
		return narrowCols
	}
	return maxCols
}

const (
	margin   = 18.0
	lineH    = 15.0
	boxPad   = 9.0
	colWidth = 6.5 // of a character of 11px, by which lines are broken
	maxCols  = 46

	narrowCols = 30
	maxLines   = 5 // of one text in a box
)

// xmlEscapes writes what XML gives a meaning, and replaces what it cannot hold.
var xmlEscapes = strings.NewReplacer(`"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\ufffe", "\ufffd", "\uffff", "\ufffd")

// xmlText makes any text safe as the content or a quoted attribute of XML.
func xmlText(s string) string {
	return xmlEscapes.Replace(strings.ToValidUTF8(plain(s), "\ufffd"))
}

func renderSVG(w io.Writer, m *Model, _ Style) error {
	pictures := picturesOf(m)
	var width, height float64
	for _, p := range pictures {
		width, height = max(width, p.w), height+p.h
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" class="hk" role="img" aria-label="hookc plan %s">
<style>
%s</style>
<rect class="hk-page" width="100%%" height="100%%"/>
`, num(width), num(height), xmlText(ShortHash(m.Hash)), packed.Text(svgStyle))
	y := 0.0
	for _, p := range pictures {
		fmt.Fprintf(&b, "<g transform=\"translate(0 %s)\">\n<title>%s</title>\n%s</g>\n", num(y), xmlText(p.title), p.body.String())
		y += p.h
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// picturesOf draws every event and every pipeline with a hook.
func picturesOf(m *Model) []*picture {
	var out []*picture
	for i := range m.Events {
		p, _ := drawEvent(&m.Events[i], true, false)
		out = append(out, p)
	}
	for _, p := range m.outermost() {
		out = append(out, drawPipeline(p, false))
	}
	if len(out) == 0 {
		p := &picture{title: "no hooks"}
		p.heading("no hooks: every event proceeds", "")
		out = append(out, p)
	}
	return out
}

// num is a coordinate with at most one decimal.
func num(f float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Round(f*10)/10), ".0")
}

// text writes one line of text and widens the picture to hold it.
func (p *picture) text(x, y float64, class, s string) {
	fmt.Fprintf(&p.body, `<text x="%s" y="%s" class="%s">%s</text>`+"\n", num(x), num(y), class, xmlText(s))
	p.w = max(p.w, x+layout.Width(s, runeWidth)*textSize+margin)
}

// heading begins a picture.
func (p *picture) heading(title, sub string) {
	p.h = margin - 4
	for _, s := range wrap(strings.Fields(title), " ", 0, p.room(1000, 10)) {
		p.h += 18
		p.text(margin, p.h, "hk-h", s)
		p.w = max(p.w, 2*margin+layout.Width(s, runeWidth)*15)
	}
	if sub != "" {
		p.h += 3
		p.note("hk-faint", sub)
	}
	p.h += 12
}

// note writes a text below what is drawn so far, in lines as wide as the picture.
func (p *picture) note(class, text string) {
	for _, s := range wrap(strings.Fields(text), " ", 0, p.room(100, colWidth)) {
		p.h += lineH
		p.text(margin, p.h, class, s)
	}
}

// boxText is what a box says; its first lines are its name.
type boxText struct {
	lines []string
	names int
	long  map[int]string // texts that are cut, from their last line on
}

// newBoxText wraps texts to as many columns, each to at most maxLines lines.
func newBoxText(texts []string, cols int) boxText {
	b := boxText{long: map[int]string{}}
	for i, text := range texts {
		lines := wrap(strings.Split(text, " "), " ", 0, cols)
		if len(lines) > maxLines {
			lines = lines[:maxLines]
			for _, s := range lines[:maxLines-1] {
				text = text[strings.Index(text, s)+len(s):]
			}
			b.long[len(b.lines)+maxLines-1] = strings.TrimPrefix(text, " ")
		}
		b.lines = append(b.lines, lines...)
		if i == 0 {
			b.names = len(lines)
		}
	}
	return b
}

// Sizes of type in pixels. That of texts counts less: they are not bold.
const (
	nameSize = 12.0
	textSize = 11 * 0.94
)

func (b *boxText) size(line int) float64 {
	if line < b.names {
		return nameSize
	}
	return textSize
}

// widest is the width of the widest line.
func (b *boxText) widest() (w float64) {
	for i, s := range b.lines {
		w = max(w, layout.Width(s, runeWidth)*b.size(i))
	}
	return w
}

// box is the box that holds the text.
func (b *boxText) box(group string) layout.Box {
	return layout.Box{W: b.widest() + 2*boxPad, H: float64(len(b.lines))*lineH + 2*boxPad - 3, Group: group}
}

// drawBox writes a box with its text; id marks it for the viewer, and holds the hooks
// that it means.
func (p *picture) drawBox(b *layout.Box, text *boxText, class, id, holds, title string, dy float64) {
	mark := ""
	if holds != "" {
		mark = ` data-holds="` + xmlText(holds) + `"`
	}
	fmt.Fprintf(&p.body, `<g class="hk-node hk-%s" data-id="%s"%s><title>%s</title><rect class="hk-box" x="%s" y="%s" width="%s" height="%s" rx="6"/>`+"\n",
		class, xmlText(id), mark, xmlText(title), num(b.X+margin), num(b.Y+dy), num(b.W), num(b.H))
	for i, s := range text.lines {
		if long := text.long[i]; long != "" {
			s = layout.Fit(long, (b.W-2*boxPad)/text.size(i), runeWidth)
		}
		kind := ""
		if i < text.names {
			kind = "hk-name"
		}
		fmt.Fprintf(&p.body, `<text x="%s" y="%s" class="%s">%s</text>`+"\n",
			num(b.X+margin+boxPad), num(b.Y+dy+boxPad+lineH*float64(i)+10), kind, xmlText(s))
	}
	p.body.WriteString("</g>\n")
}

// drawLink writes an arrow along its points: every second part of it is a bend.
func (p *picture) drawLink(k *layout.Link, class, from, to, title string, dy float64) {
	var d strings.Builder
	at := func(q layout.Point) string { return num(q.X+margin) + " " + num(q.Y+dy) }
	d.WriteString("M" + at(k.Points[0]))
	for i := 1; i < len(k.Points); i++ {
		a, b := k.Points[i-1], k.Points[i]
		switch {
		case k.Inside:
			const out = layout.FramePad + 2
			d.WriteString(" C" + at(layout.Point{X: a.X + out, Y: a.Y}) + " " + at(layout.Point{X: b.X + out, Y: b.Y}) + " " + at(b))
		case i%2 == 1:
			d.WriteString(" L" + at(b))
		default:
			if k.Down {
				bend := min((b.Y-a.Y)/2, layout.RankGap)
				d.WriteString(" C" + at(layout.Point{X: a.X, Y: a.Y + bend}) + " " + at(layout.Point{X: b.X, Y: b.Y - bend}) + " " + at(b))
				continue
			}
			bend := min((b.X-a.X)/2, layout.RankGap)
			d.WriteString(" C" + at(layout.Point{X: a.X + bend, Y: a.Y}) + " " + at(layout.Point{X: b.X - bend, Y: b.Y}) + " " + at(b))
		}
	}
	tip := "l-8 -4 l0 8 z"
	switch {
	case k.Inside:
		tip = "l8 -4 l0 8 z"
	case k.Down:
		tip = "l-4 -8 l8 0 z"
	}
	fmt.Fprintf(&p.body, `<g class="hk-link hk-%s" data-from="%s" data-to="%s"><title>%s</title><path class="hk-edge" d="%s"/><path class="hk-tip" d="M%s %s"/></g>`+"\n",
		class, xmlText(from), xmlText(to), xmlText(title), d.String(), at(k.Points[len(k.Points)-1]), tip)
}

func (p *picture) drawFrames(frames []layout.Frame, dy float64, titles map[string]string) {
	for _, f := range frames {
		fmt.Fprintf(&p.body, `<rect class="hk-frame" x="%s" y="%s" width="%s" height="%s" rx="9"/>`+"\n",
			num(f.X+margin), num(f.Y+dy), num(f.W), num(f.H))
		p.text(f.X+margin+layout.FramePad, f.Y+dy+14, "hk-faint", titles[f.Group])
	}
}
