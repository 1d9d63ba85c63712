package casetest

import (
	"fmt"
	"io"
	"strings"
	"text/template"
)

// WriteText writes what was covered and what was not.
func (c *Coverage) WriteText(w io.Writer) {
	var counts []string
	for _, n := range c.Counts {
		counts = append(counts, fmt.Sprintf("%ss %d/%d", strings.TrimSuffix(n.Kind, "y")+map[bool]string{true: "ie"}[n.Kind == "body"], n.Covered, n.Of))
	}
	fmt.Fprintf(w, "coverage %.1f%%: %s\n", c.Percent, strings.Join(counts, ", "))
	for _, f := range c.Files {
		for _, m := range f.Missing {
			fmt.Fprintf(w, "  %s  %s\n", m.At, m.Text)
		}
	}
}

const coverHead = `<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Coverage of a policy</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body{font:14px system-ui,sans-serif;margin:2em;color:#222;background:#fff}
pre{font:13px ui-monospace,monospace;line-height:1.5;border:1px solid #ddd;padding:.5em 0}
pre span{display:block;padding:0 1em;white-space:pre-wrap}
pre b{display:inline-block;width:4em;color:#888;font-weight:normal}
.yes{background:#e6f6e6}.no{background:#fde8e8}
.no i{color:#a00;float:right}
</style>
`

// WriteHTML writes one page that needs nothing else. What policies say is text in
// it and nothing more.
func (c *Coverage) WriteHTML(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<h1>Coverage: %.1f%%</h1>\n<table>\n", coverHead, c.Percent)
	for _, n := range c.Counts {
		fmt.Fprintf(&b, "<tr><td>%s<td>%d of %d\n", n.Kind, n.Covered, n.Of)
	}
	b.WriteString("</table>\n")
	for _, f := range c.Files {
		fmt.Fprintf(&b, "<h2>%s: %d of %d</h2>\n<pre>", template.HTMLEscapeString(f.Name), f.Covered, f.Of)
		class, why := map[int]string{}, map[int][]string{}
		for _, l := range f.Lines {
			class[l.Line] = map[bool]string{true: "yes", false: "no"}[l.Covered]
		}
		for _, m := range f.Missing {
			why[m.line] = append(why[m.line], m.Text)
		}
		for i, line := range strings.Split(strings.TrimRight(f.source.Content, "\n"), "\n") {
			note := ""
			if len(why[i+1]) > 0 {
				note = "<i>" + template.HTMLEscapeString(strings.Join(why[i+1], "; ")) + "</i>"
			}
			fmt.Fprintf(&b, "<span class=\"%s\"><b>%d</b>%s%s</span>", class[i+1], i+1, note, template.HTMLEscapeString(line))
		}
		b.WriteString("</pre>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
