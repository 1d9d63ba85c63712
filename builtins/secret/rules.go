package secret

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/hookc/hookc/internal/lazy"
)

// The rules of secret.find are those of gitleaks that need nothing but the
// text, as data: 50 kB that are read on the first call, against 4.5 MB and half
// a millisecond at every start for its package (docs/guards.md has the
// figures). rules.json.gz is rules.json, which people read, without 41 kB of the
// program. `go run ./tests/gen/secrets` writes both again.
//
//go:embed rules.json.gz
var secretRulesZipped []byte

// rulesJSON is rules.json.
func rulesJSON() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(secretRulesZipped))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	return data, errors.Join(err, z.Close())
}

// secretRule is one kind of secret.
type secretRule struct {
	ID       string
	Regex    string
	Entropy  float64
	Group    int
	Keywords []string
	Allow    []string

	once  sync.Once
	re    *regexp.Regexp
	allow []*regexp.Regexp
}

// secretSet is the rules, and the keywords by their first two bytes: a text
// that holds none of a rule's keywords cannot match it, and expressions are
// compiled when one is first met.
type secretSet struct {
	rules []*secretRule
	allow []*regexp.Regexp
	// bucket is the number of the list of words that begin with two bytes, in
	// either case; 0 is the empty list.
	bucket [1 << 16]uint8
	words  [][]secretWord
	// begins has a bit for each three bytes, of five bits each, that a word begins with:
	// letters of either case are alike in those, and most places of a text end there.
	begins [1 << 15 / 64]uint64
}

type secretWord struct {
	text string
	rule int
}

var secretRules = lazy.Value(func() *secretSet {
	var file struct {
		Allow []string
		Rules []*secretRule
	}
	data, err := rulesJSON()
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		panic("builtins: rules.json: " + err.Error())
	}
	s := &secretSet{rules: file.Rules, words: [][]secretWord{nil}}
	for _, expr := range file.Allow {
		s.allow = append(s.allow, regexp.MustCompile(expr))
	}
	for i, r := range s.rules {
		for _, k := range r.Keywords {
			s.addWord(secretWord{strings.ToLower(k), i})
		}
	}
	return s
})

func (s *secretSet) addWord(w secretWord) {
	a, z := w.text[0], w.text[1]
	n := s.bucket[pair(a, z)]
	if n == 0 {
		n = uint8(len(s.words))
		s.words = append(s.words, nil)
		for _, at := range []uint16{pair(a, z), pair(upper(a), z), pair(a, upper(z)), pair(upper(a), upper(z))} {
			s.bucket[at] = n
		}
	}
	s.words[n] = append(s.words[n], w)
	begin := uint(a&31)<<10 | uint(z&31)<<5
	for c := range uint(32) {
		if len(w.text) < 3 || uint(w.text[2]&31) == c {
			s.begins[(begin|c)>>6] |= 1 << (c & 63) << (begin & 32)
		}
	}
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

//go:noinline
func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

func (r *secretRule) compile() {
	r.once.Do(func() {
		r.re = regexp.MustCompile(r.Regex)
		for _, expr := range r.Allow {
			r.allow = append(r.allow, regexp.MustCompile(expr))
		}
	})
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// What of a text is looked at around a keyword: names come before it, and a
// private key after it may be long.
const (
	secretBefore = 256
	secretAfter  = 6 << 10
)

// windows are the parts of the text that each rule must be tried on, merged
// and in order; a rule without a keyword in the text has none.
func (s *secretSet) windows(text string) map[int][]span {
	var out map[int][]span
	if len(text) < 2 {
		return nil
	}
	begin := uint(text[0]&31)<<5 | uint(text[1]&31)
	for i := 0; i+1 < len(text); i++ {
		begin = begin << 5 & (1<<15 - 1)
		if i+2 < len(text) {
			begin |= uint(text[i+2] & 31)
		}
		if s.begins[begin>>6]>>(begin&63)&1 == 0 {
			continue
		}
		n := s.bucket[pair(text[i], text[i+1])]
		if n == 0 {
			continue
		}
		for _, w := range s.words[n] {
			if len(text)-i < len(w.text) || !strings.EqualFold(text[i:i+len(w.text)], w.text) {
				continue
			}
			if out == nil {
				out = map[int][]span{}
			}
			out[w.rule] = widened(out[w.rule], text, i)
		}
	}
	return out
}

// widened adds the surroundings of a keyword to a rule's windows.
func widened(list []span, text string, at int) []span {
	from, to := max(0, at-secretBefore), min(len(text), at+secretAfter)
	if last := len(list) - 1; last >= 0 && list[last].to >= from {
		list[last].to = to
		return list
	}
	if i := strings.LastIndexAny(text[from:at], " \t\r\n"); from > 0 && i >= 0 {
		from += i // not in the middle of a word
	}
	return append(list, span{from, to})
}

// secret is the part of a match that is the secret itself, with false for what
// only looks like one: too regular, or a placeholder.
func (s *secretSet) secret(r *secretRule, text string, groups []int) (span, bool) {
	at := span{groups[0], groups[1]}
	switch {
	case r.Group > 0 && len(groups) > 2*r.Group+1 && groups[2*r.Group] >= 0:
		at = span{groups[2*r.Group], groups[2*r.Group+1]}
	case r.Group == 0:
		for i := 2; i+1 < len(groups); i += 2 {
			if groups[i] >= 0 && groups[i+1] > groups[i] {
				at = span{groups[i], groups[i+1]}
				break
			}
		}
	}
	found := text[at.from:at.to]
	if r.Entropy > 0 && entropy(found) <= r.Entropy {
		return at, false
	}
	for _, list := range [][]*regexp.Regexp{s.allow, r.allow} {
		for _, re := range list {
			if re.MatchString(found) {
				return at, false
			}
		}
	}
	return at, true
}

// entropy is Shannon's, in bits a byte.
func entropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
