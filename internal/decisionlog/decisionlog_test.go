package decisionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/record"
	"github.com/hookc/hookc/tests/depth"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("DECISIONLOG_CHILD"); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// child is a process that writes to a log: a number of entries, or without end.
func child(dir string) {
	n, _ := strconv.Atoi(os.Getenv("DECISIONLOG_N"))
	signer, err := NewSigner(dir)
	if err == nil {
		var w *Writer
		options := Options{Sign: signer, Every: 7, MaxSize: 1 << 14}
		if os.Getenv("DECISIONLOG_ONE_FILE") != "" {
			options.MaxSize = 1 << 30
		}
		if w, err = Open(dir, options); err == nil {
			for i := 0; err == nil && (n == 0 || i < n); i++ {
				if err = w.Flush(context.Background()); err == nil {
					err = w.Add(context.Background(), decided(i, "ls"))
				}
			}
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func decided(i int, command string) Decided {
	in := policy.NewContext(policy.PreToolExecution).
		Set(policy.FieldToolName, "Bash").Set(policy.FieldSessionID, "s"+strconv.Itoa(i)).
		Set(policy.FieldToolInput, map[string]any{"command": command})
	return Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Agent: "claude", Took: time.Millisecond,
		Decision: &policy.Decision{Event: policy.PreToolExecution, Action: policy.Proceed, Verdict: policy.None, Control: policy.Go}}
}

func started(t *testing.T, dir string, options Options) *Writer {
	t.Helper()
	w, err := Open(dir, options)
	require.NoError(t, err)
	return w
}

// filled is a log of n decisions, in several segments, with checkpoints.
func filled(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	signer, err := NewSigner(dir)
	require.NoError(t, err)
	w := started(t, dir, Options{Sign: signer, Every: 10, MaxSize: 4 << 10, Durable: true})
	for i := range n {
		require.NoError(t, w.Add(t.Context(), decided(i, "echo "+strconv.Itoa(i))))
	}
	require.NoError(t, w.Close())
	return dir
}

func verified(t *testing.T, dir string) (*Verified, error) {
	t.Helper()
	key, err := VerifierKey(dir)
	require.NoError(t, err)
	check, err := Checker(dir, key)
	require.NoError(t, err)
	return Verify(dir, check)
}

func decisions(t *testing.T, dir string) (out []*Entry) {
	t.Helper()
	for e, err := range Entries(dir) {
		require.NoError(t, err)
		if e.Type == "decision" {
			out = append(out, e)
		}
	}
	return out
}

func TestWhatIsAddedIsReadBack(t *testing.T) {
	dir := filled(t, 40)
	v, err := verified(t, dir)
	require.NoError(t, err)
	require.Greater(t, v.Segments, 2)
	require.Greater(t, v.Checkpoints, 3)
	got := decisions(t, dir)
	require.Len(t, got, 40)
	ids := map[string]bool{}
	for i, e := range got {
		require.Equal(t, "s"+strconv.Itoa(i), e.Session)
		require.Equal(t, "echo "+strconv.Itoa(i), e.Input["tool_input"].(map[string]any)["command"])
		require.Equal(t, "proceed", e.Result["action"])
		require.Equal(t, "claude", e.Labels["agent"])
		require.EqualValues(t, 1000, e.Micros)
		ids[e.ID] = true
	}
	require.Len(t, ids, 40)
	info, err := os.Stat(filepath.Join(dir, segmentName(0, v.Segments)))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestEventIsReadBack: an entry's event is decoded as what was decided, whatever the host
// sent along, so that it is decided again as it was.
func TestEventIsReadBack(t *testing.T) {
	for _, text := range []string{
		`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"ls"},"odd":{"deep":[1,2.50,null]}}`,
		`{"event":"pre_tool_execution","tool_name":"Bash","tool_arguments":"{\"command\":\"ls\"}","tool_kind":"mine","raw":{"a":1}}`,
		`{"event":"stop","assistant_output":"done","tool_name":"Bash","raw":{"own":true}}`,
		`{"event":"session_start"}`,
	} {
		in, sent, err := policy.DecodeContext([]byte(text))
		require.NoError(t, err)
		event, _ := policy.ParseEvent(sent)
		in = in.Frozen(event)
		dir := t.TempDir()
		w := started(t, dir, Options{Durable: true})
		require.NoError(t, w.Add(t.Context(), Decided{Event: event, In: in, Decision: decided(0, "").Decision}))
		require.NoError(t, w.Close())
		data, err := policy.EncodeJSON(decisions(t, dir)[0].Input)
		require.NoError(t, err)
		again, _, err := policy.DecodeContext(data)
		require.NoError(t, err)
		require.Equal(t, in.Map(), again.Frozen(event).Map(), text)
	}
}

// TestSecretsAreMasked: no secret is in the file, wherever it stood, and equal
// ones are equal.
func TestSecretsAreMasked(t *testing.T) {
	token := "ghp_" + "x9Yb2Kq7Lm4Np8Rs3Tv6Wz1Cd5Fg0HjQeUiO"
	dir := t.TempDir()
	w := started(t, dir, Options{})
	d := decided(0, "curl -H 'Authorization: token "+token+"' https://example.org")
	d.Decision.Reasons = []string{"the token " + token + " leaves"}
	d.Answers = []byte(`{"audit":{"stdout":"saw ` + token + `"}}`)
	require.NoError(t, w.Add(t.Context(), d))
	require.NoError(t, w.Close())
	data, err := os.ReadFile(filepath.Join(dir, segmentName(0, 1)))
	require.NoError(t, err)
	require.NotContains(t, string(data), token)
	e := decisions(t, dir)[0]
	require.ElementsMatch(t, []string{"/input/tool_input/command", "/result/reasons/0", "/answers/audit/stdout"}, e.Masked)
	_, hash, _ := strings.Cut(e.Result["reasons"].([]any)[0].(string), ":")
	hash, _, _ = strings.Cut(hash, "]")
	require.Len(t, hash, 16)
	require.Contains(t, e.Input["tool_input"].(map[string]any)["command"], ":"+hash+"]", "whichever rule found it")
}

// TestVerifyNamesTheFirstLineThatIsWrong: whatever byte is changed, and whatever
// line is taken away, doubled or moved, the first line concerned is named. Only
// the end of a log may be missing unseen: a checkpoint elsewhere tells.
func TestVerifyNamesTheFirstLineThatIsWrong(t *testing.T) {
	dir := filled(t, 60)
	list, err := segments(dir)
	require.NoError(t, err)
	require.Greater(t, len(list), 2)
	r := rand.New(rand.NewPCG(1, 2))
	for range depth.Of(400) {
		s := list[r.IntN(len(list))]
		if s.zipped {
			continue // its sum is gzip's
		}
		path := filepath.Join(dir, s.name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
		lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
		i := r.IntN(len(lines))
		broken := slices.Clone(lines)
		switch r.IntN(4) {
		case 0:
			line := slices.Clone(lines[i])
			at := r.IntN(len(line) - 1)
			line[at] ^= byte(1 + r.IntN(127))
			broken[i] = line
		case 1:
			if i == len(lines)-1 {
				continue
			}
			broken = slices.Delete(broken, i, i+1)
		case 2:
			broken = slices.Insert(broken, i+1, lines[i])
			i++
		case 3:
			if i == len(lines)-1 {
				continue
			}
			broken[i], broken[i+1] = lines[i+1], lines[i]
		}
		require.NoError(t, os.WriteFile(path, bytes.Join(broken, nil), 0o600))
		_, err = verified(t, dir)
		var wrong *Wrong
		require.ErrorAs(t, err, &wrong, "%s line %d", s.name, i+1)
		require.Equal(t, s.name, wrong.File)
		require.Equal(t, i+1, wrong.Line, "%v", err)
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
	_, err = verified(t, dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, list[1].name)))
	_, err = verified(t, dir)
	require.ErrorContains(t, err, "missing")
}

func spawn(t *testing.T, dir string, n int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), "DECISIONLOG_CHILD="+dir, "DECISIONLOG_N="+strconv.Itoa(n))
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	require.NoError(t, c.Start())
	return c
}

// TestManyProcessesWrite: none waits for another, and nothing is lost.
func TestManyProcessesWrite(t *testing.T) {
	dir := t.TempDir()
	var all []*exec.Cmd
	for range depth.Of(64) {
		all = append(all, spawn(t, dir, 30))
	}
	for _, c := range all {
		require.NoError(t, c.Wait())
	}
	_, err := verified(t, dir)
	require.NoError(t, err)
	require.Len(t, decisions(t, dir), 30*len(all))
}

// TestKilledWriters: a process that is killed at any moment leaves a log that the
// next one goes on with.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	before := 0
	for range depth.Of(40) {
		c := spawn(t, dir, 0)
		require.Eventually(t, func() bool { return size(dir) > int64(before) }, time.Minute, time.Millisecond)
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		require.NoError(t, c.Process.Kill())
		require.Error(t, c.Wait())
		before = int(size(dir))
		v, err := verified(t, dir)
		require.NoError(t, err)
		require.LessOrEqual(t, len(v.Torn), 1)
	}
}

