package plane_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/jetstream/natstest"
	"github.com/hookc/hookc/fleet/jetstream/records"
	"github.com/hookc/hookc/internal/share"
)

// sharer is a machine of a fleet that shares by NATS: a home of its own, and hookcd.
type sharer struct {
	*machine
	env    []string
	policy string
}

// newSharer starts hookcd with a posture, and a machine of its own.
func newSharer(t *testing.T, c *natstest.Cluster, policy, posture string) *sharer {
	t.Helper()
	return newSharerBy(t, policy, "--nats", c.URL(), "--on-partition", posture)
}

// newSharerBy starts hookcd with flags, and a machine of its own.
func newSharerBy(t *testing.T, policy string, flags ...string) *sharer {
	t.Helper()
	n := &sharer{machine: &machine{t: t, empty: t.TempDir(), log: &journal{}}, policy: "managed=" + policy}
	n.hookc, n.hookcd, n.managed = built(t)
	n.env = append(n.ownHome(), "HOOKC_HEADLESS=1")
	n.serve(flags...)
	return n
}

func (n *sharer) serve(args ...string) {
	n.log = &journal{}
	n.running = exec.Command(n.hookcd, append([]string{"serve"}, args...)...)
	n.running.Env, n.running.Dir, n.running.Stderr = n.env, n.empty, n.log
	require.NoError(n.t, n.running.Start())
	cmd := n.running
	n.t.Cleanup(func() { cmd.Process.Kill(); _ = cmd.Wait() })
	n.until("it serves", func() bool { return strings.Contains(n.log.String(), "hookc: serving on ") })
}

// says is what a command of hookc prints, and its exit code.
func (n *sharer) says(args ...string) (string, int) {
	cmd := exec.Command(n.hookc, args...)
	cmd.Env, cmd.Dir = n.env, n.empty
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		n.t.Error(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// decision is what hookc run says of a command in a session.
type decision struct {
	Action   string
	Reasons  []string
	Grant    *struct{ ID string }
	Warnings []struct{ Code, Text string }
}

func (d *decision) codes() (out []string) {
	for _, w := range d.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func (n *sharer) run(tool, command string) *decision {
	cmd := exec.Command(n.hookc, "run", "--json", "-f", n.policy)
	cmd.Env, cmd.Dir = n.env, n.empty
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"event":"pre_tool_execution","session_id":"s","cwd":"/","tool_name":%q,"tool_input":{"command":%q}}`, tool, command))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // the decision says it
	d := &decision{}
	if err := json.Unmarshal(out, d); err != nil {
		n.t.Errorf("%v: %s%s", err, out, stderr.String())
	}
	return d
}

// gate is whether hookgate, and so hookcd itself, lets a call through.
func (n *sharer) gate(tool, command string) bool {
	cmd := exec.Command(filepath.Join(filepath.Dir(n.hookc), "hookgate"), "PreToolUse", "--dialect", "claude", "-f", n.policy)
	cmd.Env, cmd.Dir = n.env, n.empty
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":%q,"tool_input":{"command":%q}}`, tool, command))
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		n.t.Error(err)
	}
	return err == nil && !strings.Contains(string(out), `"deny"`)
}

