//go:build unix

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/pace"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/rego"
)

const (
	// maxConns bounds the connections open at a time; those beyond it are
	// closed at once, and their gates run hookc run.
	maxConns = 512
	// maxHeld bounds the bytes of requests being read or decided.
	maxHeld = 256 << 20
	// readTime bounds how long a client may take to send its request, and
	// writeTime to take the reply.
	readTime  = 5 * time.Second
	writeTime = 5 * time.Second
	// flushEvery is how often counters go to the state folder, which a kill -9
	// loses at most, and how often the server looks after itself.
	flushEvery = time.Second
)

// server is hookc serve at work.
type server struct {
	build, socket string
	umask         int
	idle, drain   time.Duration
	start         time.Time
	plans         *plans
	words         *wordings
	home          *environment
	eyes          *rego.Eyes
	log           keep.Log
	logs          bool // --log
	shared        func(context.Context, *share.Request) *share.Reply

	conns    sync.WaitGroup
	open     atomic.Int64
	held     atomic.Int64
	last     atomic.Int64 // when something was last asked, in nanoseconds since start
	draining atomic.Bool

	answered, refused, broken, active atomic.Int64
	took                              histogram

	stop      context.CancelCauseFunc
	seen      memory.Queue
	attending attending
}

func newServer(build string, umask int) *server {
	return &server{build: build, umask: umask, start: time.Now(), plans: newPlans(), words: newWordings(), home: ownEnvironment()}
}

// What ends a server.
var (
	errAsked    = errors.New("it was asked to")
	errIdle     = errors.New("it had nothing to do")
	errReplaced = errors.New("another hookc has taken this one's place")
)

// run serves until ctx ends or somebody says stop, and returns why. Events
// under way finish first, up to the drain time; then they are cancelled.
func (v *server) run(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancelCause(ctx)
	v.stop = stop
	defer stop(nil)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var loops sync.WaitGroup
	loops.Go(func() { v.accept(work, l, stop) })
	loops.Go(func() { v.lookAfter(ctx) })
	<-ctx.Done()
	v.draining.Store(true)
	l.Close()
	loops.Wait()
	ended := make(chan struct{})
	go func() { v.conns.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(v.drain):
		cancel()
		<-ended
	}
	v.flush()
	v.plans.close()
	if why := context.Cause(ctx); !errors.Is(why, context.Canceled) {
		return why
	}
	return errAsked
}

// accept takes connections until the listener is closed. It goes on after an
// error that passes, such as too many open files.
func (v *server) accept(ctx context.Context, l net.Listener, stop context.CancelCauseFunc) {
	for wait := 5 * time.Millisecond; ; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil && wait > time.Second:
			stop(fault.Errorf("no connection can be taken: %w", err))
			return
		case err != nil:
			time.Sleep(wait)
			wait *= 2
			continue
		}
		wait = 5 * time.Millisecond
		if v.open.Add(1) > maxConns {
			v.open.Add(-1)
			v.broken.Add(1)
			conn.Close()
			continue
		}
		v.conns.Go(func() {
			defer v.open.Add(-1)
			v.serve(ctx, conn.(*net.UnixConn))
		})
	}
}

// serve answers one connection.
func (v *server) serve(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	who, err := peerOf(conn)
	if err != nil || who.uid != os.Geteuid() {
		v.broken.Add(1)
		return
	}
	who.elsewhere = who.confined() // while the caller writes
	frame, err := v.read(conn)
	defer func() { v.held.Add(-int64(cap(frame))) }()
	if err != nil {
		v.broken.Add(1)
		return
	}
	r, err := wire.DecodeRequest(frame)
	if err != nil {
		v.broken.Add(1)
		return
	}
	if r.Kind == wire.Decide {
		v.decide(ctx, conn, who, r)
		return
	}
	if r.Kind == wire.Queue {
		v.write(conn, v.enqueue(ctx, who, r.Input))
		return
	}
	if r.Kind == wire.Share {
		v.write(conn, v.share(ctx, who, r.Input))
		return
	}
	reply := v.control(ctx, r.Kind)
	v.write(conn, reply)
	if r.Kind == wire.Stop && reply.Refused == "" {
		v.stop(errAsked)
		stay(conn)
	}
}

// staying keeps the connections that end with the process.
var staying sync.Map

// stay leaves a connection open until the process ends, so that whoever asked
// for that sees it.
func stay(conn *net.UnixConn) {
	f, err := conn.File()
	if err == nil {
		staying.Store(f, true)
	}
}

