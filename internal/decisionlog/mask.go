package decisionlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/builtins/secret"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// masker writes values as JSON and puts a keyed hash in the place of every
// secret, so that equal secrets stay equal and none can be read.
type masker struct {
	key            []byte
	masked, erased []string
	// edits are what happens at JSON pointers, whatever stands there.
	edits []edit
	// whole masks all that a call and its hooks said; why says why.
	whole bool
	why   string
}

// edit is an Edit with the parts of its pointer.
type edit struct {
	Edit
	parts []string
}

//go:noinline
func (m *masker) hide(e Edit) { m.edits = append(m.edits, edit{e, strings.Split(e.Path, "/")}) }

// plain are the members of entries that say which call it was and what became of it: they
// are kept where all else is masked.
var plain = map[string][]string{
	"/input":   {"event", "tool_name", "session_id"},
	"/result":  {"action", "at", "by", "control", "event", "hooks", "policy", "scope", "suppress_output", "verdict"},
	"/answers": nil, "/grant": nil,
}

// at is what happens at a JSON pointer, nil for nothing.
func (m *masker) at(at string) *Edit {
	if len(m.edits) == 0 && !m.whole {
		return nil
	}
	is := strings.Split(at, "/")
	for i := range m.edits {
		if e := &m.edits[i]; slices.EqualFunc(e.parts, is, func(want, is string) bool { return want == "*" || want == is }) {
			return &e.Edit
		}
	}
	if m.whole && len(is) == 3 {
		if keep, known := plain["/"+is[1]]; known && !spell.Has(keep, is[2]) {
			return &Edit{Op: "mask"}
		}
	}
	return nil
}

// decision writes a decision. One that says nothing has nothing to mask.
func (m *masker) decision(b []byte, d *policy.Decision) ([]byte, error) {
	data, err := d.MarshalJSON()
	if err != nil {
		return b, err
	}
	if !says(d) && len(m.edits) == 0 && !m.whole {
		return append(b, data...), nil
	}
	v, err := policy.DecodeJSON(data)
	if err != nil {
		return b, err
	}
	return m.value(b, "/result", v)
}

// says reports whether a decision has texts or values that a hook made.
func says(d *policy.Decision) bool {
	return len(d.Reasons)+len(d.Feedback)+len(d.Context)+len(d.SystemMessages)+len(d.Inject)+len(d.Patch)+len(d.Failed)+len(d.Warnings)+len(d.StopReason)+len(d.Degraded) > 0 ||
		len(d.Would()) > 0
}

// value writes a JSON value that stands at a JSON pointer; keys ascend.
func (m *masker) value(b []byte, at string, v any) ([]byte, error) {
	if e := m.at(at); e != nil {
		return m.edit(b, at, v, e)
	}
	var err error
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return m.text(b, at, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = m.value(b, at+"/"+strconv.Itoa(i), e); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = append(b, '{')
		first := true
		for _, k := range keys {
			to := at + "/" + pointer.Replace(k)
			if e := m.at(to); e != nil && e.Op == "remove" {
				m.erased = append(m.erased, to)
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(m.text(b, at+"/*", k), ':')
			if b, err = m.value(b, to, v[k]); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	case json.Number, float64:
		data, err := policy.EncodeJSON(v)
		return append(b, data...), err
	}
	return b, fault.Errorf("%s: %T is no JSON value", at, v)
}

// json writes a JSON text as value does.
func (m *masker) json(b []byte, at string, text []byte) ([]byte, error) {
	v, err := policy.DecodeJSON(text)
	if err != nil {
		return b, err
	}
	return m.value(b, at, v)
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// edit writes what takes the place of a value. An element of a list that is removed
// leaves null, so that the others keep their places.
func (m *masker) edit(b []byte, at string, v any, e *Edit) ([]byte, error) {
	if e.Op == "remove" {
		m.erased = append(m.erased, at)
		return append(b, "null"...), nil
	}
	m.masked = append(m.masked, at)
	if e.Op == "upsert" {
		v = e.Value
	}
	data, err := policy.EncodeJSON(v)
	if e.Op == "upsert" {
		return append(b, data...), err
	}
	// An object stays one and a list stays one, so that the entry is still an event.
	text := "[masked:" + m.hash(string(data)) + "]"
	switch v.(type) {
	case map[string]any:
		return append(appendString(append(b, `{"masked":`...), text), '}'), err
	case []any:
		return append(appendString(append(b, '['), text), ']'), err
	}
	return appendString(b, text), err
}

// appendStrings appends a member whose value is a list of texts, where there are any.
func appendStrings(b []byte, member string, list []string) []byte {
	for i, s := range list {
		if i == 0 {
			b = append(append(b, member...), '[')
		} else {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

// text writes a string without its secrets. One that cannot be searched within
// bounds is masked as a whole.
func (m *masker) text(b []byte, at, s string) []byte {
	found, err := secret.Find(s)
	if err != nil {
		found = []secret.Secret{{Rule: "unsearched", To: len(s)}}
	}
	if len(found) == 0 {
		return appendString(b, s)
	}
	m.masked = append(m.masked, at)
	var out strings.Builder
	from := 0
	for _, f := range found {
		out.WriteString(s[from:f.From])
		out.WriteString("[" + f.Rule + ":" + m.hash(s[f.From:f.To]) + "]")
		from = f.To
	}
	out.WriteString(s[from:])
	return appendString(b, out.String())
}

// hash is what means a secret: 64 bits of HMAC-SHA256.
func (m *masker) hash(s string) string {
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// appendString writes a JSON string: RFC 8259, without escapes for HTML. What is
// not UTF-8 becomes U+FFFD, as encoding/json has it.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
