package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newStore(t *testing.T) (*Store, *clock) {
	c := &clock{at: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	s := Open(filepath.Join(t.TempDir(), "hookc"))
	s.Now = c.now
	return s, c
}

func question(command string) *Question {
	terms, _ := approval.Blocks{{Tier: 1}}.For([]approval.Asker{{Name: "guard", Tier: 1}})
	return &Question{Call: Call{Event: policy.PreToolExecution, Tool: "Bash", Input: map[string]any{"command": command}, Cwd: "/p"},
		Session: "s", Policy: "sha256:1", Rules: []string{"guard#1"}, Terms: terms}
}

func ask(t *testing.T, s *Store, q *Question) (*Approval, bool) {
	t.Helper()
	a, used, _, err := s.Ask(context.Background(), q)
	require.NoError(t, err)
	return a, used
}

func TestOnce(t *testing.T) {
	s, _ := newStore(t)
	a, used := ask(t, s, question("ls"))
	assert.False(t, used)
	assert.Equal(t, Pending, a.State)
	again, used := ask(t, s, question("ls"))
	assert.False(t, used)
	assert.Equal(t, a.ID, again.ID, "the same question is asked once")
	_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "fine")
	require.NoError(t, err)
	got, used := ask(t, s, question("ls"))
	assert.True(t, used)
	assert.Equal(t, []string{"alice"}, got.By())
	next, used := ask(t, s, question("ls"))
	assert.False(t, used, "a grant counts once")
	assert.NotEqual(t, a.ID, next.ID)
}

// TestBound: what differs in anything that an answer holds for needs its own.
func TestBound(t *testing.T) {
	for name, change := range map[string]func(*Question){
		"argument":         func(q *Question) { q.Call.Input = map[string]any{"command": "ls "} },
		"further argument": func(q *Question) { q.Call.Input = map[string]any{"command": "ls", "timeout": json.Number("1")} },
		"tool":             func(q *Question) { q.Call.Tool = "Shell" },
		"cwd":              func(q *Question) { q.Call.Cwd = "/q" },
		"session":          func(q *Question) { q.Session = "t" },
		"no session":       func(q *Question) { q.Session = "" },
		"plan":             func(q *Question) { q.Policy = "sha256:2" },
		"rule":             func(q *Question) { q.Rules = []string{"guard#2"} },
		"another rule too": func(q *Question) { q.Rules = []string{"guard#1", "other"} },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			a, _ := ask(t, s, question("ls"))
			_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{For: time.Hour}, "")
			require.NoError(t, err)
			q := question("ls")
			change(q)
			other, used := ask(t, s, q)
			assert.False(t, used)
			assert.NotEqual(t, a.ID, other.ID)
			_, used = ask(t, s, question("ls"))
			assert.True(t, used)
		})
	}
}

// TestDigestOfNumbers: RFC 8785 writes numbers as float64 does, which makes numbers one
// that are not.
func TestDigestOfNumbers(t *testing.T) {
	digest := func(text string) string {
		v, err := policy.DecodeJSON([]byte(text))
		require.NoError(t, err)
		d, err := (&Call{Tool: "T", Input: v}).Digest()
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, digest(`{"a":1,"b":[true,null]}`), digest(`{ "b" : [true, null], "a" : 1 }`))
	assert.NotEqual(t, digest(`{"a":9007199254740993}`), digest(`{"a":9007199254740992}`))
	assert.NotEqual(t, digest(`{"a":[9007199254740993,1]}`), digest(`{"a":[9007199254740995,1]}`))
	assert.NotEqual(t, digest(`{"a":0.10000000000000000001}`), digest(`{"a":0.10000000000000000002}`))
	assert.NotEqual(t, digest(`{"from":9007199254740993,"to":9007199254740992}`), digest(`{"from":9007199254740992,"to":9007199254740993}`), "two ids changed places")
	assert.NotEqual(t, digest(`{"a":[[9007199254740993],9007199254740992]}`), digest(`{"a":[[9007199254740992],9007199254740993]}`))
	assert.NotEqual(t, digest(`{"a":1e-400}`), digest(`{"a":0}`))
	assert.NotEqual(t, digest(`{"a":123456789e-320}`), digest(`{"a":123456788e-320}`))
	assert.Equal(t, digest(`{"a":[1.0,1e5]}`), digest(`{"a":[1,100000]}`))
	assert.NotEqual(t, digest(`{"a":"1"}`), digest(`{"a":1}`))
}

