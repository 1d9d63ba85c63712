// Package secret finds keys, tokens and private keys in texts, by the rules of gitleaks.
package secret

import (
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
)

// Secret is a secret in a text: the rule that found it and where it is, in
// bytes. Preview is enough to recognise it and not enough to use it.
type Secret struct {
	Rule     string
	From, To int
	Preview  string
}

// What one call looks at, in bytes: a longer text, or one that costs more
// because it is made of nothing but keywords, is an error and not "no secret".
const (
	maxSecretText = 4 << 20
	maxSecretWork = 4 << 20
)

// errSecretText is what FindSecrets returns for a text it does not search.
var errSecretText = fault.Errorf("the text cannot be searched for secrets within bounds (%d bytes)", maxSecretText)

// FindSecrets returns the secrets of a text in their order, none of which
// overlap. It fails for a text that cannot be searched within bounds.
func Find(text string) ([]Secret, error) {
	if len(text) > maxSecretText {
		return nil, errSecretText
	}
	set := secretRules()
	windows := set.windows(text)
	if len(windows) == 0 {
		return nil, nil
	}
	var out []Secret
	room := maxSecretWork
	for i, rule := range set.rules {
		for _, w := range windows[i] {
			if room -= w.to - w.from; room < 0 {
				return nil, errSecretText
			}
			out = append(out, set.matches(rule, text, w)...)
		}
	}
	return distinct(out), nil
}

// matches are the secrets of one rule in a window.
func (s *secretSet) matches(r *secretRule, text string, w span) []Secret {
	r.compile()
	var out []Secret
	part := text[w.from:w.to]
	for _, groups := range r.re.FindAllStringSubmatchIndex(part, -1) {
		at, ok := s.secret(r, part, groups)
		if !ok {
			continue
		}
		out = append(out, Secret{Rule: r.ID, From: w.from + at.from, To: w.from + at.to, Preview: preview(part[at.from:at.to])})
	}
	return out
}

// preview is the beginning of a secret: what its provider writes before the
// part that nobody may know.
func preview(s string) string {
	n := min(4, len(s)/4)
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// distinct sorts secrets by place and leaves one of those that overlap: the
// first, and the longer of two that begin together.
func distinct(list []Secret) []Secret {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.From < b.From || a.From == b.From && a.To > b.To
	})
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && s.From < out[n-1].To {
			continue
		}
		out = append(out, s)
	}
	return out
}

// Redact returns value with its secrets replaced, in keys of objects too, and how many
// there were. The value itself is not changed.
func Redact(value any) (any, int, error) {
	switch v := value.(type) {
	case string:
		return redactText(v)
	case []any:
		out, n := make([]any, len(v)), 0
		for i, e := range v {
			r, more, err := Redact(e)
			if err != nil {
				return nil, 0, err
			}
			out[i], n = r, n+more
		}
		return out, n, nil
	case map[string]any:
		out, n := make(map[string]any, len(v)), 0
		for _, k := range lists.Keys(v) {
			r, more, err := Redact(v[k])
			if err != nil {
				return nil, 0, err
			}
			key, own, err := redactText(k)
			if err != nil {
				return nil, 0, err
			}
			for own > 0 && (has(out, key) || has(v, key)) {
				key += "'"
			}
			out[key], n = r, n+more+own
		}
		return out, n, nil
	}
	return value, 0, nil
}

func has(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

func redactText(s string) (string, int, error) {
	found, err := Find(s)
	if err != nil || len(found) == 0 {
		return s, 0, err
	}
	var b strings.Builder
	from := 0
	for _, f := range found {
		b.WriteString(s[from:f.From] + "[" + f.Rule + "]")
		from = f.To
	}
	b.WriteString(s[from:])
	return b.String(), len(found), nil
}
