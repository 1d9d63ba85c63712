//go:build unix

package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
)

// wording is what a command line says.
type wording struct {
	event  string
	src    sources
	serial bool
	// err is what is wrong with it, for the answer.
	err error
}

// maxWordings bounds the command lines remembered: each install writes a few.
const maxWordings = 1024

// wordings remembers command lines, since reading one takes longer than
// deciding an event. It is safe for concurrent use.
type wordings struct {
	mu    sync.Mutex
	known map[string]*wording
}

func newWordings() *wordings { return &wordings{known: map[string]*wording{}} }

// of reads a command line in the caller's environment, with the very flags of
// run. The error says that serve must not carry it out.
func (w *wordings) of(ctx context.Context, from *caller, args []string) (*wording, error) {
	key := strings.Join(args, "\x00")
	for _, kv := range from.environ {
		if strings.HasPrefix(kv, "HOOKC_RUN_") {
			key += "\x01" + kv
		}
	}
	w.mu.Lock()
	said := w.known[key]
	w.mu.Unlock()
	if said == nil {
		said = read(withCaller(ctx, from), args)
		w.mu.Lock()
		if len(w.known) >= maxWordings {
			clear(w.known)
		}
		w.known[key] = said
		w.mu.Unlock()
	}
	switch {
	case from.getenv("HOOKC_DEBUG") != "", said.src.debug:
		return nil, handBack{"debugging"}
	case said.src.profile != "":
		return nil, handBack{"--profile"}
	case slices.Contains(args, framed):
		return nil, handBack{"a frame in a frame"}
	}
	return said, nil
}

func read(ctx context.Context, args []string) *wording {
	said := &wording{event: eventArgument(args)}
	heard := false
	s := &speaker{told: func(src *sources, serial bool) { said.src, said.serial, heard = *src, serial, true }}
	root := rootFor(args)
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	said.err = root.ExecuteContext(context.WithValue(ctx, speakerKey{}, s))
	if said.err == nil && !heard {
		said.err = handBack{"it does not decide an event"}
	}
	return said
}