// read reads one frame. What is held of all requests together is bounded.
func (v *server) read(conn *net.UnixConn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(readTime)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, 16<<10)
	v.held.Add(int64(cap(b)))
	for {
		n, err := conn.Read(b[len(b):cap(b)])
		if err != nil {
			return b, err
		}
		b = b[:len(b)+n]
		size, err := wire.RequestSize(b)
		switch {
		case err != nil:
			return b, err
		case size > 0 && len(b) > size:
			return b, wire.ErrFrame
		case size > 0 && len(b) == size:
			return b, nil
		case size > cap(b):
			if v.held.Add(int64(size-cap(b))) > maxHeld {
				v.held.Add(-int64(size - cap(b)))
				return b, errors.New("too much is under way")
			}
			b = append(make([]byte, 0, size), b...)
		}
	}
}

func (v *server) write(conn *net.UnixConn, r *wire.Reply) {
	if conn.SetWriteDeadline(time.Now().Add(writeTime)) != nil {
		return
	}
	if _, err := conn.Write(wire.AppendReply(nil, r)); err != nil {
		v.broken.Add(1)
	}
}

// control answers the commands of serve.
func (v *server) control(ctx context.Context, kind wire.Kind) *wire.Reply {
	switch kind {
	case wire.Metrics:
		return &wire.Reply{Stdout: []byte(v.exposition())}
	case wire.Reload:
		v.plans.reload(ctx)
	case wire.Status, wire.Stop:
	default:
		return &wire.Reply{Refused: "unknown request " + string(kind)}
	}
	text, err := json.Marshal(v.status())
	if err != nil {
		return &wire.Reply{Refused: err.Error()}
	}
	return &wire.Reply{Stdout: text}
}

// enqueue keeps a durable hook of a hookc run. What it names is run outside of any
// confinement of the caller, so a confined caller is refused.
func (v *server) enqueue(ctx context.Context, who peer, work []byte) *wire.Reply {
	var h decide.HandOver
	err := errors.Join(who.elsewhere, who.unprivileged())
	if err == nil {
		err = json.Unmarshal(work, &h)
	}
	if err == nil && (!h.Durable || h.ID == "") {
		err = errors.New("it is no durable hook")
	}
	if err == nil {
		err = v.words.queue(ctx, &h)
	}
	var loose *durable.NotKeptError
	switch {
	case errors.As(err, &loose):
		return &wire.Reply{Stdout: []byte(loose.Why)}
	case err != nil:
		return &wire.Reply{Refused: err.Error()}
	}
	return &wire.Reply{}
}

// share carries out what a process of this user asks of what the fleet shares. What is
// confined must not change it.
func (v *server) share(ctx context.Context, who peer, input []byte) *wire.Reply {
	var r share.Request
	err := errors.Join(who.elsewhere, who.unprivileged())
	if err == nil && v.shared == nil {
		err = errors.New("hookc serve shares nothing: hookcd serve --nats does")
	}
	if err == nil {
		err = json.Unmarshal(input, &r)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(v.shared(ctx, &r))
	}
	if err != nil {
		return &wire.Reply{Refused: err.Error()}
	}
	return &wire.Reply{Stdout: text}
}

func (v *server) status() *serveStatus {
	return &serveStatus{
		Pid: os.Getpid(), Socket: v.socket, Build: v.build, Uptime: int64(time.Since(v.start) / time.Second), Idle: int64(v.idleFor() / time.Second),
		Draining: v.draining.Load(),
		Requests: requestCounts{v.answered.Load(), v.refused.Load(), v.broken.Load(), v.active.Load()},
		Unlogged: v.log.Lost(),
		Plans:    v.plans.list(),
		Doubted:  decide.OpenDoubts().Lines(),
		Left:     v.left(),
	}
}

// left are the rules whose native code left events to OPA, without secrets.
func (v *server) left() []rego.Leaving {
	if v.eyes == nil {
		return nil
	}
	out := v.eyes.Leaving()
	for i := range out {
		out[i].Why = decide.Masked(out[i].Why)
	}
	return out
}

func (v *server) idleFor() time.Duration { return time.Since(v.start) - time.Duration(v.last.Load()) }

// lookAfter writes counters down, keeps memory small, and ends the server when it is idle or its
// program file is another one.
func (v *server) lookAfter(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	self, err := decide.Program(v.words.program)
	memory := pace.New(pace.Laptop)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		v.attending.look()
		v.flush()
		memory.Tidy(v.plans.builds.Load())
		if v.active.Load() == 0 && v.idle > 0 && v.idleFor() > v.idle {
			v.stop(errIdle)
			return
		}
		if err != nil {
			continue
		}
		if build, err := wire.BuildOf(self); err != nil || build != v.build {
			v.stop(errReplaced)
			return
		}
	}
}

func (v *server) flush() {
	v.plans.flush()
	v.seen.Write()
}
