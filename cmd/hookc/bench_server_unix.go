//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/agent"
)

// benchServer is the hookc serve of a benchmark.
type benchServer struct {
	socket, build string
	umask         int
	cmd           *exec.Cmd
	said          *bytes.Buffer
	ended         chan struct{}
}

const (
	// serverIdle ends a server whose benchmark was killed.
	serverIdle = 10 * time.Minute
	// serverWait is how long a server may take to listen, or to end.
	serverWait = 10 * time.Second
)

// openServer starts a server on a socket of its own, with the state folder of
// the benchmark.
func (b *bencher) openServer() error {
	build, err := ownBuild()
	if err != nil {
		return cannot("this program's file cannot be looked at: %v", err)
	}
	umask := unix.Umask(0o077)
	unix.Umask(umask)
	v := &benchServer{socket: filepath.Join(b.home, "s.sock"), build: build, umask: umask, said: &bytes.Buffer{}, ended: make(chan struct{})}
	v.cmd = b.command(context.WithoutCancel(b.ctx), []string{b.self(), "serve", "--socket", v.socket, "--idle", serverIdle.String(), "--drain", "1s"})
	v.cmd.Stderr = v.said
	if err := v.cmd.Start(); err != nil {
		return cannot("serve cannot be started: %v", err)
	}
	go func() { _ = v.cmd.Wait(); close(v.ended) }() // what it came to is asked of its answers
	b.done = append(b.done, v.end)
	context.AfterFunc(b.ctx, v.stop) // and so ends what waits for its answer
	b.server = v
	for until := time.Now().Add(serverWait); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if _, err := request(v.socket, &wire.Request{Kind: wire.Status}, takeOver); err == nil {
			return nil
		}
		select {
		case <-v.ended:
			return cannot("serve has ended: %s", strings.TrimSpace(v.said.String()))
		case <-b.ctx.Done():
			return b.ctx.Err()
		default:
		}
	}
	return cannot("serve does not answer on %s", v.socket)
}

// stop tells the server to end.
func (v *benchServer) stop() { _ = v.cmd.Process.Signal(unix.SIGTERM) } // it may have ended

// end ends the server, by force if need be.
func (v *benchServer) end() {
	v.stop()
	select {
	case <-v.ended:
	case <-time.After(serverWait):
		_ = v.cmd.Process.Kill()
		<-v.ended
	}
}

// request is that of an event, as hookgate makes it.
func (b *bencher) request(e *benchEvent) *wire.Request {
	return &wire.Request{Kind: wire.Decide, Build: b.server.build, Dir: b.dir, Args: b.words(e), Environ: b.environ, Umask: b.server.umask,
		Millis: int(gateDeadline / time.Millisecond), Input: e.data}
}

// ask sends a request and waits for the reply, however long the hooks take.
func (v *benchServer) ask(r *wire.Request) (*wire.Reply, error) {
	return request(v.socket, r, gateDeadline)
}

// handedBack says why serve does not answer an event, "" when it does.
func (b *bencher) handedBack(e *benchEvent) string {
	reply, err := b.server.ask(b.request(e))
	switch {
	case err != nil:
		return err.Error()
	case reply.Refused == "":
		b.asked.Add(1)
	}
	return reply.Refused
}

// socketShot asks serve as hookgate does: a new connection for each event.
func (b *bencher) socketShot(e *benchEvent) benchShot {
	r := b.request(e)
	var reply *wire.Reply
	return benchShot{
		prepare: b.forgetGates(e),
		run: func(context.Context) (err error) {
			reply, err = b.server.ask(r)
			return err
		},
		check: func(bool) error {
			if reply.Refused != "" {
				return cannot("%s: serve hands the event back: %s", e.title(), reply.Refused)
			}
			b.asked.Add(1)
			return e.heard(agent.Wire{Stdout: reply.Stdout, Stderr: string(reply.Stderr), Exit: reply.Exit}, howSocket)
		},
	}
}

// answered checks that no gate helped itself: then it would not be serve that
// was measured.
func (b *bencher) answered() error {
	if b.server == nil {
		return nil
	}
	reply, err := request(b.server.socket, &wire.Request{Kind: wire.Status}, takeOver)
	if err != nil {
		return cannot("serve does not answer any more: %v", err)
	}
	var s serveStatus
	if err := json.Unmarshal(reply.Stdout, &s); err != nil {
		return cannot("the status of serve is not understood: %v", err)
	}
	if asked := b.asked.Load(); s.Requests.Answered != asked {
		return exitError{exitFindings, "hookc: serve answered " + count(int(s.Requests.Answered), "event") + " of " + count(int(asked), "event") +
			": hookgate ran hookc run for the others, and so the figures of the two are mixed"}
	}
	return nil
}
