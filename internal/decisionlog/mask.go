package decisionlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/builtins/secret"
	"github.com/hookc/hookc/policy"
)

// masker writes values as JSON and puts a keyed hash in the place of every
// secret, so that equal secrets stay equal and none can be read.
type masker struct {
	key    []byte
	masked []string
	// hidden are JSON pointers of what is masked whatever it is; * is any member.
	hidden []string
}

// hides reports whether what stands at a JSON pointer is masked whatever it is.
func (m *masker) hides(at string) bool {
	for _, p := range m.hidden {
		want, is := strings.Split(p, "/"), strings.Split(at, "/")
		if len(want) == len(is) && !slices.ContainsFunc(want, func(w string) bool {
			part := is[0]
			is = is[1:]
			return w != "*" && w != part
		}) {
			return true
		}
	}
	return false
}

// decision writes a decision. One that says nothing has nothing to mask.
func (m *masker) decision(b []byte, d *policy.Decision) ([]byte, error) {
	data, err := d.MarshalJSON()
	if err != nil {
		return b, err
	}
	if !says(d) && len(m.hidden) == 0 {
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
	if m.hides(at) {
		data, err := policy.EncodeJSON(v)
		m.masked = append(m.masked, at)
		return appendString(b, "[masked:"+m.hash(string(data))+"]"), err
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
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(m.text(b, at+"/*", k), ':')
			if b, err = m.value(b, at+"/"+pointer.Replace(k), v[k]); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	case json.Number, float64:
		data, err := policy.EncodeJSON(v)
		return append(b, data...), err
	}
	return b, fmt.Errorf("%s: %T is no JSON value", at, v)
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointers are the places of what was masked, as a JSON value.
func (m *masker) pointers() []any {
	list := m.masked
	m.masked = nil
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = p
	}
	return out
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

// hash is what stands for a secret: 64 bits of HMAC-SHA256.
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
