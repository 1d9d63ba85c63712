package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/ahead"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/replay"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/scan"
)

// log gives the decisions of the log of the user.
func (r *replayer) log(since string, give func(*recording) error) error {
	dir, from, err := logHost().Recorded(since)
	if err != nil {
		return err
	}
	return r.pass(func(emit ahead.Emit) (err error) {
		if r.report.Lost, err = ahead.Log(dir, from, emit); err != nil {
			return cannot("%v\nhookc: `hookc log verify` says more", err)
		}
		return nil
	}, give)
}

// pass takes the lines of a source: of each give gets what it records, unless it was
// decided ahead. What cannot be read is noted and passed over. A value begins on a line
// of its own and may go over several.
func (r *replayer) pass(source func(ahead.Emit) error, give func(*recording) error) error {
	var v ahead.Value
	name := ""
	cut := func() error {
		if len(v.Text) == 0 {
			return nil
		}
		r.unread(fmt.Sprintf("%s:%d:1", name, v.Begun), errors.New("the file ends within a JSON value"))
		_, err := r.salvage(name, &v, give)
		v = ahead.Value{}
		return err
	}
	err := ahead.Pass(r.ctx, source, r.ahead, func(b *ahead.Batch) error {
		if b.Name != name {
			if err := cut(); err != nil {
				return err
			}
		}
		name = b.Name
		done, _ := b.Done.([]replay.Outcome)
		for i := range b.Len() {
			line := b.Line(i)
			if len(v.Text) == 0 {
				if done != nil && done[i].What != replay.Undecided {
					r.report.Add(&done[i])
					continue
				}
				if len(bytes.TrimSpace(line)) == 0 {
					continue
				}
			}
			if err := r.line(name, b.Number(i), line, &v, give); err != nil {
				return err
			}
		}
		r.say(fmt.Sprintf("replaying %s, %s", name, count(r.report.Events, "event")))
		return nil
	})
	if failed := cut(); err == nil && r.ctx.Err() == nil {
		err = failed
	}
	return err
}

// line takes a line, which begins a value or belongs to v.
func (r *replayer) line(name string, number int, line []byte, v *ahead.Value, give func(*recording) error) error {
	if len(v.Text) == 0 {
		if whole, err := r.value(name, number, line, give); whole || err != nil {
			return err
		}
		*v = ahead.Value{Begun: number}
		v.Add(line)
		return nil
	}
	ended, broken := v.Add(line)
	if !ended && len(v.Text) <= decide.MaxInput {
		return nil
	}
	if whole, err := r.value(name, v.Begun, v.Text, give); err != nil {
		return err
	} else if !whole {
		r.unread(fmt.Sprintf("%s:%d:1", name, v.Begun), errors.New("not JSON"))
	}
	was := *v
	*v = ahead.Value{}
	if !broken {
		return nil
	}
	again, err := r.salvage(name, &was, give)
	if err == nil && len(again) > 0 {
		err = r.line(name, number, again, v, give)
	}
	return err
}

// salvage reads the records that stand on lines of their own in a value that is broken:
// what was meant to end before them did not. again is the last line, where another value
// begins with it.
func (r *replayer) salvage(name string, v *ahead.Value, give func(*recording) error) (again []byte, err error) {
	for i := 1; i < len(v.Ends) && err == nil; i++ {
		line := v.Text[v.Ends[i-1]:v.Ends[i]]
		switch {
		case line[0] != '{':
		case json.Valid(line):
			_, err = r.value(name, v.Begun+i, line, give)
		case i == len(v.Ends)-1:
			again = line
		}
	}
	return again, err
}

// replayWorker is what is remembered between two entries: eng is the engine of key.
type replayWorker struct {
	memory  hookc.Reused
	compare replay.Comparer
	event   policy.Event
	eng     *replayEngine
	key     []byte
}

// ahead decides the lines of a batch, where that can be done in any order.
func (r *replayer) ahead(b *ahead.Batch) {
	if r.engines == nil || r.scripts || r.llm {
		return
	}
	w, _ := r.workers.Get().(*replayWorker)
	if w == nil {
		w = new(replayWorker)
	}
	defer r.workers.Put(w)
	done := make([]replay.Outcome, b.Len())
	for i := range done {
		if line := b.Line(i); r.ctx.Err() == nil && !r.quick(line, w, &done[i]) {
			r.slow(fmt.Sprintf("%s:%d", b.Name, b.Number(i)), line, &done[i])
		}
	}
	b.Done = done
}

// slow decides a line that holds one record; what is odd about others is said in their
// turn.
func (r *replayer) slow(at string, line []byte, out *replay.Outcome) {
	rec, err := r.decode(bytes.TrimSpace(line))
	if err != nil || rec == nil {
		return
	}
	rec.at = at
	if o, err := r.decided(rec); err == nil {
		*out = o
	}
}

// quick decides an entry of the decision log that is decided as it was; false is for
// all else.
func (r *replayer) quick(line []byte, w *replayWorker, out *replay.Outcome) bool {
	e, ok := decisionlog.Split(line, w.compare.Known)
	if !ok || len(e.Path) < 2 || len(e.Input) == 0 {
		return false
	}
	event := w.event
	if path := e.Path[1 : len(e.Path)-1]; string(path) != string(event) {
		if event, ok = policy.ParseEvent(string(path)); !ok {
			return false
		}
		w.event = event
	}
	if r.event != "" && string(event) != r.event || r.tool != "" && policy.Peek(e.Input, policy.FieldToolName) != r.tool {
		if s := (scan.Scanner{Data: e.Input}); !s.Skip(1) || !s.End() { // else whoever decides it sees
			return false
		}
		out.What = replay.LeftOut
		return true
	}
	var room [256]byte
	key := append(append(room[:0], event...), 0)
	if len(e.Answers) > 0 {
		before := ""
		if ok = scan.Members(e.Answers, func(name, _ []byte) bool {
			sorted := before < string(name)
			before = string(name)
			key = append(append(key, name...), 1)
			return sorted
		}); !ok {
			return false
		}
	}
	if len(r.sources.Files) == 0 {
		key = append(append(key, 0), policy.Peek(e.Input, policy.FieldProjectRoot)...)
	}
	if w.eng == nil || !bytes.Equal(key, w.key) {
		r.mu.RLock()
		w.eng, w.key = r.usual[string(key)], append(w.key[:0], key...)
		r.mu.RUnlock()
		if w.eng == nil {
			return false
		}
	}
	ctx := r.ctx
	if len(e.Answers) > 0 {
		ctx = runner.WithAnswers(ctx, runner.AnswersBefore(e.Answers))
	}
	d, err := w.eng.eng.FireJSONInto(ctx, event, e.Input, &w.memory)
	if err != nil || r.ctx.Err() != nil {
		return false
	}
	o := replay.Outcome{What: replay.Unrecorded, Action: d.Action}
	if len(e.Result) > 0 {
		if o.What = replay.Same; !w.compare.Same(e.Result, d) {
			return false
		}
	}
	*out = o
	return true
}
