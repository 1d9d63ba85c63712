package tests

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinks: each link of each page leads to a file and to a heading that are there,
// and so does each reference in the pictures and pages that hookc writes. Links to
// other places are well formed; none is followed.
func TestLinks(t *testing.T) {
	for _, p := range pages(t) {
		if p.markdown {
			for _, wrong := range wrongLinks(p.name, p.text, readFile) {
				t.Error(wrong)
			}
		}
	}
	drawn := 0
	for _, name := range drawings(t) {
		text, ok := readFile(name)
		require.True(t, ok)
		drawn++
		for _, wrong := range wrongReferences(name, text, readFile) {
			t.Error(wrong)
		}
	}
	assert.GreaterOrEqual(t, drawn, 2)
}

// TestIndex: each page below docs is linked from docs/README.md.
func TestIndex(t *testing.T) {
	index, ok := readFile("docs/README.md")
	require.True(t, ok)
	var listed []string
	for _, l := range linksOf(index) {
		file, _, _ := strings.Cut(l, "#")
		listed = append(listed, path.Join("docs", file))
	}
	for _, p := range pages(t) {
		if strings.HasPrefix(p.name, "docs/") && p.name != "docs/README.md" {
			assert.Contains(t, listed, p.name, "docs/README.md does not list it")
		}
	}
}

// TestLinksFinds: what is wrong with a link is found in each form that a link has.
func TestLinksFinds(t *testing.T) {
	files := map[string]string{"docs/b.md": "# One\n\n## Two, and `three`\n\n## Two, and `three`\n<a name=\"own\"></a>\n", "docs": ""}
	read := func(name string) (string, bool) { text, ok := files[name]; return text, ok }
	for _, link := range []string{"b.md", "b.md#one", "b.md#two-and-three", "b.md#two-and-three-1", "b.md#own", "#here", "./b.md", "../docs", "https://example.org/a?b#c", "mailto:a@example.org"} {
		assert.Empty(t, wrongLinks("docs/a.md", "# Here\n["+"x]("+link+")", read), link)
	}
	for _, link := range []string{"c.md", "b.md#two", "b.md#two-and-three-2", "#there", "/docs/b.md", "../b.md", "https://", "http:/x", "https://a b", "ftp://example.org", "https://nohost", ""} {
		for _, form := range []string{"[x](%s)", "![x](%s)", "[`x`](%s \"title\")", "[x]\n\n[x]: %s\n", "<a href=\"%s\">x</a>", "<img src='%s'>", "[a\nb](%s)"} {
			assert.NotEmpty(t, wrongLinks("docs/a.md", "# Here\n"+fmt.Sprintf(form, link), read), form, link)
		}
	}
	assert.Empty(t, wrongLinks("docs/a.md", "`[x](c.md)`\n```\n[x](c.md)\n```\n", read))
	assert.Empty(t, wrongReferences("a.svg", `<svg><g id="p"/><path marker-end="url(#p)"/><a href="#p"/></svg>`, read))
	for _, text := range []string{`<path marker-end="url(#q)"/>`, `<a href="#q">`, `<a xlink:href="c.md">`, `<use href='#q'/>`, `<label for="q">`, `<g aria-labelledby="p q">`} {
		assert.Len(t, wrongReferences("a.svg", `<svg><g id="p"/>`+text, read), 1, text)
	}
}

func readFile(name string) (string, bool) {
	if info, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err == nil && info.IsDir() {
		return "", true
	}
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	return string(text), err == nil
}

// drawings are the pictures and HTML pages that tests keep.
func drawings(t *testing.T) []string {
	var out []string
	for _, pattern := range []string{"../docs/*.svg", "../docs/*/*.svg", "../tests/testdata/golden/*/*.svg", "../tests/testdata/golden/*/*.html", "../tests/testdata/golden/*.svg", "../tests/testdata/golden/*.html"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range found {
			out = append(out, strings.TrimPrefix(filepath.ToSlash(f), "../"))
		}
	}
	return out
}

