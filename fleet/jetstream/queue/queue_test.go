package queue

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/fleet/jetstream/natstest"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/policy"
)

// workerEnv has this program be the hookcd of another machine: its folder, the address of
// NATS, and the file in which it writes what it ran.
const workerEnv = "HOOKC_TEST_QUEUE_WORKER"

func TestMain(m *testing.M) {
	if of := os.Getenv(workerEnv); of != "" {
		worker(strings.Split(of, "|"))
		return
	}
	os.Exit(m.Run())
}

// clusterWait is the AckWait of the tests with a cluster: longer than an election.
const clusterWait = 6 * time.Second

func worker(of []string) {
	l, err := (&link.Fleet{URL: of[1], Replicas: 3}).Connect("worker")
	if err != nil {
		panic(err)
	}
	q, err := Open(Options{Dir: of[0], Machine: filepath.Base(of[0]), Fleet: l, AckWait: clusterWait, Run: writes(of[2], filepath.Base(of[0]))})
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until whoever started it ends
	q.Close()
}

// writes is a hook that takes a moment and appends a line to a file.
func writes(path, machine string) func(context.Context, *decide.HandOver) error {
	return func(ctx context.Context, h *decide.HandOver) error {
		if h.Hook == "slow" { // begun, and never done by who is killed
			if err := appended(path, "begun "+h.ID+" "+machine); err != nil {
				return err
			}
			if machine == "victim" {
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return appended(path, "ran "+h.ID+" "+machine)
	}
}

func appended(path, line string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// lines are those of a kind: by id, who wrote them.
func lines(t *testing.T, path, kind string) map[string][]string {
	data, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == kind && strings.HasSuffix(line, "\n") {
			out[f[1]] = append(out[f[1]], f[2])
		}
	}
	return out
}

func item(id string) *decide.HandOver {
	return &decide.HandOver{ID: id, Durable: true, Event: policy.PostToolExecution, Hook: "audit", Input: json.RawMessage(`{}`)}
}

func open(t *testing.T, o Options) *Queue {
	q, err := Open(o)
	require.NoError(t, err)
	return q
}

// TestOneMachine: what is acknowledged outlives the process, is run once, again when it
// fails, and at last is a dead letter that people see.
func TestOneMachine(t *testing.T) {
	home := t.TempDir()
	dir, ran := decide.WorkFolder(home), filepath.Join(home, "ran")
	var mu sync.Mutex
	tries := map[string]int{}
	o := Options{Dir: dir, Machine: "m", Backoff: []time.Duration{time.Millisecond, time.Millisecond}, Workers: 2, Run: func(ctx context.Context, h *decide.HandOver) error {
		<-ctx.Done() // the first hookcd ends before anything has run
		return ctx.Err()
	}}
	q := open(t, o)
	for _, id := range []string{"one", "two", "one", "fails", "heals"} {
		require.NoError(t, q.Put(t.Context(), item(id)))
	}
	require.ErrorContains(t, q.Put(t.Context(), item("a.b")), "cannot name work")
	_, err := link.Embedded(filepath.Join(dir, "jetstream"))
	require.ErrorContains(t, err, "another hookcd uses")
	q.Close()
	assert.Empty(t, lines(t, ran, "ran"))

	o.Run = func(ctx context.Context, h *decide.HandOver) error {
		mu.Lock()
		tries[h.ID]++
		n := tries[h.ID]
		mu.Unlock()
		if h.ID == "fails" || h.ID == "heals" && n < 2 {
			return errors.New("it is broken")
		}
		return appended(ran, "ran "+h.ID+" m")
	}
	q = open(t, o)
	natstest.Until(t, "a dead letter", func() bool { return len(q.Status(t.Context()).Dead) == 1 && q.Status(t.Context()).Waiting == 0 })
	require.NoError(t, q.Put(t.Context(), item("two"))) // it has run: JetStream, or the mark, knows
	require.NoError(t, q.Put(t.Context(), item("last")))
	natstest.Until(t, "the last has run", func() bool { return lines(t, ran, "ran")["last"] != nil && q.Status(t.Context()).Waiting == 0 })
	assert.Equal(t, map[string][]string{"one": {"m"}, "two": {"m"}, "heals": {"m"}, "last": {"m"}}, lines(t, ran, "ran"))
	var seen *decide.Work
	natstest.Until(t, "the file that people read", func() bool {
		seen, err = decide.ReadWork(home)
		require.NoError(t, err)
		return seen != nil && len(seen.Dead) == 1 && seen.Waiting == 0
	})
	d := seen.Dead[0]
	d.At, d.Attempts = time.Time{}, 0
	assert.Equal(t, decide.DeadLetter{ID: "fails", Event: policy.PostToolExecution, Hook: "audit", Machine: "m", Error: "it is broken"}, d)
	q.Close()
}

// TestManagedHasNoPolicyOfOthers: of what another machine put there, hookcd takes the
// event and the name of the hook, and nothing that says which files decide.
func TestManagedHasNoPolicyOfOthers(t *testing.T) {
	var got *decide.HandOver
	q := &Queue{fleet: &place{}, o: Options{Run: func(_ context.Context, h *decide.HandOver) error { got = h; return nil }}}
	h := item("x")
	h.Managed, h.Files, h.Dir, h.User, h.Format, h.Around = true, []string{"/evil"}, "/evil", "/evil", "x", []string{"/evil"}
	require.NoError(t, q.run(t.Context(), h))
	assert.Equal(t, &decide.HandOver{Event: h.Event, Hook: h.Hook, Input: h.Input, Dir: "/", Durable: true, ID: "x", Managed: true}, got)
}

// TestFleet: three servers, and three machines that share the work. Each server is killed
// in turn under load, and so is a machine that holds work. Nothing that was acknowledged
// is lost, and nothing runs twice but what the killed machine may have been about to mark.
func TestFleet(t *testing.T) {
	c := natstest.Start(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	victim := startWorker(t, filepath.Join(dir, "victim"), c.URL(), ran)
	slow := item("slow1")
	slow.Hook, slow.Managed = "slow", true
	put := open(t, Options{Dir: filepath.Join(dir, "putter"), Machine: "putter", Fleet: c.Link(), AckWait: clusterWait, PutOnly: true})
	defer put.Close()
	natstest.Until(t, "the victim holds work", func() bool {
		err := put.Put(t.Context(), slow)
		var loose *durable.NotKeptError
		require.True(t, err == nil || errors.As(err, &loose), "%v", err)
		return slices.Contains(lines(t, ran, "begun")["slow1"], "victim")
	})
	startWorker(t, filepath.Join(dir, "other"), c.URL(), ran)
	acknowledged := load(t, put, 0, 60)
	for i := range 3 {
		c.Kill(i)
		acknowledged = append(acknowledged, load(t, put, (i+1)*60, 60)...)
		if i == 1 {
			require.NoError(t, victim.Process.Kill())
		}
		c.Up(i)
		acknowledged = append(acknowledged, load(t, put, (i+1)*60+30, 60)...)
	}
	acknowledged = append(acknowledged, "slow1")
	natstest.Until(t, "all that was acknowledged has run", func() bool {
		done := lines(t, ran, "ran")
		return !slices.ContainsFunc(acknowledged, func(id string) bool { return done[id] == nil })
	})
	done, twice := lines(t, ran, "ran"), 0
	assert.Contains(t, done["slow1"], "other", "the killed machine's work is taken over")
	for id, by := range done {
		if len(by) > 1 {
			twice++
			assert.Contains(t, by, "victim", id)
		}
	}
	assert.LessOrEqual(t, twice, 4, "more than the killed machine ran at one time")
}

// TestFleetThatHangs: each server answers nobody for a while, as where the network is cut,
// and then has a slow disk; who gives the work is behind a leaf node. Nothing that was acknowledged is lost or runs twice.
func TestFleetThatHangs(t *testing.T) {
	c := natstest.Start(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	startWorker(t, filepath.Join(dir, "one"), c.URL(), ran)
	put := open(t, Options{Dir: filepath.Join(dir, "putter"), Machine: "putter", Fleet: c.LinkByLeaf(), AckWait: clusterWait, PutOnly: true})
	defer put.Close()
	acknowledged := load(t, put, 0, 12)
	for i := range 3 {
		for _, fault := range []func(int) (end func()){c.Hang, c.Slow} {
			end := fault(i)
			acknowledged = append(acknowledged, load(t, put, len(acknowledged), 12)...)
			end()
			acknowledged = append(acknowledged, load(t, put, len(acknowledged), 12)...)
		}
	}
	natstest.Until(t, "all that was acknowledged has run", func() bool {
		done := lines(t, ran, "ran")
		return !slices.ContainsFunc(acknowledged, func(id string) bool { return done[id] == nil })
	})
	for id, by := range lines(t, ran, "ran") {
		assert.Len(t, by, 1, id)
	}
}

// load puts items and gives the ids of those that were acknowledged.
func load(t *testing.T, q *Queue, from, n int) []string {
	var mu sync.Mutex
	var out []string
	var putting sync.WaitGroup
	for w := range 4 {
		putting.Go(func() {
			for i := from + w; i < from+n; i += 4 {
				h := item("id" + strconv.Itoa(i))
				h.Managed = true
				err := q.Put(t.Context(), h)
				var loose *durable.NotKeptError
				if err == nil || errors.As(err, &loose) {
					mu.Lock()
					out = append(out, h.ID)
					mu.Unlock()
				}
			}
		})
	}
	putting.Wait()
	require.NotEmpty(t, out)
	return out
}

func startWorker(t *testing.T, dir, url, ran string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"="+strings.Join([]string{dir, url, ran}, "|"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd
}

// BenchmarkPut is what it costs to keep an item on this machine's disk.
func BenchmarkPut(b *testing.B) {
	q, err := Open(Options{Dir: b.TempDir(), Run: func(context.Context, *decide.HandOver) error { return nil }})
	require.NoError(b, err)
	defer q.Close()
	h := item("x")
	h.Input = json.RawMessage(`{"x":"` + strings.Repeat("y", 1200) + `"}`)
	i := 0
	for b.Loop() {
		i++
		h.ID = "b" + strconv.Itoa(i)
		require.NoError(b, q.Put(b.Context(), h))
	}
}