// TestSharedBudget: a budget is one of all machines, whoever decides and however many at a
// time. Without most of the servers, each machine does what is declared; what one counted
// alone is counted when they are back.
func TestSharedBudget(t *testing.T) {
	c := natstest.Start(t)
	policy := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(policy, []byte(`pre_tool_execution:
  - {name: many, type: builtin, use: budget-guard, max_calls: 50, filter: {tool_name: Bash}}
  - {name: few, type: builtin, use: budget-guard, max_calls: 5, filter: {tool_name: Write}}
`), 0o600))
	strict, other, loose := newSharer(t, c, policy, share.Deny), newSharer(t, c, policy, share.Deny), newSharer(t, c, policy, share.Local)
	strict.until("the fleet is reached", func() bool {
		for _, n := range []*sharer{strict, other, loose} {
			if d := n.run("Read", "x"); d.Action != "proceed" {
				return false
			}
			if said, _ := n.says("hooks", "status", "-f", n.policy); strings.Contains(said, "cannot be reached") {
				return false
			}
		}
		return true
	})

	var mu sync.Mutex
	var through, refused int
	note := func(ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if ok {
			through++
		} else {
			refused++
		}
	}
	var agents sync.WaitGroup
	for _, n := range []*sharer{strict, other, loose} {
		for range 2 {
			agents.Go(func() {
				for i := range 11 {
					if i%2 == 0 {
						note(n.gate("Bash", "ls"))
						continue
					}
					d := n.run("Bash", "ls")
					note(d.Action == "proceed")
					assert.Empty(t, d.Warnings)
				}
			})
		}
	}
	agents.Wait()
	assert.Equal(t, [2]int{50, 16}, [2]int{through, refused})

	assert.Equal(t, "proceed", strict.run("Write", "x").Action)
	assert.Equal(t, "proceed", other.run("Write", "x").Action)
	assert.Equal(t, "proceed", loose.run("Write", "x").Action)
	c.Kill(0)
	c.Kill(1)
	d := strict.run("Write", "x")
	assert.Equal(t, "block", d.Action, "most servers are gone")
	assert.Equal(t, []string{"HK174"}, d.codes())
	c.Kill(2)
	d = strict.run("Write", "x")
	assert.Equal(t, "block", d.Action, "all are")
	assert.Equal(t, []string{"HK174"}, d.codes())
	for range 2 {
		d = loose.run("Write", "x")
		assert.Equal(t, "proceed", d.Action, "3 were known to be spent")
		assert.Equal(t, []string{"HK174"}, d.codes())
	}
	d = loose.run("Write", "x")
	assert.Equal(t, "block", d.Action)
	assert.Equal(t, []string{"HK174"}, d.codes())
	said, _ := loose.says("hooks", "status", "-f", loose.policy)
	assert.Contains(t, said, "on partition: local\n")
	assert.Contains(t, said, "what the fleet shares cannot be reached: ")

	for i := range 3 {
		c.Up(i)
	}
	loose.until("the fleet is back", func() bool { return len(loose.run("Write", "x").Warnings) == 0 })
	strict.until("for all", func() bool { return len(strict.run("Write", "x").Warnings) == 0 })
	d = strict.run("Write", "x")
	assert.Equal(t, "block", d.Action, "what was counted alone is counted")
	assert.Empty(t, d.Warnings)

	strict.end(syscall.SIGKILL)
	d = strict.run("Write", "x")
	assert.Equal(t, "block", d.Action, "hookcd is killed")
	assert.Equal(t, []string{"HK174"}, d.codes())
	strict.serve()
	d = strict.run("Write", "x")
	assert.Equal(t, "block", d.Action, "it is in no fleet any more, and goes on from what it knows")
	assert.Empty(t, d.Warnings)
}