func size(dir string) (sum int64) {
	list, _ := segments(dir)
	for _, s := range list {
		if info, err := os.Stat(filepath.Join(dir, s.name)); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// TestTornTailIsRepaired: of a line that was not written whole nothing is taken
// for an entry, and the log says that it was there.
func TestTornTailIsRepaired(t *testing.T) {
	whole := filled(t, 3)
	path := segmentName(0, 1)
	data, err := os.ReadFile(filepath.Join(whole, path))
	require.NoError(t, err)
	for cut := 1; cut < len(data); cut += max(1, len(data)/depth.Of(300)) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), data[:cut], 0o600))
		had := bytes.Count(data[:cut], []byte("\n"))
		v, err := Verify(dir, nil)
		require.NoError(t, err)
		require.Equal(t, had, v.Entries)
		w := started(t, dir, Options{})
		require.NoError(t, w.Add(t.Context(), decided(9, "ls")))
		require.NoError(t, w.Close())
		v, err = Verify(dir, nil)
		require.NoError(t, err, "cut at %d", cut)
		require.Empty(t, v.Torn)
		if had > 0 && data[cut-1] != '\n' {
			require.Equal(t, had+2, v.Entries, "the lines before, one that tells of the repair, one that is new")
		}
	}
}

// TestOverflowIsCounted: what finds no room is lost, counted, and in the log as such.
func TestOverflowIsCounted(t *testing.T) {
	dir := t.TempDir()
	w := started(t, dir, Options{Buffer: 1})
	told := 0
	for i := range 2000 {
		if err := w.Add(t.Context(), decided(i, "ls")); err != nil {
			require.ErrorIs(t, err, ErrFull)
			told++
		}
	}
	require.EqualValues(t, told, w.Lost())
	require.NoError(t, w.Close())
	v, err := Verify(dir, nil)
	require.NoError(t, err)
	require.Equal(t, w.Lost(), v.Lost)
	require.Len(t, decisions(t, dir), 2000-int(w.Lost()))
}

