package builtins

import (
	"regexp"
	"strings"
	"sync"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "text.redact", World: policy.WorldNone,
	Params: []Param{{Name: "value", Type: policy.AnyType}, {Name: "pattern", Type: str}, {Name: "replacement", Type: str}}, Result: policy.AnyType,
	Call: func(args []any) (any, error) { return redact(args[0], text(args[1]), text(args[2])) },
	Doc:  "value with every match of an RE2 pattern replaced, as it stands, in its text, or in each text inside it",
	Examples: []Example{
		{Call: `text.redact("key sk-abc123 end", "sk-[a-z0-9]+", "***")`, Want: "key *** end"},
		{Call: `text.redact(["a1", 2], "[0-9]", "#")`, Want: []any{"a#", 2}},
	},
})

// maxRedacted bounds the text one call may produce, in bytes.
const maxRedacted = 64 << 20

func redact(value any, pattern, replacement string) (any, error) {
	re, err := Regexp(pattern)
	if err != nil {
		return nil, err
	}
	r := redactor{re: re, with: replacement, room: maxRedacted}
	out := r.value(value)
	if r.room < 0 {
		return nil, fault.Errorf("text.redact: the result is longer than %d bytes", maxRedacted)
	}
	return out, nil
}

type redactor struct {
	re   *regexp.Regexp
	with string
	// room is how many more bytes may be produced; negative is too many.
	room int
}

func (r *redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.value(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = r.value(e)
		}
		return out
	}
	return v
}

func (r *redactor) text(s string) string {
	if !r.re.MatchString(s) {
		return s
	}
	var b strings.Builder
	from := 0
	for _, m := range r.re.FindAllStringIndex(s, -1) {
		if r.room -= m[0] - from + len(r.with); r.room < 0 {
			return ""
		}
		b.WriteString(s[from:m[0]])
		b.WriteString(r.with)
		from = m[1]
	}
	b.WriteString(s[from:])
	return b.String()
}

// maxPattern bounds the length of a pattern computed at run time, in bytes.
const maxPattern = 4096

// maxPatterns bounds how many compiled patterns are kept.
const maxPatterns = 256

var patterns = struct {
	sync.RWMutex
	m map[string]*regexp.Regexp
}{m: map[string]*regexp.Regexp{}}

// Regexp compiles an RE2 pattern, keeping the most recent few hundred so that
// a pattern used on every event is compiled once. When the store is full it is
// emptied: patterns may come from an agent and must not pile up. It is safe
// for concurrent use.
func Regexp(pattern string) (*regexp.Regexp, error) {
	patterns.RLock()
	re := patterns.m[pattern]
	patterns.RUnlock()
	if re != nil {
		return re, nil
	}
	if len(pattern) > maxPattern {
		return nil, fault.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	patterns.Lock()
	defer patterns.Unlock()
	if len(patterns.m) >= maxPatterns {
		clear(patterns.m)
	}
	patterns.m[pattern] = re
	return re, nil
}
