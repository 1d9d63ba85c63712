// Package decisionlog is the record of what was decided on what: entries as JSON
// lines in the files of a folder, chained by hashes, signed from time to time,
// and read back. It knows nothing of how a decision is made.
package decisionlog

import (
	_ "embed"
	"encoding/binary"
	"encoding/hex"
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
	// In is the event as it was decided, Decision what was decided. Neither is
	// changed afterwards by whoever hands them over.
	Event    policy.Event
	In       *policy.Context
	Decision *policy.Decision
	// Err is why hookc could not decide, with Decision nil, or "".
	Err string
	// Answers are what processes and models answered, as JSON, so that a replay
	// starts none; nil for none.
	Answers []byte
}

// Entry is one line of the log, as it is read back. The names of OPA's decision
// log (EventV1) are used where they mean the same.
type Entry struct {
	// Type is "decision", or what the log says of itself: "segment", "lost",
	// "repaired", "checkpoint".
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
	// Masked are the JSON pointers of values that were masked.
	Masked []string `json:"masked,omitempty"`
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

// appendDecided appends the members of a decision's entry, without a brace at
// either end.
func (w *Writer) appendDecided(b []byte, d *Decided, seq uint64) ([]byte, error) {
	m := masker{key: w.key, hidden: w.options.Mask}
	b = append(b, `"type":"decision","decision_id":"`...)
	b = append(b, id(d.At, w.slot, seq)...)
	b = appendTime(append(b, `","timestamp":"`...), d.At)
	b = append(b, `","labels":{`...)
	if d.Agent != "" {
		b = append(appendString(append(b, `"agent":`...), d.Agent), ',')
	}
	b = append(appendString(append(b, `"hookc":`...), w.options.Version), '}')
	if s := d.In.Text(policy.FieldSessionID); s != "" {
		b = appendString(append(b, `,"session_id":`...), s)
	}
	b = appendString(append(b, `,"path":`...), string(d.Event))
	input := d.In.Map()
	delete(input, policy.FieldToolArguments.String()) // tool_input again
	b, err := m.value(append(b, `,"input":`...), "/input", input)
	if err != nil {
		return b, err
	}
	if d.Err != "" {
		b = m.text(append(b, `,"error":`...), "/error", d.Err)
	} else if b, err = m.decision(append(b, `,"result":`...), d.Decision); err != nil {
		return b, err
	}
	if len(d.Answers) > 0 {
		answers, err := policy.DecodeJSON(d.Answers)
		if err != nil {
			return b, err
		}
		if b, err = m.value(append(b, `,"answers":`...), "/answers", answers); err != nil {
			return b, err
		}
	}
	if len(m.masked) > 0 {
		if b, err = m.value(append(b, `,"masked":`...), "", m.pointers()); err != nil {
			return b, err
		}
	}
	if us := d.Took.Microseconds(); us > 0 {
		b = strconv.AppendInt(append(b, `,"us":`...), us, 10)
	}
	return b, nil
}

func appendTime(b []byte, at time.Time) []byte {
	return at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
}