// TestPrune takes the oldest segments away, and never a writer's last.
func TestPrune(t *testing.T) {
	dir := filled(t, 60)
	had, err := segments(dir)
	require.NoError(t, err)
	require.NoError(t, Prune(dir, Options{KeepSize: 1}))
	left, err := segments(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, had[len(had)-1].name, left[0].name)
	v, err := verified(t, dir)
	require.NoError(t, err)
	require.Equal(t, []string{left[0].name}, v.From)
	w := started(t, dir, Options{})
	require.NoError(t, w.Close())
}

// TestFailedWrite: a batch that cannot be written leaves nothing behind, the
// error is told, and the log goes on when it can.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	w := started(t, dir, Options{Durable: true})
	require.NoError(t, w.Add(t.Context(), decided(0, "ls")))
	good := w.file
	bad, err := os.Open(good.Name()) // it cannot be written to
	require.NoError(t, err)
	w.file = bad
	require.Error(t, w.Add(t.Context(), decided(1, "ls")))
	require.Error(t, w.Err())
	require.NoError(t, bad.Close())
	w.file = good
	require.NoError(t, w.Add(t.Context(), decided(2, "ls")))
	require.NoError(t, w.Err())
	require.NoError(t, w.Close())
	v, err := Verify(dir, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, v.Lost)
	require.Len(t, decisions(t, dir), 2)
}

// held are Rules that hold the writing goroutine until they are let go.
type held struct{ at, letGo chan struct{} }

func (h held) Edits(*Decided, func() (map[string]any, error)) (bool, []Edit, error) {
	h.at <- struct{}{}
	<-h.letGo
	return true, nil, nil
}

// hold has the goroutine that writes do nothing until what it returns is called.
func hold(t testing.TB, w *Writer) (letGo func()) {
	h, d := held{make(chan struct{}), make(chan struct{})}, decided(0, "")
	d.Terms = &Terms{Rules: h}
	require.NoError(t, w.Add(t.Context(), d))
	<-h.at
	return func() { close(h.letGo) }
}

// TestAddTakesNoMemory: nothing is allocated on the path of who decides, while nobody
// else is at work here.
func TestAddTakesNoMemory(t *testing.T) {
	w := started(t, t.TempDir(), Options{Buffer: 300})
	d := decided(1, "ls")
	letGo := hold(t, w)
	require.Zero(t, testing.AllocsPerRun(200, func() { require.NoError(t, w.Add(t.Context(), d)) }))
	letGo()
	require.NoError(t, w.Close())
	require.Len(t, decisions(t, w.dir), 201)
}