func TestScopes(t *testing.T) {
	s, c := newStore(t)
	a, _ := ask(t, s, question("ls"))
	_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{For: time.Hour}, "")
	require.NoError(t, err)
	for range 3 {
		_, used := ask(t, s, question("ls"))
		assert.True(t, used)
	}
	c.move(time.Hour)
	after, used := ask(t, s, question("ls"))
	assert.False(t, used, "the hour is over")
	assert.Equal(t, Pending, after.State)
	_, err = s.Answer(context.Background(), after.ID, "alice", Grant, Scope{For: 25 * time.Hour}, "")
	assert.ErrorContains(t, err, "longest")
	_, err = s.Answer(context.Background(), after.ID, "alice", Grant, Scope{Session: true}, "")
	require.NoError(t, err)
	for range 3 {
		_, used := ask(t, s, question("ls"))
		assert.True(t, used)
	}
}

func TestExpiry(t *testing.T) {
	s, c := newStore(t)
	a, _ := ask(t, s, question("ls"))
	c.move(approval.DefaultTTL)
	_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "")
	var late *AnsweredError
	require.ErrorAs(t, err, &late)
	assert.Equal(t, Expired, late.Approval.State)
	b, used := ask(t, s, question("ls"))
	assert.False(t, used)
	assert.NotEqual(t, a.ID, b.ID)
	_, err = s.Answer(context.Background(), b.ID, "alice", Grant, Scope{}, "")
	require.NoError(t, err)
	c.move(approval.DefaultTTL)
	_, used = ask(t, s, question("ls"))
	assert.False(t, used, "a grant that nobody used in time")
}

// TestClockBack: a clock that is set back does not make a grant last longer.
func TestClockBack(t *testing.T) {
	s, c := newStore(t)
	a, _ := ask(t, s, question("ls"))
	_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{For: time.Hour}, "")
	require.NoError(t, err)
	c.move(50 * time.Minute)
	_, used := ask(t, s, question("ls"))
	require.True(t, used)
	c.move(-30 * time.Minute)
	b, used := ask(t, s, question("ls"))
	assert.False(t, used)
	assert.NotEqual(t, a.ID, b.ID)
}

func TestFirstAnswerWins(t *testing.T) {
	s, _ := newStore(t)
	a, _ := ask(t, s, question("ls"))
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.Answer(context.Background(), a.ID, fmt.Sprint("p", i), []Verdict{Grant, Deny}[i%2], Scope{}, "")
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var late *AnsweredError
		if err == nil {
			won++
		} else if assert.ErrorAs(t, err, &late) {
			assert.Contains(t, err.Error(), "already, by "+late.Approval.By()[0])
		}
	}
	assert.Equal(t, 1, won)
}

func TestDenialHolds(t *testing.T) {
	s, c := newStore(t)
	a, _ := ask(t, s, question("ls"))
	_, err := s.Answer(context.Background(), a.ID, "bob", Deny, Scope{}, "not today")
	require.NoError(t, err)
	b, used := ask(t, s, question("ls"))
	assert.False(t, used)
	assert.Equal(t, a.ID, b.ID)
	assert.Equal(t, "hookc: "+a.ID+" was denied by bob: not today", b.refusal(0))
	c.move(approval.DefaultTTL)
	b, _ = ask(t, s, question("ls"))
	assert.NotEqual(t, a.ID, b.ID, "it may be asked again later")
}

func TestQuorum(t *testing.T) {
	s, _ := newStore(t)
	q := question("ls")
	blocks := approval.Blocks{{Tier: 1, Rule: approval.Rule{Approvers: []string{"sre"}, Quorum: 2}, Groups: map[string][]string{"sre": {"alice", "bob"}}}}
	q.Terms, _ = blocks.For([]approval.Asker{{Name: "guard", Tier: 1}})
	a, _ := ask(t, s, q)
	answer := func(by string, scope Scope) (*Approval, error) {
		return s.Answer(context.Background(), a.ID, by, Grant, scope, "")
	}
	_, err := answer("mallory", Scope{})
	assert.ErrorContains(t, err, "mallory may not answer it: approvers are alice, bob")
	got, err := answer("alice", Scope{For: time.Hour})
	require.NoError(t, err)
	assert.Equal(t, Pending, got.State)
	_, err = answer(" ALICE", Scope{})
	assert.ErrorContains(t, err, "has answered already")
	_, used := ask(t, s, q)
	assert.False(t, used)
	got, err = answer("bob", Scope{})
	require.NoError(t, err)
	assert.Equal(t, Granted, got.State)
	assert.Equal(t, Scope{}, got.Scope, "the narrower of the two holds")
}

