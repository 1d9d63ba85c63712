package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Record lets a file be put back exactly as it was, as long as nobody has
// changed it since.
type Record struct {
	// After is the digest of the content hookc wrote.
	After string `json:"after"`
	// Hunks are the differences, ascending.
	Hunks []Hunk `json:"hunks"`
	// Created is true when there was no file, Folders are those made for it,
	// the outermost first.
	Created bool     `json:"created,omitempty"`
	Folders []string `json:"folders,omitempty"`
	Memo    Memo     `json:"memo"`
}

// Hunk says that the bytes [At,At+Len) of the new content were Old.
type Hunk struct {
	At  int    `json:"at"`
	Len int    `json:"len"`
	Old string `json:"old,omitempty"`
}

// Remember is the record of an edit.
func Remember(before, after []byte) Record {
	r := Record{After: digest(after)}
	at := 0
	for _, e := range script(lines(before), lines(after)) {
		if e.same > 0 {
			at += e.bytes
			continue
		}
		added := strings.Join(e.added, "")
		r.Hunks = append(r.Hunks, Hunk{At: at, Len: len(added), Old: strings.Join(e.gone, "")})
		at += len(added)
	}
	return r
}

// Undo is the content from before the edit; false when the file is not as
// hookc left it.
func (r *Record) Undo(now []byte) ([]byte, bool) {
	if r == nil || r.After != digest(now) {
		return nil, false
	}
	out := []byte{}
	done := 0
	for _, h := range r.Hunks {
		if h.At < done || h.Len < 0 || h.At+h.Len > len(now) {
			return nil, false
		}
		out = append(append(out, now[done:h.At]...), h.Old...)
		done = h.At + h.Len
	}
	return append(out, now[done:]...), true
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// lines are a text's lines with their ends.
func lines(content []byte) []string {
	return slices.Collect(strings.Lines(string(content)))
}

// step of an edit script: lines that stay, or lines that are replaced.
type step struct {
	same, bytes int
	gone, added []string
}

// maxLines bounds the table of the comparison; beyond it the middle of two
// texts counts as replaced.
const maxLines = 4 << 20

// script turns a into b by a longest common subsequence of lines.
func script(a, b []string) []step {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []step
	same := func(l []string) {
		if len(l) > 0 {
			out = append(out, step{same: len(l), bytes: len(strings.Join(l, ""))})
		}
	}
	same(a[:begin])
	out = append(out, middle(a[begin:len(a)-end], b[begin:len(b)-end])...)
	same(a[len(a)-end:])
	return out
}

func middle(a, b []string) []step {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > maxLines {
		return []step{{gone: a, added: b}}
	}
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var out []step
	last := func(same bool) *step {
		if n := len(out); n == 0 || (out[n-1].same > 0) != same {
			out = append(out, step{})
		}
		return &out[len(out)-1]
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			s := last(true)
			s.same++
			s.bytes += len(a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			s := last(false)
			s.gone = append(s.gone, a[i])
			i++
		default:
			s := last(false)
			s.added = append(s.added, b[j])
			j++
		}
	}
	return out
}

// context is the number of lines shown around a change.
const context = 3

// Diff is a unified diff of two contents of a file, "" when they are equal.
// A nil content is a file that is not there.
func Diff(name string, before, after []byte) string {
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return ""
	}
	from, to := "a/"+strings.TrimPrefix(name, "/"), "b/"+strings.TrimPrefix(name, "/")
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(lines(before), lines(after)) {
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", rangeOf(h.from, h.old), rangeOf(h.to, h.new))
		for _, l := range h.text {
			out.WriteString(l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return out.String()
}

// shown is one hunk of a unified diff.
type shown struct {
	from, to, old, new int
	text               []string
}

func rangeOf(at, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", at)
	}
	return fmt.Sprintf("%d,%d", at+1, n)
}

func hunks(a, b []string) []shown {
	var out []shown
	i, j := 0, 0
	steps := script(a, b)
	for k, s := range steps {
		if s.same > 0 {
			take := s.same
			if k == len(steps)-1 || take > 2*context {
				take = min(context, take)
			}
			if n := len(out); n > 0 {
				out[n-1].keep(a[i : i+take])
			}
			i, j = i+s.same, j+s.same
			continue
		}
		lead := 0
		if k > 0 {
			lead = min(context, steps[k-1].same)
		}
		if n := len(out); n == 0 || out[n-1].from+out[n-1].old < i {
			out = append(out, shown{from: i - lead, to: j - lead})
			out[len(out)-1].keep(a[i-lead : i])
		}
		h := &out[len(out)-1]
		for _, l := range s.gone {
			h.text = append(h.text, "-"+l)
		}
		for _, l := range s.added {
			h.text = append(h.text, "+"+l)
		}
		h.old, h.new = h.old+len(s.gone), h.new+len(s.added)
		i, j = i+len(s.gone), j+len(s.added)
	}
	return out
}

func (h *shown) keep(lines []string) {
	for _, l := range lines {
		h.text = append(h.text, " "+l)
	}
	h.old, h.new = h.old+len(lines), h.new+len(lines)
}
