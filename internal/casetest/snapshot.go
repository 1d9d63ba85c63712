package casetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeSnapshot = diag.Define("HK029", diag.Error, "a file of snapshots does not fit its cases")

// snapshots are what the cases of a file said when somebody looked.
type snapshots struct {
	path  string
	was   map[string]map[string]any
	now   map[string]map[string]any
	found diag.List
}

// mostSnapshot bounds a file of snapshots, in bytes.
const mostSnapshot = 16 << 20

// readSnapshots reads the file beside a file of cases; there may be none.
func readSnapshots(cases string) *snapshots {
	s := &snapshots{path: strings.TrimSuffix(cases, ".yaml") + ".snap.json", was: map[string]map[string]any{}, now: map[string]map[string]any{}}
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	var text []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular() || info.Size() > mostSnapshot:
		err = errors.New("it is no regular file, or too large")
	default:
		text, err = os.ReadFile(s.path)
	}
	if err == nil {
		err = json.Unmarshal(text, &s.was)
	}
	if err != nil {
		s.report("it cannot be read: %v", err)
	}
	return s
}

func (s *snapshots) report(format string, args ...any) {
	src := diag.NewSource(s.path, "")
	s.found.Add(codeSnapshot.Report(diag.Span{Source: src}, format, args...).WithHint("`hookc test --update` writes it"))
}

// leave keeps what is known of a case that is not run.
func (s *snapshots) leave(name string) {
	if was, ok := s.was[name]; ok {
		s.now[name] = was
	}
}

// unkept are the keys of a Decision that say where something is written, how long
// it took, or what the policy is.
var unkept = []string{"at", "hooks", "policy"}

// delivered is all that the agent is told, as JSON.
func delivered(d *policy.Decision) map[string]any {
	text, err := json.Marshal(d)
	if err != nil {
		panic("casetest: a Decision has no JSON: " + err.Error())
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		panic("casetest: the JSON of a Decision is none: " + err.Error())
	}
	maps.DeleteFunc(got, func(key string, v any) bool {
		list, empty := v.([]any)
		return lists.Has(unkept, key) || v == nil || empty && len(list) == 0
	})
	return got
}

// Whole is Unlike that also lists what was not wanted at all.
func Whole(prefix string, want, got map[string]any) []string {
	all := maps.Clone(want)
	for key := range got {
		if _, ok := all[key]; !ok {
			all[key] = nil
		}
	}
	return Unlike(prefix, all, got)
}

// compare says in what a Decision differs from the snapshot of a case.
func (s *snapshots) compare(name string, d *policy.Decision, update bool) []string {
	if _, twice := s.now[name]; twice {
		return []string{"snapshot: another case of the file has the same name"}
	}
	s.now[name] = delivered(d)
	want, known := s.was[name]
	switch {
	case update:
		return nil
	case !known:
		return []string{"snapshot: there is none: `hookc test --update` writes it"}
	}
	return Whole("snapshot: ", want, s.now[name])
}

// settle writes the snapshots if they are to be written, and reports those of
// cases that are gone.
func (s *snapshots) settle(t *tester) error {
	if !t.Update {
		for _, name := range lists.Keys(s.was) {
			if _, ok := s.now[name]; !ok {
				s.found = nil
				s.report("it has a snapshot of %q, and no case of that name has one", name)
				t.report.Findings.Add(s.found...)
			}
		}
		return nil
	}
	if len(s.now) == 0 && len(s.was) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s.now); err != nil {
		return err
	}
	if before, err := os.ReadFile(s.path); err == nil && bytes.Equal(before, b.Bytes()) {
		return nil
	}
	return os.WriteFile(s.path, b.Bytes(), 0o644)
}