// TestDamaged: what is not as hookc wrote it is no grant, and is said.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"torn":    func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
		"changed": func(b []byte) []byte { return []byte(strings.Replace(string(b), `"pending"`, `"granted"`, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			a, _ := ask(t, s, question("ls"))
			path := filepath.Join(s.Path(), a.ID+suffix)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, damage(data), 0o600))
			for range 2 {
				_, used, _, err := s.Ask(context.Background(), question("ls"))
				assert.False(t, used)
				assert.ErrorContains(t, err, a.ID+" cannot be read")
			}
			_, err = s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "")
			assert.ErrorContains(t, err, "cannot be read")
			_, err = s.List()
			assert.ErrorContains(t, err, "cannot be read")
		})
	}
}

func TestPrunes(t *testing.T) {
	s, c := newStore(t)
	for i := range pruneFrom {
		ask(t, s, question(fmt.Sprint(i)))
	}
	c.move(approval.DefaultTTL + keepEnded)
	a, _ := ask(t, s, question("ls"))
	entries, err := os.ReadDir(s.Path())
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the one approval and its lock")
	assert.Equal(t, Pending, a.State)
}

func TestWait(t *testing.T) {
	s, _ := newStore(t)
	a, _ := ask(t, s, question("ls"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err := s.Wait(ctx, a.ID)
	require.NoError(t, err)
	assert.Equal(t, Pending, got.State)
	done := make(chan *Approval)
	go func() { got, _ := s.Wait(context.Background(), a.ID); done <- got }()
	_, err = s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "")
	require.NoError(t, err)
	assert.Equal(t, Granted, (<-done).State)
}

// TestMain is a process that uses a grant once, where a test says so.
func TestMain(m *testing.M) {
	home, ok := os.LookupEnv("HOOKC_TEST_APPROVALS")
	if !ok {
		os.Exit(m.Run())
	}
	s := Open(home)
	if n, err := strconv.Atoi(os.Getenv("HOOKC_TEST_ANSWERS")); err == nil {
		for i := range n {
			a, _, _, err := s.Ask(context.Background(), question(fmt.Sprint(i)))
			if err == nil {
				_, err = s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "")
			}
			var late *AnsweredError
			if err != nil && !errors.As(err, &late) {
				fmt.Println(err)
			}
		}
		os.Exit(0)
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err == nil { // all begin at once
		fmt.Println("?")
	}
	_, used, _, err := s.Ask(context.Background(), question("ls"))
	fmt.Println(used, err)
	os.Exit(0)
}

func process(t *testing.T, home string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append(env, "HOOKC_TEST_APPROVALS="+home)...)
	return cmd
}

// TestOnceAmongProcesses: of 64 processes that make one call at once, one goes ahead.
func TestOnceAmongProcesses(t *testing.T) {
	home := filepath.Join(t.TempDir(), "hookc")
	s := Open(home)
	a, _ := ask(t, s, question("ls"))
	_, err := s.Answer(context.Background(), a.ID, "alice", Grant, Scope{}, "")
	require.NoError(t, err)
	start, release, err := os.Pipe()
	require.NoError(t, err)
	said := make([]strings.Builder, 64)
	var all []*exec.Cmd
	for i := range said {
		cmd := process(t, home)
		cmd.Stdin, cmd.Stdout = start, &said[i]
		require.NoError(t, cmd.Start())
		all = append(all, cmd)
	}
	require.NoError(t, start.Close())
	require.NoError(t, release.Close())
	went := 0
	for i, cmd := range all {
		require.NoError(t, cmd.Wait())
		switch said[i].String() {
		case "true <nil>\n":
			went++
		case "false <nil>\n":
		default:
			t.Error(said[i].String())
		}
	}
	assert.Equal(t, 1, went)
	all2, err := s.List()
	require.NoError(t, err)
	assert.Len(t, all2, 2, "the one used, and one that all others ask by")
}

// TestKilled: a process that is killed at any moment leaves a store that is whole.
func TestKilled(t *testing.T) {
	home := filepath.Join(t.TempDir(), "hookc")
	s := Open(home)
	for i := range 12 {
		cmd := process(t, home, "HOOKC_TEST_ANSWERS=100000")
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { ids, _, _ := s.look(""); return len(ids) > i*3 }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		all, err := s.List()
		require.NoError(t, err)
		for _, a := range all {
			assert.Contains(t, []State{Pending, Granted}, a.State)
		}
	}
}

