// Package decisionlog is the record of what was decided on what: entries as JSON
// lines in the files of a folder, chained by hashes, signed from time to time,
// and read back. It knows nothing of how a decision is made.
package decisionlog

import (
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/hookc/hookc/policy"
)

// Schema is the version of the form of an entry, which JSONSchema describes.
const Schema = 1

//go:embed schema.json
var JSONSchema string

// Decided is one decision as it is handed to a Writer.
type Decided struct {
	// At is when the decision was made; the zero Time is now. Took is how long it took.
	At   time.Time
	Took time.Duration
	// Agent is who asked, in the words of `dialect:`; empty for canonical.
	Agent string
	// In is the event as it was decided, which is not changed afterwards. Decision is what
	// was decided; what it refers to is not changed afterwards.
	Event    policy.Event
	In       *policy.Context
	Decision *policy.Decision
	// Err is why hookc could not decide, with Decision nil, or "".
	Err string
	// Answers are what processes and models answered, as JSON, so that a replay
	// starts none; nil if there is none.
	Answers []byte
	// Terms are how it is logged, beside what Options say; nil for nothing more.
	Terms *Terms
	// Grant is by whose leave an action went on that a hook had asked for, as JSON; nil
	// if there is none. Revision is what the policy's own makers call it, "" for nothing.
	Grant    []byte
	Revision string
}

// Terms are what `log:` of a policy says of its decisions.
type Terms struct {
	// Durable has Add return when the entry is on the disk.
	Durable bool
	// Wait has Add wait for room, in the place of losing the decision.
	Wait bool
	// Mask are JSON pointers of what is masked; * is any member. Whole masks all that a
	// call and its hooks said, and Why says why.
	Mask  []string
	Whole bool
	Why   string
	// Rules are asked what else is masked, and whether the entry is dropped; nil if there is none.
	Rules Rules
	// Checkpoints are files to which signed checkpoints are appended too.
	Checkpoints []string
	// KeepSize and KeepAge bound what is kept where they are greater than the Options'.
	KeepSize int64
	KeepAge  time.Duration
}

// Rules say what is masked of an entry. An error has the entry masked as a whole; its
// text is in the entry, so it must hold nothing of the event.
type Rules interface {
	Edits(d *Decided, entry func() (map[string]any, error)) (drop bool, edits []Edit, err error)
}

// Edit is what happens to the value at a JSON pointer, in which * is any member: Op is
// "mask", where a keyed hash takes its place; "remove"; or "upsert", where Value does.
type Edit struct {
	Op, Path string
	Value    any
}

