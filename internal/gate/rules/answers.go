package rules

import (
	"unicode/utf8"

	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
)

// How a text stands in a stream: as it is, or within a JSON string.
const (
	Raw = iota
	JSON
	// HTMLJSON is JSON in which <, > and & are escaped too.
	HTMLJSON
	numModes
)

// MaxText is the length in bytes up to which answers are made for a text, of all
// its parts together.
const MaxText = 4000

// Form is an answer with a gap for a text.
type Form struct {
	Exit int
	// Join stands between texts when there are several.
	Join string
	// Except are permission modes in which the answer is another one.
	Except         []string
	Stdout, Stderr Stream
}

// Stream is literals with the text between each two of them.
type Stream struct {
	Mode     int
	Literals []string
}

// Point are the forms of one event of an agent, by outcome; nil where there is
// none.
type Point [NumOutcomes]*Form

// AnswersBytes is the section with the answers of an event, by the numbers of
// points.
func AnswersBytes(points []Point) []byte {
	b := binary.Writer{B: []byte{version}}
	b.Uint(uint64(len(points)))
	for i := range points {
		b.Text(string(points[i].bytes()))
	}
	return b.B
}

func (p *Point) bytes() []byte {
	var b binary.Writer
	for _, f := range p {
		b.Bool(f != nil)
		if f == nil {
			continue
		}
		b.Uint(uint64(f.Exit))
		b.Text(f.Join)
		putTexts(&b, f.Except)
		for _, s := range []*Stream{&f.Stdout, &f.Stderr} {
			b.Uint(uint64(s.Mode))
			putTexts(&b, s.Literals)
		}
	}
	return b.B
}

// FormOf finds a form in a section; nil when there is none.
func FormOf(section []byte, point, outcome int) *Form {
	r := binary.NewReader(section)
	if v := r.Take(1); v == nil || v[0] != version || outcome < 0 {
		return nil
	}
	var own []byte
	for i := range r.Count(maxCount) {
		if b := r.Bytes(); i == point {
			own = b
		}
	}
	if r.Bad() || !r.Done() {
		return nil
	}
	r = binary.NewReader(own)
	var f *Form
	for range outcome + 1 {
		if f = nil; !r.Bool() {
			continue
		}
		f = &Form{Exit: number(r), Join: r.Text(), Except: texts(r)}
		f.Stdout = Stream{Mode: number(r), Literals: texts(r)}
		f.Stderr = Stream{Mode: number(r), Literals: texts(r)}
	}
	if r.Bad() || f == nil || f.Exit > 255 || f.Stdout.Mode >= numModes || f.Stderr.Mode >= numModes {
		return nil
	}
	return f
}

// Answer fills a form in for what was said at an event; false when that is left
// to hookc.
func (f *Form) Answer(event *table.Answer, v *Verdict) (stdout, stderr []byte, ok bool) {
	if len(f.Except) > 0 {
		mode, present, ok := event.Lookup(table.FieldPermissionMode, nil)
		if !ok {
			return nil, nil, false
		}
		for _, c := range mode {
			if c == '\\' || c >= 0x80 {
				return nil, nil, false
			}
		}
		if present && lists.Has(f.Except, string(mode[1:len(mode)-1])) {
			return nil, nil, false
		}
	}
	if v.Outcome >= BareDeny {
		return f.Fill([]string{v.Hook})
	}
	return f.Fill(v.Texts)
}

// Fill fills a form in with texts.
func (f *Form) Fill(texts []string) (stdout, stderr []byte, ok bool) {
	text := ""
	for i, t := range texts {
		if i > 0 {
			text += f.Join
		}
		text += t
	}
	if len(text) == 0 || len(text) > MaxText || !utf8.ValidString(text) {
		return nil, nil, false
	}
	return f.Stdout.fill(text), f.Stderr.fill(text), true
}

func (s *Stream) fill(text string) []byte {
	var out []byte
	for i, literal := range s.Literals {
		if i > 0 {
			out = s.put(out, text)
		}
		out = append(out, literal...)
	}
	return out
}

const hexDigits = "0123456789abcdef"

// put appends a text as it stands in the stream: within JSON as encoding/json
// writes it.
func (s *Stream) put(out []byte, text string) []byte {
	if s.Mode == Raw {
		return append(out, text...)
	}
	for i, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r == '\b':
			out = append(out, '\\', 'b')
		case r == '\f':
			out = append(out, '\\', 'f')
		case r < ' ', s.Mode == HTMLJSON && (r == '<' || r == '>' || r == '&'):
			out = append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		case r == '\u2028', r == '\u2029':
			out = append(out, '\\', 'u', '2', '0', '2', hexDigits[r&15])
		default:
			out = append(out, text[i:i+utf8.RuneLen(r)]...)
		}
	}
	return out
}