// TestInbound: an answer counts when it is signed, of now, and the first.
func TestInbound(t *testing.T) {
	s, c := newStore(t)
	a, _ := ask(t, s, question("ls"))
	require.NoError(t, s.SetKey([]byte("0123456789abcdef")))
	send := func(body, kind string, change func(http.Header, *string)) int {
		at := strconv.FormatInt(c.now().Unix(), 10)
		r := httptest.NewRequest(http.MethodPost, "/approvals", nil)
		r.Header.Set("Content-Type", kind)
		r.Header.Set(timestampHeader, at)
		r.Header.Set(signatureHeader, sign([]byte("0123456789abcdef"), at, []byte(body)))
		if change != nil {
			change(r.Header, &body)
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		code, _ := s.Receive(r)
		return code
	}
	grant := `{"id":"` + a.ID + `","verdict":"grant","by":"alice"}`
	assert.Equal(t, 401, send(grant, "", func(h http.Header, _ *string) { h.Del(signatureHeader) }))
	assert.Equal(t, 401, send(grant, "", func(_ http.Header, b *string) { *b = strings.Replace(*b, "alice", "carol", 1) }))
	assert.Equal(t, 401, send(grant, "", func(h http.Header, _ *string) { h.Set(timestampHeader, "1") }))
	assert.Equal(t, 400, send("yes, allow it", "", nil), "no text is read for a verdict")
	assert.Equal(t, 403, send(strings.Replace(grant, `"grant"`, `"allow"`, 1), "", nil))
	assert.Equal(t, 404, send(strings.Replace(grant, a.ID, "000000000000-1", 1), "", nil))
	slack := "payload=" + url.QueryEscape(`{"type":"block_actions","user":{"username":"bob"},"actions":[{"action_id":"grant","value":"`+a.ID+`"}]}`)
	assert.Equal(t, 200, send(slack, "application/x-www-form-urlencoded", nil))
	assert.Equal(t, 409, send(slack, "application/x-www-form-urlencoded", nil), "the same message again")
	assert.Equal(t, 409, send(grant, "", nil))
	got, err := s.Get(a.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"bob"}, got.By())
}

// TestForged: an approval that no answers granted, or that is more than one value, grants
// nothing, however whole its file is.
func TestForged(t *testing.T) {
	for name, forge := range map[string]func(string) string{
		"state": func(s string) string { return strings.Replace(s, `"pending"`, `"granted"`, 1) },
		"two":   func(s string) string { return s + strings.Replace(s, `"pending"`, `"granted"`, 1) },
		"key":   func(s string) string { return strings.Replace(s, `"state":`, `"state":"granted","state":`, 1) },
		"rules": func(s string) string { return strings.Replace(s, `"rules":[`, `"rules":[],"rule":[`, 1) },
		"one vote": func(s string) string {
			return strings.Replace(strings.Replace(s, `"pending"`, `"granted"`, 1), `"quorum":1`, `"quorum":2`, 1)
		},
	} {
		s, _ := newStore(t)
		a, _ := ask(t, s, question("ls"))
		if name == "one vote" {
			_, err := s.Answer(t.Context(), a.ID, "alice", Grant, Scope{}, "")
			require.NoError(t, err)
		}
		require.NoError(t, s.dir.Update(a.ID+suffix, func(old []byte) ([]byte, error) { return []byte(forge(string(old))), nil }))
		_, used, _, err := s.Ask(t.Context(), question("ls"))
		assert.False(t, used, name)
		assert.Error(t, err, name)
	}
}

// TestShownWhole: what a person is asked to grant by a message has no character that
// hides or reorders it.
func TestShownWhole(t *testing.T) {
	s, _ := newStore(t)
	for _, odd := range []string{"\u202e", "\u200b", "\x1b[2J", "\u2066", strings.Repeat("é", 1200)} {
		q := question("ls " + odd)
		q.Call.Cwd, q.Rules = "/repo/"+odd, []string{"guard" + odd}
		a, _ := ask(t, s, q)
		var texts func(v any)
		texts = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				for _, e := range v {
					texts(e)
				}
			case []any:
				for _, e := range v {
					texts(e)
				}
			case string:
				assert.False(t, strings.ContainsFunc(v, func(r rune) bool { return spell.Hidden(r) || r == utf8.RuneError }), "%q", v)
			}
		}
		texts(message(a, "slack"))
	}
}