// TestClockJumps: the log does not reckon with the time of day: its order and its
// chain are what they are when the clock jumps, back or forward.
func TestClockJumps(t *testing.T) {
	dir := t.TempDir()
	signer, err := NewSigner(dir)
	require.NoError(t, err)
	var now atomic.Int64 // retention reads it beside the writer
	now.Store(time.Now().UnixNano())
	w := started(t, dir, Options{Sign: signer, Every: 5, Durable: true, MaxAge: time.Hour, KeepAge: 1 << 62, Now: func() time.Time { return time.Unix(0, now.Load()) }})
	ids := map[string]bool{}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		require.NoError(t, w.Add(t.Context(), decided(i, "ls")))
		now.Add(int64(time.Duration(r.IntN(20)-10) * 365 * time.Hour))
	}
	require.NoError(t, w.Close())
	_, err = verified(t, dir)
	require.NoError(t, err)
	for i, e := range decisions(t, dir) {
		require.Equal(t, "s"+strconv.Itoa(i), e.Session, "the order of one writer is that of its entries")
		ids[e.ID] = true
	}
	require.Len(t, ids, 60)
}

// TestKeysTakenAway: with another key the first checkpoint of the old one is named,
// and the old key still verifies what it signed.
func TestKeysTakenAway(t *testing.T) {
	dir := filled(t, 12)
	old, err := VerifierKey(dir)
	require.NoError(t, err)
	check, err := Checker(dir, old)
	require.NoError(t, err)
	_, err = Verify(dir, check)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "sign.key")))
	require.NoError(t, os.Remove(filepath.Join(dir, "mask.key")))
	signer, err := NewSigner(dir)
	require.NoError(t, err)
	w := started(t, dir, Options{Sign: signer, Every: 10, Durable: true})
	for i := range 12 {
		require.NoError(t, w.Add(t.Context(), decided(i, "ls")))
	}
	require.NoError(t, w.Close())
	_, err = verified(t, dir)
	var wrong *Wrong
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "the checkpoint")
	first := wrong.Seq
	_, err = Verify(dir, check)
	require.ErrorAs(t, err, &wrong)
	require.Greater(t, wrong.Seq, first, "by the old key the first of the new one is named")
	_, err = Verify(dir, nil)
	require.NoError(t, err, "the chain goes on")
}

// TestSchemaIsThatOfEntries: each member that an entry may have is in the schema.
func TestSchemaIsThatOfEntries(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	require.NoError(t, json.Unmarshal([]byte(JSONSchema), &schema))
	want := []string{"schema"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Entry]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(schema.Properties)))
	dir := filled(t, 30)
	list, err := segments(dir)
	require.NoError(t, err)
	for _, s := range list {
		_, _, err := s.lines(dir, func(_ int, line []byte) error {
			var m map[string]any
			require.NoError(t, json.Unmarshal(line, &m))
			for k := range m {
				require.Contains(t, schema.Properties, k)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// TestMaskedPlaces: what stands at a place that the user names is masked, whatever it
// is, and equal values stay equal.
func TestMaskedPlaces(t *testing.T) {
	dir := t.TempDir()
	w := started(t, dir, Options{Durable: true, Mask: []string{"/input/*/command", "/result/verdict"}})
	for _, command := range []string{"a long story", "a long story", "another"} {
		require.NoError(t, w.Add(t.Context(), decided(0, command)))
	}
	require.NoError(t, w.Close())
	got := decisions(t, dir)
	text := func(e *Entry) any { return e.Input["tool_input"].(map[string]any)["command"] }
	require.Regexp(t, `^\[masked:[0-9a-f]{16}\]$`, text(got[0]))
	require.Equal(t, text(got[0]), text(got[1]))
	require.NotEqual(t, text(got[0]), text(got[2]))
	require.Contains(t, got[0].Masked, "/input/tool_input/command")
	require.Contains(t, got[0].Masked, "/result/verdict")
}

func TestSettings(t *testing.T) {
	for want, s := range map[string]Settings{
		"":                           {OnError: "deny", Mask: []string{"/input/tool_input/content"}, Drop: []string{"session_start"}},
		`on_error is "": it is deny`: {},
		"mask has \"input/x\"":       {OnError: "warn", Mask: []string{"input/x"}},
		"mask has \"/input\"":        {OnError: "warn", Mask: []string{"/input"}},
		"mask has \"\"":              {OnError: "warn", Mask: []string{""}},
		"mask has \"/labels/agent\"": {OnError: "warn", Mask: []string{"/labels/agent"}},
		"drop has \"sesion_start\"":  {OnError: "warn", Drop: []string{"sesion_start"}},
		"checkpoints is an absolute": {OnError: "warn", Checkpoints: "x"},
	} {
		home := t.TempDir()
		err := s.Write(home)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		read, err := ReadSettings(home)
		require.NoError(t, err)
		require.Equal(t, s, read)
		require.Equal(t, []record.When{{What: string(policy.SessionStart)}}, read.Setting().Drop)
	}
}
