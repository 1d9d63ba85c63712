//go:build unix

package serve

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
)

// wording is what a command line says.
type wording struct {
	event  string
	src    decide.Sources
	serial bool
	// err is what is wrong with it, for the answer.
	err error
}

// maxWordings bounds the command lines remembered: each install writes a few.
const maxWordings = 1024

// wordings remembers command lines, since reading one takes longer than
// deciding an event. It is safe for concurrent use.
type wordings struct {
	// program is the hookc that starts what outlasts an event, "" for this one.
	program string
	// queue is where durable hooks go.
	queue func(context.Context, *decide.HandOver) error

	mu    sync.Mutex
	known map[string]*wording
}

func newWordings() *wordings { return &wordings{known: map[string]*wording{}} }

// of reads a command line in the caller's environment, with the very flags of
// run. The error says that serve must not carry it out.
func (w *wordings) of(ctx context.Context, from *decide.Caller, args []string) (*wording, error) {
	key := strings.Join(args, "\x00")
	for _, kv := range from.Environ {
		if strings.HasPrefix(kv, "HOOKC_RUN_") {
			key += "\x01" + kv
		}
	}
	w.mu.Lock()
	said := w.known[key]
	w.mu.Unlock()
	if said == nil {
		said = read(decide.WithCaller(ctx, from), args)
		said.src.Program, said.src.Queue = w.program, w.queue
		w.mu.Lock()
		if len(w.known) >= maxWordings {
			clear(w.known)
		}
		w.known[key] = said
		w.mu.Unlock()
	}
	switch {
	case from.Getenv("HOOKC_DEBUG") != "", said.src.Debug:
		return nil, decide.HandBack("debugging")
	case said.src.Profile != "":
		return nil, decide.HandBack("--profile")
	case lists.Has(args, decide.Framed):
		return nil, decide.HandBack("a frame in a frame")
	}
	return said, nil
}

func read(ctx context.Context, args []string) *wording {
	said := &wording{event: decide.EventArgument(args)}
	heard := false
	root := decide.RunRoot(decide.NewRun(func(_ *cobra.Command, _ []string, f *decide.RunFlags) error {
		said.src, said.serial, heard = f.Sources, f.Serial, true
		return nil
	}))
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	said.err = root.ExecuteContext(ctx)
	if said.err == nil && !heard {
		said.err = decide.HandBack("it does not decide an event")
	}
	return said
}
