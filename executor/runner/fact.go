package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/disk"
)

// factTimeout bounds the command of a fact.
const factTimeout = 10 * time.Second

// FactKeys is what the keys of facts begin with.
const FactKeys = "fact:"

// Fact is the command of a fact, ready to be run for a session.
type Fact struct {
	body *bash
	in   *policy.Context
	env  []string
}

// NewFact makes the command of f ready, as that of a hook of its tier. It is told
// of the session and its folder and nothing of the event, so that what it prints
// is true at every event of the session.
func NewFact(ctx context.Context, o Options, f *policy.Fact, event *policy.Context) (*Fact, error) {
	b := newBash(o, f.Command)
	if found := b.start(); found.HasErrors() {
		return nil, found.Err()
	}
	in := policy.NewContext("")
	for _, field := range []policy.Field{policy.FieldSessionID, policy.FieldCwd, policy.FieldProjectRoot} {
		if v, ok := event.Get(field); ok {
			in.Set(field, v)
		}
	}
	return &Fact{b, in, b.env(ctx, in)}, nil
}

// Key means all that a command is given: two commands with one key are the
// same one, run by the same program files in the same folder and environment for
// the same session. It is "" where what is printed now says nothing of later: the
// event is of no session, or a program was changed just now.
func (f *Fact) Key() string {
	if f.in.Text(policy.FieldSessionID) == "" {
		return ""
	}
	sum, now := sha256.New(), time.Now()
	body := &f.body.body
	fmt.Fprintf(sum, "%q %q %q %q %q\n", f.in.Text(policy.FieldSessionID), f.in.Text(policy.FieldCwd), f.in.Text(policy.FieldProjectRoot), script(body), slices.Sorted(slices.Values(f.env)))
	if body.Standin != nil {
		fmt.Fprintf(sum, "%q\n", body.Standin.Line)
	}
	for _, file := range append(f.files(), f.body.program(f.in)) {
		print := disk.Look(file)
		if !print.Settled(now) {
			return ""
		}
		fmt.Fprintf(sum, "%q %v\n", file, print)
	}
	return FactKeys + hex.EncodeToString(sum.Sum(nil))
}

// files are those that words of the command name, but for what it writes to:
// programs on its PATH, and paths from the folder it runs in.
func (f *Fact) files() []string {
	path := ""
	for _, kv := range f.env {
		if value, ok := spell.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	var out []string
	text := written().ReplaceAllString(script(&f.body.body), " ")
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n;|&()<$`\"'{}=\\", c) }) {
		if strings.Contains(word, "/") {
			if !filepath.IsAbs(word) {
				word = filepath.Join(f.in.Text(policy.FieldCwd), word)
			}
			out = append(out, word)
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if found, err := exec.LookPath(filepath.Join(dir, word)); err == nil {
				out = append(out, found)
				break
			}
		}
	}
	return out
}

var written = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`>+[&|]?\s*[^\s;|&()<>]*`) })

// Print runs the command and returns what it printed, without the line breaks at
// the end.
func (f *Fact) Print(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, factTimeout, policy.Failf(policy.ErrTimeout, "its command timed out after %v", factTimeout))
	defer cancel()
	out, err := f.body.run(ctx, f.in, f.env)
	if err != nil {
		return "", err
	}
	if out.Exit != 0 {
		return "", policy.Failf(policy.ErrExit, "exit status %d: %s", out.Exit, firstLine(out))
	}
	return strings.TrimRight(out.Stdout, "\r\n"), nil
}

func firstLine(out agent.Outcome) string {
	line, _, _ := spell.Cut(strings.TrimSpace(out.Stderr), "\n")
	return line
}