// TestSharedApproval: a grant on one machine lets the call go ahead that waits on another,
// also where a server is killed meanwhile, and where a leaf node is between. It counts
// once, and who is first decides.
func TestSharedApproval(t *testing.T) {
	c := natstest.Start(t)
	policy := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(policy, []byte(`approval: {wait: 5m}
defaults: {chain_timeout: 10m}
pre_tool_execution:
  - {name: push, ask: 'command startsWith "git push"', reason: it changes what others see}
`), 0o600))
	asking := newSharerBy(t, policy, "--nats", c.Leaf(), "--nats-domain", natstest.Domain)
	granting, loose := newSharer(t, c, policy, share.Deny), newSharer(t, c, policy, share.Local)
	pending := func(n *sharer) string {
		id := ""
		n.until("it is asked", func() bool {
			said, _ := n.says("approvals", "list")
			for line := range strings.Lines(said) {
				if first, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "pending") {
					id = first
				}
			}
			return id != ""
		})
		return id
	}
	asks := func(n *sharer, command string) chan *decision {
		out := make(chan *decision, 1)
		go func() { out <- n.run("Bash", command) }()
		return out
	}
	reached := func(n *sharer) {
		n.until("the fleet is reached", func() bool {
			said, code := n.says("approvals", "list")
			return code == 0 && !strings.Contains(said, "of this machine alone")
		})
	}
	for _, n := range []*sharer{asking, granting, loose} {
		reached(n)
	}

	waits := asks(asking, "git push")
	id := pending(granting)
	said, code := granting.says("approvals", "grant", id, "--reason", "the release is due")
	require.Zero(t, code, said)
	granted := time.Now()
	d := <-waits
	t.Logf("after the command that grants had ended, the agent had its answer in %v", time.Since(granted))
	assert.Equal(t, "proceed", d.Action)
	require.NotNil(t, d.Grant)
	assert.Equal(t, id, d.Grant.ID)
	assert.Empty(t, d.Warnings)

	for i := range 3 { // whichever leads
		waits = asks(asking, "git push")
		next := pending(granting)
		assert.NotEqual(t, id, next, "it counted once")
		c.Kill(i)
		granting.until("it is answered", func() bool {
			said, code = granting.says("approvals", "grant", next)
			return code == 0 || strings.Contains(said, "was granted already") // by a try whose answer was lost
		})
		d = <-waits
		assert.Equal(t, "proceed", d.Action, "%v", d.Reasons)
		c.Up(i)
		reached(asking)
		reached(granting)
		id = next
	}

	waits = asks(asking, "git push")
	id = pending(granting)
	_, code = granting.says("approvals", "deny", id)
	assert.Zero(t, code)
	said, code = loose.says("approvals", "grant", id)
	assert.Equal(t, 1, code, "somebody was faster: %s", said)
	assert.Equal(t, "block", (<-waits).Action)

	for i := range 3 {
		c.Kill(i)
	}
	d = asking.run("Bash", "git push")
	assert.Equal(t, "block", d.Action)
	assert.Equal(t, []string{"HK174"}, d.codes())
	said, code = granting.says("approvals", "list")
	assert.Equal(t, 3, code, said)
	waits = asks(loose, "git push")
	id = pending(loose)
	said, code = loose.says("approvals", "grant", id)
	require.Zero(t, code, said)
	assert.Contains(t, said, "these are of this machine alone")
	d = <-waits
	assert.Equal(t, "proceed", d.Action)
	assert.Equal(t, []string{"HK174"}, d.codes())

	for i := range 3 {
		c.Up(i)
	}
	reached(granting)
	reached(loose)
	waits = asks(loose, "git push --tags") // the other was denied
	said, code = granting.says("approvals", "grant", pending(granting))
	require.Zero(t, code, said)
	d = <-waits
	assert.Equal(t, "proceed", d.Action)
	assert.Empty(t, d.Warnings)
}

// TestSharedRecord: with --nats-log the record of a machine is in the stream of the fleet,
// through a leaf node too, and what is decided while NATS is away comes when it is back.
func TestSharedRecord(t *testing.T) {
	c := natstest.Start(t)
	policy := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("pre_tool_execution:\n  - {name: no, deny: 'command == \"no\"', reason: no}\n"), 0o600))
	n := newSharerBy(t, policy, "--nats", c.Leaf(), "--nats-domain", natstest.Domain, "--nats-log")
	said, code := n.says("log", "enable")
	require.Zero(t, code, said)
	assert.Equal(t, "block", n.run("Bash", "no").Action)
	l := c.Link()
	arrived := func(want string, subject string) {
		natstest.Until(t, want+" is in the stream", func() bool {
			stream, err := l.JS.Stream(t.Context(), records.Stream)
			if err != nil {
				return false
			}
			m, err := stream.GetLastMsgForSubject(t.Context(), subject)
			return err == nil && strings.Contains(string(m.Data), fmt.Sprintf(`"command":%q`, want)) && m.Header.Get(records.HeaderUser) != ""
		})
	}
	arrived("no", "hookc.log.pre_tool_execution.block")
	for i := range 3 {
		c.Kill(i)
	}
	assert.Equal(t, "proceed", n.run("Bash", "ls").Action)
	n.until("it says so", func() bool {
		return strings.Contains(n.log.String(), "decisions were not shipped, and stay in the record")
	})
	for i := range 3 {
		c.Up(i)
	}
	arrived("ls", "hookc.log.pre_tool_execution.proceed")
}
