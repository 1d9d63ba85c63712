package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/ahead"
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
	var value []byte
	name, begun := "", 0
	cut := func() {
		if len(value) > 0 {
			r.unread(fmt.Sprintf("%s:%d:1", name, begun), errors.New("the file ends within a JSON value"))
			value = value[:0]
		}
	}
	err := ahead.Pass(r.ctx, source, r.ahead, func(b *ahead.Batch) error {
		if b.Name != name {
			cut()
		}
		name = b.Name
		done, _ := b.Done.([]replay.Outcome)
		for i := range b.Len() {
			line := b.Line(i)
			if len(value) == 0 {
				if done != nil && done[i].What != replay.Undecided {
					r.report.Add(&done[i])
					continue
				}
				if len(bytes.TrimSpace(line)) == 0 {
					continue
				}
				begun = b.Number(i)
			}
			value = append(value, line...)
			whole, err := r.value(name, begun, value, give)
			if err != nil {
				return err
			}
			if whole {
				value = value[:0]
			}
		}
		r.say(fmt.Sprintf("replaying %s, %s", name, count(r.report.Events, "event")))
		return nil
	})
	if r.ctx.Err() == nil {
		cut()
	}
	return err
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