var (
	defined   = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:[ \t]*(\S*)`)
	inHTML    = regexp.MustCompile(`(?:href|src)=(?:"([^"]*)"|'([^']*)')`)
	linked    = regexp.MustCompile(`\]\(\s*<?([^)]*?)>?(?:\s+"[^"]*")?\s*\)`)
	heading   = regexp.MustCompile(`(?m)^#{1,6} +(.*?)[ #]*$`)
	named     = regexp.MustCompile(`(?:id|name)=(?:"([^"]*)"|'([^']*)')`)
	dropped   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	refersURL = regexp.MustCompile(`url\(#([^)]*)\)`)
	refersIDs = regexp.MustCompile(`\b(?:for|aria-labelledby|aria-describedby|aria-controls)="([^"]*)"`)
)

// linksOf are the targets of all links of a page.
func linksOf(text string) []string {
	text = codeSpan.ReplaceAllString(fenced.ReplaceAllString(comments.ReplaceAllString(text, ""), ""), "CODE")
	var out []string
	for _, form := range []*regexp.Regexp{linked, defined, inHTML} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			out = append(out, strings.Join(m[1:], ""))
		}
	}
	return out
}

func wrongLinks(name, text string, read func(string) (string, bool)) []string {
	var out []string
	for _, link := range linksOf(text) {
		if why := wrongLink(name, text, link, read); why != "" {
			out = append(out, fmt.Sprintf("%s links to %q: %s", name, link, why))
		}
	}
	return out
}

func wrongLink(name, text, link string, read func(string) (string, bool)) string {
	u, err := url.Parse(link)
	switch {
	case err != nil || link == "" || strings.ContainsAny(link, " \t\n"):
		return "no link"
	case u.Scheme == "mailto" && strings.Contains(u.Opaque, "@"):
		return ""
	case u.Scheme != "":
		if u.Scheme != "https" && u.Scheme != "http" || !strings.Contains(u.Hostname(), ".") {
			return "not well formed"
		}
		return ""
	case strings.HasPrefix(link, "/"):
		return "not relative"
	}
	if u.Path != "" {
		file := path.Join(path.Dir(name), u.Path)
		var ok bool
		if text, ok = read(file); !ok {
			return "no such file"
		}
		name = file
	}
	if u.Fragment != "" && !slices.Contains(anchors(name, text), u.Fragment) {
		return "no such heading"
	}
	return ""
}

// anchorsOf are the anchors of each page that was asked for them.
var anchorsOf sync.Map

// anchors are the names within a file that a link can lead to. Those of headings are
// made as GitHub makes them.
func anchors(name, text string) []string {
	key := name + "\x00" + text
	if known, ok := anchorsOf.Load(key); ok {
		return known.([]string)
	}
	out := anchorsIn(name, text)
	anchorsOf.Store(key, out)
	return out
}

func anchorsIn(name, text string) []string {
	var out []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+m[2])
	}
	if !strings.HasSuffix(name, ".md") {
		return out
	}
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := inline.ReplaceAllString(m[1], "]")
		a := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
		if n := seen[a]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", a, n))
		} else {
			out = append(out, a)
		}
		seen[a]++
	}
	return out
}

// wrongReferences are the references of an HTML page or a picture that lead nowhere.
func wrongReferences(name, text string, read func(string) (string, bool)) []string {
	ids := anchors(name, text)
	var out []string
	for _, m := range inHTML.FindAllStringSubmatch(text, -1) {
		link := m[1] + m[2]
		if why := wrongLink(name, text, link, read); why != "" && !strings.HasPrefix(link, "data:") {
			out = append(out, fmt.Sprintf("%s refers to %q: %s", name, link, why))
		}
	}
	var wanted []string
	for _, m := range refersURL.FindAllStringSubmatch(text, -1) {
		wanted = append(wanted, m[1])
	}
	for _, m := range refersIDs.FindAllStringSubmatch(text, -1) {
		wanted = append(wanted, strings.Fields(m[1])...)
	}
	for _, id := range wanted {
		if !slices.Contains(ids, id) {
			out = append(out, fmt.Sprintf("%s refers to %q, which nothing is called", name, id))
		}
	}
	return out
}