// Entry is one line of the log, as it is read back. The names of OPA's decision
// log (EventV1) are used where they mean the same.
type Entry struct {
	// Type is "decision", or what the log says of itself: "segment", "lost",
	// "repaired", "key", "checkpoint".
	Type      string            `json:"type"`
	ID        string            `json:"decision_id,omitempty"`
	Timestamp time.Time         `json:"timestamp"`
	Labels    map[string]string `json:"labels,omitempty"`
	Session   string            `json:"session_id,omitempty"`
	// Path is the lifecycle event.
	Path   string         `json:"path,omitempty"`
	Input  map[string]any `json:"input,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	// Error is why hookc could not decide: the action was not let through.
	Error string `json:"error,omitempty"`
	// Answers are what scripts and models answered, by hook.
	Answers map[string]any `json:"answers,omitempty"`
	// Grant is by whose leave an action went on that a hook had asked for: its approval,
	// who granted it, when and why.
	Grant map[string]any `json:"grant,omitempty"`
	// Revision is what the policy's makers call it; the hash of the plan is in Result.
	Revision string `json:"revision,omitempty"`
	// Masked are the JSON pointers of values that were masked, Erased of those that
	// were taken away.
	Masked []string `json:"masked,omitempty"`
	Erased []string `json:"erased,omitempty"`
	// MaskError is why the entry is masked as a whole: a rule that masks failed.
	MaskError string `json:"mask_error,omitempty"`
	// Micros is how long the decision took.
	Micros int64 `json:"us,omitempty"`

	// Writer, Segment and Seq are where the entry is; Seq begins at 1 and has no gap.
	Writer  int    `json:"writer"`
	Segment int    `json:"segment,omitempty"`
	Seq     uint64 `json:"seq"`
	// Previous is the chain at the end of the segment before, in a "segment".
	Previous string `json:"previous,omitempty"`
	// Count is how many decisions were lost, or how many bytes a repair took away.
	Count int64 `json:"count,omitempty"`
	// Note is the signed note of a "checkpoint".
	Note  string `json:"note,omitempty"`
	Chain string `json:"chain"`
}

// id is what a decision is called: its time and place in the log, so that ids of
// one writer ascend and no two are alike.
func id(at time.Time, writer int, seq uint64) string {
	var b [12]byte
	binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMicro())<<8|uint64(writer&0xff))
	binary.BigEndian.PutUint32(b[8:], uint32(seq))
	return hex.EncodeToString(b[:])
}

// errDropped is that a rule wants no entry of a decision.
var errDropped = errors.New("dropped")

// appendDecided appends the members of a decision's entry, without a brace at
// either end.
func (w *Writer) appendDecided(b []byte, d *Decided, seq uint64) ([]byte, error) {
	m, err := w.masking(d)
	if err != nil {
		return b, err
	}
	b = append(b, `"type":"decision","decision_id":"`...)
	b = append(b, id(d.At, w.slot, seq)...)
	b = appendTime(append(b, `","timestamp":"`...), d.At)
	b = append(b, `","labels":{`...)
	if d.Agent != "" {
		b = append(appendString(append(b, `"agent":`...), d.Agent), ',')
	}
	b = append(appendString(append(b, `"hookc":`...), w.options.Version), '}')
	if s := d.In.Text(policy.FieldSessionID); s != "" {
		m.enter("input")
		b, err = m.member(append(b, `,"session_id":`...), "session_id", s)
		if m.leave(); err != nil {
			return b, err
		}
	}
	b = appendString(append(b, `,"path":`...), string(d.Event))
	if b, err = m.member(append(b, `,"input":`...), "input", inputOf(d)); err != nil {
		return b, err
	}
	if d.Err != "" {
		m.enter("error")
		b = m.text(append(b, `,"error":`...), d.Err)
		m.leave()
	} else if b, err = m.decision(append(b, `,"result":`...), d.Decision); err != nil {
		return b, err
	}
	for _, more := range []struct {
		name string
		text []byte
	}{{"answers", d.Answers}, {"grant", d.Grant}} {
		if len(more.text) == 0 {
			continue
		}
		if b, err = m.json(append(append(append(b, `,"`...), more.name...), `":`...), more.name, more.text); err != nil {
			return b, err
		}
	}
	if d.Revision != "" {
		b = appendString(append(b, `,"revision":`...), d.Revision)
	}
	b = appendStrings(b, `,"masked":`, m.masked)
	b = appendStrings(b, `,"erased":`, m.erased)
	if m.why != "" {
		b = appendString(append(b, `,"mask_error":`...), m.why)
	}
	if us := d.Took.Microseconds(); us > 0 {
		b = strconv.AppendInt(append(b, `,"us":`...), us, 10)
	}
	return b, nil
}

// masking is what is masked of a decision's entry. It holds until the next.
func (w *Writer) masking(d *Decided) (*masker, error) {
	m, t := &w.masker, d.Terms
	*m = masker{key: w.key, masked: m.masked[:0], erased: m.erased[:0], edits: m.edits[:0], path: m.path[:0], keys: m.keys[:0]}
	for _, p := range w.options.Mask {
		m.hide(Edit{Op: "mask", Path: p})
	}
	if t == nil {
		return m, nil
	}
	for _, p := range t.Mask {
		m.hide(Edit{Op: "mask", Path: p})
	}
	m.whole, m.why = t.Whole, t.Why
	if t.Rules == nil {
		return m, nil
	}
	drop, edits, err := t.Rules.Edits(d, func() (map[string]any, error) { return asked(d) })
	if err != nil {
		m.whole, m.why = true, err.Error()
		return m, nil
	}
	if drop {
		return nil, errDropped
	}
	for _, e := range edits {
		m.hide(e)
	}
	return m, nil
}

// inputOf is the event as it is logged, and as it is read again: without what is known by
// the rest of it.
func inputOf(d *Decided) map[string]any {
	input := d.In.Map()
	delete(input, policy.FieldToolArguments.String())
	delete(input, policy.FieldToolKind.String())
	return input
}

// asked is the entry that rules are asked about: nothing is masked yet.
func asked(d *Decided) (map[string]any, error) {
	out := map[string]any{"path": string(d.Event), "input": inputOf(d), "session_id": d.In.Text(policy.FieldSessionID),
		"labels": map[string]any{"agent": d.Agent}, "timestamp": string(appendTime(nil, d.At))}
	if d.Err != "" {
		out["error"] = d.Err
		return out, nil
	}
	for name, text := range map[string][]byte{"answers": d.Answers, "grant": d.Grant} {
		if len(text) > 0 {
			v, err := policy.DecodeJSON(text)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
	}
	text, err := d.Decision.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out["result"], err = policy.DecodeJSON(text)
	return out, err
}

func appendTime(b []byte, at time.Time) []byte {
	return at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
}
