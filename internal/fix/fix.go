// Package fix has the exact repair of findings that have one: lint --fix makes them in
// files, and an editor offers them.
package fix

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// Edit replaces what stands at a place by a text.
type Edit struct {
	At   diag.Span
	Text string
}

// ways are the repairs, told by the hint of a finding.
var ways = []func(d diag.Diagnostic, written string) (string, bool){meant, instead}

// Of is the repair of a finding; false for one that a person must decide about.
func Of(d diag.Diagnostic) (Edit, bool) {
	s := d.Span
	if s.Source == nil || s.Start >= s.End || s.End > len(s.Source.Content) {
		return Edit{}, false
	}
	written := s.Source.Content[s.Start:s.End]
	for _, way := range ways {
		if text, ok := way(d, written); ok && text != written {
			return Edit{s, text}, true
		}
	}
	return Edit{}, false
}

var suggested = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^did you mean "([\w.@/-]+)"\?`) })

// meant replaces a name by the one that is close to it, where the finding's place is
// the name and nothing else.
func meant(d diag.Diagnostic, written string) (string, bool) {
	m := suggested().FindStringSubmatch(d.Hint)
	if m == nil {
		return "", false
	}
	name := strings.Trim(written, `"'`)
	quote := written[:len(written)-len(strings.TrimLeft(written, `"'`))]
	call := ""
	if open := strings.IndexByte(name, '('); open > 0 && quote == "" && d.Text == "undefined function "+name[:open] {
		name, call = name[:open], name[open:]
	}
	if strings.ContainsAny(name, " \t\r\n(){}[]\"'") || diag.Suggest(name, m[1:]) != m[1] || written != quote+name+call+quote {
		return "", false
	}
	return quote + m[1] + call + quote, true
}

// instead writes `not a == b` for `a != b`, as the hint has it, where that is all that
// stands there.
func instead(d diag.Diagnostic, written string) (string, bool) {
	hint, ok := spell.CutPrefix(d.Hint, "write `")
	hint, ends := spell.CutSuffix(hint, "`")
	return hint, ok && ends && d.Code.ID == "HK113" && strings.Count(written, "!=") == 1 &&
		hint == "not "+strings.Replace(written, "!=", "==", 1)
}

// File is a file with what of it was repaired.
type File struct {
	// Name is as findings show it.
	Name          string
	Before, After string
	Count         int
	// rest is what is left of Before while After is made.
	rest string
}

// Files repairs what can be repaired in each file of findings. Of two repairs of one
// place it makes the first.
func Files(found diag.List) []File {
	var out []File
	done := map[string]int{}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Span.Start < found[j].Span.Start })
	for _, d := range found {
		e, ok := Of(d)
		if !ok {
			continue
		}
		i, known := done[d.Span.File()]
		if !known {
			i = len(out)
			done[d.Span.File()] = i
			out = append(out, File{Name: d.Span.File(), Before: e.At.Source.Content})
		}
		f := &out[i]
		made := len(f.Before) - len(f.rest)
		if known && (e.At.Source.Content != f.Before || e.At.Start < made) {
			continue
		}
		if !known {
			made, f.rest = 0, f.Before
		}
		f.After += f.Before[made:e.At.Start] + e.Text
		f.rest = f.Before[e.At.End:]
		f.Count++
	}
	for i := range out {
		out[i].After += out[i].rest
	}
	return out
}

// Repair writes what can be repaired into the files, those that were named or that are
// below the working directory, and tells of each. made is whether there were any.
func Repair(found diag.List, named bool, tell io.Writer) (made bool, err error) {
	for _, f := range Files(found) {
		if !named && !filepath.IsLocal(f.Name) {
			continue // the user's, or the machine's
		}
		text, err := os.ReadFile(f.Name)
		if err == nil && string(text) != f.Before {
			err = fault.Errorf("%s has changed while it was repaired", f.Name)
		}
		if err == nil {
			err = Write(f.Name, []byte(f.After))
		}
		if err != nil {
			return made, err
		}
		made = true
		fmt.Fprintf(tell, "%s: repaired at %d places\n", f.Name, f.Count)
	}
	return made, nil
}

// Write replaces a file at once; it keeps its permissions, and a link stays one.
func Write(file string, text []byte) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(target), ".hookc-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), target)
}
