package runner

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/disk"
)

// run runs the command once. Where consent keeps a copy of what it consists
// of, the project's own files run only if they are alike right before, and
// what they answered counts only if they are the same files afterwards: else
// the copy runs, so that nobody can put another script in their place for a
// moment.
func (b *bash) run(ctx context.Context, in *policy.Context, env []string) (agent.Outcome, error) {
	s := b.body.Standin
	if s == nil {
		return b.once(ctx, in, env, &b.body)
	}
	if before, ok := sealed(s.Root, s.Seals); ok {
		out, err := b.once(ctx, in, env, &b.body)
		if ctx.Err() != nil || before.still() {
			return out, err
		}
	}
	body := b.body
	body.Line, body.Args, body.Env, body.WorkDir, body.Imports, body.Standin = s.Line, s.Args, s.Env, s.WorkDir, s.Imports, nil
	copied := *b
	hook := *b.hook
	hook.Dir, copied.hook, copied.body = s.Dir, &hook, body
	if copied.start(); copied.broken != nil {
		return agent.Outcome{Exit: -1}, copied.broken
	}
	return copied.once(ctx, in, copied.env(ctx, in), &copied.body)
}

// looks are files as they were looked at.
type looks struct {
	paths  []string
	prints []disk.Print
}

// still reports whether every file is the one that was looked at, unchanged.
func (l *looks) still() bool {
	for i, path := range l.paths {
		if disk.Look(path) != l.prints[i] {
			return false
		}
	}
	return true
}

// sealed reports whether every file is like its copy, and what it looked at.
func sealed(root string, seals []policy.Seal) (*looks, bool) {
	l := &looks{}
	for _, s := range seals {
		l.above(root, s.Live)
		if !l.alike(s.Live, s.Kept) {
			return nil, false
		}
	}
	return l, true
}

// above looks at the folders of the project, below its root, in which a file
// lies: one that is moved away and back while the file is read had another in its
// place. A file that comes or goes in such a folder looks the same; then the copy
// runs once more.
func (l *looks) above(root, live string) {
	for up := filepath.Dir(live); len(up) > len(root) && strings.HasPrefix(up, root) && !lists.Has(l.paths, up); up = filepath.Dir(up) {
		l.add(up, disk.Look(up))
	}
}

func (l *looks) add(path string, print disk.Print) {
	l.paths, l.prints = append(l.paths, path), append(l.prints, print)
}

func (l *looks) alike(live, kept string) bool {
	print, began := disk.Look(live), time.Now()
	info, err := os.Stat(live)
	was, keptErr := os.Stat(kept)
	if err != nil || keptErr != nil {
		return os.IsNotExist(keptErr) && os.IsNotExist(err)
	}
	if info.Mode().Type() != was.Mode().Type() {
		return false
	}
	l.add(live, print)
	if info.IsDir() {
		return l.folder(live, kept)
	}
	return print.Settled(began) && // else a further change could not be told
		info.Mode()&0o111 != 0 == (was.Mode()&0o111 != 0) && sameContent(live, kept)
}

func (l *looks) folder(live, kept string) bool {
	here, err := os.ReadDir(live)
	there, keptErr := os.ReadDir(kept)
	if err != nil || keptErr != nil || !lists.Equal(names(here), names(there)) {
		return false
	}
	for _, item := range here {
		if !l.alike(filepath.Join(live, item.Name()), filepath.Join(kept, item.Name())) {
			return false
		}
	}
	return true
}

func names(items []fs.DirEntry) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.Name())
	}
	return out
}

func sameContent(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, endX := io.ReadFull(x, p)
		m, endY := io.ReadFull(y, q)
		switch {
		case !bytes.Equal(p[:n], q[:m]):
			return false
		case endX != nil || endY != nil:
			return (endX == io.EOF || endX == io.ErrUnexpectedEOF) && (endY == io.EOF || endY == io.ErrUnexpectedEOF)
		}
	}
}
