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
	"github.com/hookc/hookc/internal/lists"
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
	// path is where the value stands that is written, keys those of the objects around it.
	path, keys []string
}

// edit is an Edit with the keys and indexes that its pointer names.
type edit struct {
	Edit
	path []string
}

//go:noinline
func (m *masker) hide(e Edit) {
	path := strings.Split(e.Path, "/")[1:]
	for i := range path {
		path[i] = unpointer.Replace(path[i])
	}
	m.edits = append(m.edits, edit{e, path})
}

var pointer, unpointer = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// here is the JSON pointer of the value that is written.
func (m *masker) here() string {
	var b strings.Builder
	for _, key := range m.path {
		b.WriteString("/" + pointer.Replace(key))
	}
	return b.String()
}

func (m *masker) enter(key string) { m.path = append(m.path, key) }
func (m *masker) leave()           { m.path = m.path[:len(m.path)-1] }

// plain are the members of entries that say which call it was and what became of it: they
// are kept where all else is masked.
var plain = map[string][]string{
	"input":   {"event", "tool_name", "session_id"},
	"result":  {"action", "at", "by", "control", "event", "hooks", "policy", "scope", "suppress_output", "verdict"},
	"answers": nil, "grant": nil,
}

// edit is what happens to the value that is written, nil for nothing.
func (m *masker) edit() *Edit {
	for i := range m.edits {
		if e := &m.edits[i]; slices.EqualFunc(e.path, m.path, func(want, is string) bool { return want == "*" || want == is }) {
			return &e.Edit
		}
	}
	if m.whole && len(m.path) == 2 {
		if keep, known := plain[m.path[0]]; known && !lists.Has(keep, m.path[1]) {
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
	return m.member(b, "result", v)
}

// says reports whether a decision has texts or values that a hook made.
func says(d *policy.Decision) bool {
	return len(d.Reasons)+len(d.Feedback)+len(d.Context)+len(d.SystemMessages)+len(d.Inject)+len(d.Patch)+len(d.Failed)+len(d.Warnings)+len(d.StopReason)+len(d.Degraded) > 0 ||
		len(d.Would()) > 0
}

// member writes the value of a member of the object that is written.
func (m *masker) member(b []byte, key string, v any) ([]byte, error) {
	m.enter(key)
	defer m.leave()
	return m.value(b, v)
}

// value writes a JSON value; keys ascend.
func (m *masker) value(b []byte, v any) ([]byte, error) {
	if e := m.edit(); e != nil {
		return m.edited(b, v, e)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return m.text(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case []any:
		return m.list(b, v)
	case map[string]any:
		from := len(m.keys)
		for k := range v {
			m.keys = append(m.keys, k)
		}
		keys := m.keys[from:]
		lists.Sort(keys)
		b, err := m.object(b, keys, func(i int) any { return v[keys[i]] })
		m.keys = m.keys[:from]
		return b, err
	case json.Number, float64:
		data, err := policy.EncodeJSON(v)
		return append(b, data...), err
	}
	return b, fault.Errorf("%s: %T is no JSON value", m.here(), v)
}

func (m *masker) list(b []byte, list []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = m.member(b, strconv.Itoa(i), e); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// object writes an object whose keys ascend.
func (m *masker) object(b []byte, keys []string, value func(i int) any) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for i, k := range keys {
		m.enter(k)
		if e := m.edit(); e != nil && e.Op == "remove" {
			m.erased = append(m.erased, m.here())
			m.leave()
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		m.path[len(m.path)-1] = "*" // a secret in a key is told of without the key
		b = append(m.text(b, k), ':')
		m.path[len(m.path)-1] = k
		b, err = m.value(b, value(i))
		if m.leave(); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// json writes a JSON text as the value of a member.
func (m *masker) json(b []byte, key string, text []byte) ([]byte, error) {
	v, err := policy.DecodeJSON(text)
	if err != nil {
		return b, err
	}
	return m.member(b, key, v)
}

// edited writes what takes the place of a value. An element of a list that is removed
// leaves null, so that the others keep their places.
func (m *masker) edited(b []byte, v any, e *Edit) ([]byte, error) {
	if e.Op == "remove" {
		m.erased = append(m.erased, m.here())
		return append(b, "null"...), nil
	}
	m.masked = append(m.masked, m.here())
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
func (m *masker) text(b []byte, s string) []byte {
	found, err := secret.Find(s)
	if err != nil {
		found = []secret.Secret{{Rule: "unsearched", To: len(s)}}
	}
	if len(found) == 0 {
		return appendString(b, s)
	}
	m.masked = append(m.masked, m.here())
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

// asIs are the bytes that JSON strings hold as they are, but for those of UTF-8.
var asIs = func() (out [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		out[c] = c != '"' && c != '\\'
	}
	return out
}()

// appendString writes a JSON string: RFC 8259, without escapes for HTML. What is
// not UTF-8 becomes U+FFFD, as encoding/json has it.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if asIs[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
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
