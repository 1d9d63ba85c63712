package report

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

var codeSuppression = diag.Define("HK039", diag.Warning, "comment that suppresses nothing")

// Suppressed is a finding that somebody accepted, and why.
type Suppressed struct {
	Finding diag.Diagnostic `json:"finding"`
	Reason  string          `json:"reason"`
	// Baseline is true where a baseline holds it, and not a comment.
	Baseline bool `json:"baseline,omitempty"`
}

// kind is SARIF's word for where a suppression is.
func (s Suppressed) kind() string {
	if s.Baseline {
		return "external"
	}
	return "inSource"
}

// word begins the comment that suppresses.
const word = "hookc:ignore"

// comment is one of them.
type comment struct {
	at     diag.Span
	codes  []string
	reason string
	// line is the line it speaks of.
	line int
	used bool
	// wrong says what is wrong with it.
	wrong string
}

// Suppress divides findings into those that are reported and those that comments
// in the files accept. Sources are the files to look for comments in besides
// those of the findings. A comment that accepts nothing is a finding.
func Suppress(found diag.List, sources []*diag.Source) (rest diag.List, accepted []Suppressed) {
	comments := map[string][]*comment{} // by the file's name
	var order []string
	look := func(s *diag.Source) {
		if s == nil {
			return
		}
		if _, known := comments[s.Name]; !known {
			comments[s.Name] = read(s)
			order = append(order, s.Name)
		}
	}
	for _, s := range sources {
		look(s)
	}
	for _, d := range found {
		look(d.Span.Source)
	}
	for _, d := range found {
		line, _ := d.Span.Position()
		if c := match(comments[d.Span.File()], d, line); c != nil {
			accepted = append(accepted, Suppressed{Finding: d, Reason: c.reason})
		} else {
			rest.Add(d)
		}
	}
	for _, s := range order {
		for _, c := range comments[s] {
			switch {
			case c.wrong != "":
				rest.Add(codeSuppression.Report(c.at, "%s", c.wrong).WithHint("write # %s HK141 the reason", word))
			case !c.used:
				rest.Add(codeSuppression.Report(c.at, "nothing that may be suppressed is found of %s on line %d", strings.Join(c.codes, ", "), c.line).
					WithHint("remove the comment"))
			}
		}
	}
	rest.Sort()
	return rest, accepted
}

// match is the comment that accepts a finding of a line.
func match(comments []*comment, d diag.Diagnostic, line int) *comment {
	if d.Severity == diag.Error {
		return nil
	}
	for _, c := range comments {
		if c.wrong != "" || c.line != line {
			continue
		}
		for _, code := range c.codes {
			if code == d.Code.ID {
				c.used = true
				return c
			}
		}
	}
	return nil
}

// read lists the comments of a file.
func read(s *diag.Source) []*comment {
	var out []*comment
	for n, from := 1, 0; from < len(s.Content); n++ {
		line, rest, _ := spell.Cut(s.Content[from:], "\n")
		if i := strings.Index(line, word); i >= 0 {
			if c := parse(line[:i], strings.TrimSpace(line[i+len(word):]), n); c != nil {
				c.at = diag.Span{Source: s, Start: from + i, End: from + len(strings.TrimRight(line, "\r"))}
				out = append(out, c)
			}
		}
		from = len(s.Content) - len(rest)
		if rest == "" {
			break
		}
	}
	return out
}

// parse reads a comment: what stands before it on its line, and what it says. It
// is nil where the word is no comment.
func parse(before, says string, line int) *comment {
	before = strings.TrimRight(before, " \t")
	mark := ""
	for _, m := range []string{"#", "//", "<!--"} {
		if strings.HasSuffix(before, m) {
			mark = m
		}
	}
	if mark == "" {
		return nil
	}
	c := &comment{line: line}
	if strings.TrimSpace(strings.TrimSuffix(before, mark)) == "" {
		c.line++ // it stands alone, and speaks of the line below
	}
	if mark == "<!--" {
		says = strings.TrimSpace(strings.TrimSuffix(says, "-->"))
	}
	for says != "" {
		first, rest, _ := spell.Cut(says, " ")
		id := strings.TrimSuffix(first, ",")
		if !strings.HasPrefix(id, "HK") {
			break
		}
		if diag.Lookup(id) == nil {
			c.wrong = "there is no code " + id
			return c
		}
		c.codes = append(c.codes, id)
		says = strings.TrimSpace(rest)
	}
	c.reason = says
	switch {
	case len(c.codes) == 0:
		c.wrong = "the comment names no code"
	case c.reason == "":
		c.wrong = "the comment gives no reason"
	}
	return c
}

// baselined is a finding in a baseline: what it says, without its line.
type baselined struct {
	Code string `json:"code"`
	File string `json:"file,omitempty"`
	Hook string `json:"hook,omitempty"`
	Text string `json:"text"`
}

// Baseline is a list of findings that a team knows of: what is new beside them is
// reported.
type Baseline struct {
	// Version is 1.
	Version  int         `json:"version"`
	Findings []baselined `json:"findings"`
	path     string
}

func known(d diag.Diagnostic) baselined {
	return baselined{d.Code.ID, d.Span.File(), d.Hook, d.Text}
}

// NewBaseline lists the findings that may be accepted: all but errors.
func NewBaseline(found diag.List) *Baseline {
	b := &Baseline{Version: 1, Findings: []baselined{}}
	for _, d := range found {
		if d.Severity != diag.Error {
			b.Findings = append(b.Findings, known(d))
		}
	}
	return b
}

// ReadBaseline reads one. The error names the file.
func ReadBaseline(path string) (*Baseline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &Baseline{path: path}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fault.Errorf("%s is no baseline: %w", path, err)
	}
	if b.Version != 1 {
		return nil, fault.Errorf("%s is a baseline of version %d, and this hookc reads version 1: write it again", path, b.Version)
	}
	return b, nil
}

// Accept takes the findings of a baseline out, each as often as it is there. Gone
// is how many of the baseline were not found: those it no longer needs.
func (b *Baseline) Accept(found diag.List) (rest diag.List, accepted []Suppressed, gone int) {
	left := map[baselined]int{}
	for _, f := range b.Findings {
		left[f]++
	}
	for _, d := range found {
		if f := known(d); d.Severity != diag.Error && left[f] > 0 {
			left[f]--
			accepted = append(accepted, Suppressed{Finding: d, Reason: "in the baseline " + b.path, Baseline: true})
		} else {
			rest.Add(d)
		}
	}
	for _, n := range left {
		gone += n
	}
	return rest, accepted, gone
}
