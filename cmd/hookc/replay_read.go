package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/ahead"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/cases"
)

// recording is one event that was recorded.
type recording struct {
	// at is where it is written; name is what the record calls itself.
	at, name string
	event    policy.Event
	in       *policy.Context
	// expect is what was decided, nil when that was not recorded; whole when it
	// is all of it.
	expect  map[string]any
	whole   bool
	answers map[string]map[string]any
	// kept is what processes and models answered, as the decision log keeps it.
	kept *runner.Answers
	// then is what kept was made of, heard are its hooks, in order.
	then  map[string]any
	heard []string
	// masked says that values of the event were masked.
	masked bool
	// policies are those that a file of test cases names.
	policies []string
}

// records reads a file and gives each record of it. What cannot be read is noted
// and passed over.
func (r *replayer) records(file string, give func(*recording) error) error {
	if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" {
		return r.caseRecords(file, give)
	}
	var in io.Reader = r.cmd.InOrStdin()
	name := "stdin"
	if file != "-" {
		f, err := os.Open(decide.CallerOf(r.ctx).Path(file))
		if err != nil {
			return cannot("%v", err)
		}
		defer f.Close()
		in, name = f, file
	}
	return r.pass(func(emit ahead.Emit) error {
		if err := ahead.Read(name, in, emit); err != nil {
			return cannot("%s: %v", name, err)
		}
		return nil
	}, give)
}

// caseRecords are the cases of a YAML file of tests.
func (r *replayer) caseRecords(file string, give func(*recording) error) error {
	cases, found := cases.Read(file)
	for _, d := range found {
		r.report.Misses(strings.TrimRight(d.Render(), "\n"))
	}
	for _, c := range cases.Cases {
		event, ok := policy.ParseEvent(c.Native)
		if !ok {
			r.unread(c.Span.String(), unknownEvent(c.Native))
			continue
		}
		in, _, err := withDir(c.Event, event)
		if err != nil {
			return err
		}
		if err := give(&recording{at: c.Span.String(), name: c.Name, event: event, in: in.Frozen(event), expect: c.Expect, answers: c.Answers, policies: cases.Policies}); err != nil {
			return err
		}
	}
	return nil
}

func unknownEvent(name string) error {
	return fault.Errorf("unknown event %q: %s", name, diag.DidYouMean(name, policy.EventNames(), "name it in the field \"event\", or with --event"))
}

// unread notes a record that cannot be read.
func (r *replayer) unread(at string, err error) {
	r.report.Misses(fmt.Sprintf("%s: %s", at, strings.TrimPrefix(err.Error(), "hookc: ")))
}

// value takes the lines of a value so far; whole is false when it goes on.
func (r *replayer) value(name string, begun int, text []byte, give func(*recording) error) (whole bool, err error) {
	if len(text) > decide.MaxInput {
		return false, cannot("%s:%d: a record is larger than %d MiB", name, begun, decide.MaxInput>>20)
	}
	var any json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, &any); errors.As(err, &syntax) {
		if int(syntax.Offset) >= len(text) {
			return false, nil
		}
		before := text[:max(0, syntax.Offset-1)]
		line := begun + bytes.Count(before, []byte("\n"))
		r.unread(fmt.Sprintf("%s:%d:%d", name, line, len(before)-bytes.LastIndexByte(before, '\n')), fault.Errorf("not JSON: %v", err))
		return true, nil
	}
	rec, err := r.decode(bytes.TrimSpace(text))
	at := fmt.Sprintf("%s:%d", name, begun)
	switch {
	case err != nil:
		r.unread(at+":1", err)
	case rec == nil:
		r.report.Debug++
	default:
		rec.at = at
		return true, give(rec)
	}
	return true, nil
}

// debugKeys are those of every line that --debug writes.
var debugKeys = []string{"hook", "event", "kind", "exit", "us", "attempt"}

// decode reads a record, nil for a line of the debug log.
func (r *replayer) decode(text []byte) (*recording, error) {
	v, err := policy.DecodeJSON(text)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	if !slices.ContainsFunc(debugKeys, func(k string) bool { _, has := m[k]; return !has }) {
		return nil, nil
	}
	rec := &recording{}
	if m["type"] == "decision" && m["chain"] != nil {
		return rec, r.logged(rec, m)
	}
	event, wrapped := m["event"].(map[string]any)
	if !wrapped {
		return rec, r.decodeEvent(rec, text)
	}
	if err := rec.said(m); err != nil {
		return nil, err
	}
	text, err = policy.EncodeJSON(event)
	if err != nil {
		return nil, err
	}
	return rec, r.decodeEvent(rec, text)
}

// logged reads an entry of the decision log.
func (r *replayer) logged(rec *recording, m map[string]any) (err error) {
	rec.name, _ = m["decision_id"].(string)
	if result, ok := m["result"].(map[string]any); ok {
		rec.expect, rec.whole = result, true
	}
	if answers, ok := m["answers"].(map[string]any); ok {
		rec.then, rec.heard = answers, lists.Keys(answers)
		text, err := policy.EncodeJSON(answers)
		if err != nil {
			return err
		}
		rec.kept = runner.AnswersBefore(text)
	}
	path, _ := m["path"].(string)
	event, ok := policy.ParseEvent(path)
	if !ok {
		return unknownEvent(path)
	}
	rec.masked = m["masked"] != nil || m["erased"] != nil
	input, _ := m["input"].(map[string]any)
	in, _, err := policy.ContextFromMap(input)
	if err != nil {
		return err
	}
	rec.in, rec.event = in.Frozen(event), event
	return nil
}

// recordKeys are those of a record that is more than an event.
var recordKeys = []string{"name", "event", "answers", "decision", "expect"}

// said reads what a record holds beside its event.
func (rec *recording) said(m map[string]any) error {
	for _, key := range lists.Keys(m) {
		if !lists.Has(recordKeys, key) {
			return fault.Errorf("unknown key %q: %s", key, diag.DidYouMean(key, recordKeys, "a record has "+strings.Join(recordKeys, ", ")))
		}
	}
	rec.name, _ = m["name"].(string)
	for _, key := range []string{"expect", "decision"} {
		if m[key] == nil {
			continue
		}
		said, ok := m[key].(map[string]any)
		switch {
		case !ok:
			return fault.Errorf("%s must be an object", key)
		case rec.expect != nil:
			return errors.New("a record has a decision or what is expected of it, not both")
		}
		for _, name := range lists.Keys(said) {
			if known := policy.DecisionKeys(); !lists.Has(known, name) {
				return fault.Errorf("%s: unknown key %q: %s", key, name, diag.DidYouMean(name, known, "`hookc help run` shows a Decision"))
			}
		}
		rec.expect, rec.whole = said, key == "decision"
	}
	answers, ok := m["answers"].(map[string]any)
	if !ok && m["answers"] != nil {
		return errors.New("answers must be an object from hook to HookResult")
	}
	for name, v := range answers {
		answer, ok := v.(map[string]any)
		if !ok {
			return fault.Errorf("answers: that of %q must be an object", name)
		}
		if rec.answers == nil {
			rec.answers = map[string]map[string]any{}
		}
		rec.answers[name] = answer
	}
	return nil
}

// decodeEvent reads an event as run does.
func (r *replayer) decodeEvent(rec *recording, text []byte) error {
	var in *policy.Context
	var event policy.Event
	var err error
	switch {
	case r.speaks != nil:
		call, failed := r.speaks.Decode(text, r.event, decide.CallerOf(r.ctx).Getenv)
		if failed != nil {
			return failed
		}
		in, event = call.Context, call.Event()
	case r.event != "" && policy.Peek(text, policy.FieldEvent) == "":
		in, event, err = namedEvent(text, []string{r.event})
	default:
		in, event, err = namedEvent(text, nil)
	}
	if err != nil {
		return err
	}
	if in, event, err = withDir(in, event); err != nil {
		return err
	}
	rec.in, rec.event = in.Frozen(event), event
	return nil
}
