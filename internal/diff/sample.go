package diff

import (
	"encoding/json"
	"math/rand/v2"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
)

// maxText bounds the texts that are made, in bytes.
const maxText = 1 << 14

// valueFor makes of a constant a value that a test of it may be true of, or
// nearly; exact takes the constant as it is, or what it is a pattern of. false is
// a constant that cannot stand there.
func valueFor(rng *rand.Rand, p policy.Path, constant any, exact bool) (any, bool) {
	kind := p.Field.Spec().Type
	if len(p.Keys) > 0 {
		kind = policy.AnyType
	}
	switch c := constant.(type) {
	case json.Number:
		return numberFor(rng, kind, c, exact)
	case string:
		switch kind {
		case policy.BoolType, policy.NumberType:
			return nil, false
		}
		return shaped(kind, textFor(rng, c, exact)), true
	}
	return nil, false
}

// shaped puts a text into a value of a field's type.
func shaped(kind policy.FieldType, text string) any {
	switch kind {
	case policy.ObjectType:
		return map[string]any{text: text}
	case policy.ListType:
		return []any{map[string]any{"role": "user", "content": text}}
	}
	return text
}

// numberFor is a number at or beside a constant, or a text so long.
func numberFor(rng *rand.Rand, kind policy.FieldType, c json.Number, exact bool) (any, bool) {
	n, err := strconv.Atoi(c.String())
	switch {
	case kind == policy.BoolType:
		return n != 0, true
	case kind == policy.ObjectType || kind == policy.ListType:
		return nil, false
	case kind == policy.StringType && err == nil && n < maxText:
		return strings.Repeat("x", n+rng.IntN(2)), true
	case kind == policy.StringType:
		return nil, false
	case err != nil || exact:
		return c, true
	}
	switch rng.IntN(4) {
	case 0:
		return json.Number(strconv.Itoa(n + 1)), true
	case 1:
		return json.Number(strconv.Itoa(n - 1)), true
	case 2:
		if n < maxText {
			return strings.Repeat("x", n+1), true
		}
	}
	return c, true
}

// textFor is a text at or near a constant: what it matches if it is a pattern,
// with something before or behind it.
func textFor(rng *rand.Rand, s string, exact bool) string {
	if strings.ContainsAny(s, `\[(^$+|?`) && rng.IntN(8) > 0 {
		if sample, ok := sampleOf(rng, s); ok {
			s = sample
		}
	}
	if strings.Contains(s, "*") {
		s = strings.NewReplacer("**/", "a/b/", "**", "a/b", "*", "x").Replace(s)
	}
	if exact || len(s) > maxText {
		return s
	}
	switch rng.IntN(14) {
	case 0:
		return s + " x"
	case 1:
		return "x " + s
	case 2:
		return s + "x"
	case 3:
		return "x" + s
	case 4:
		return "/repo/" + strings.TrimPrefix(s, "/")
	case 5:
		return s + "/x"
	case 6:
		return strings.ToUpper(s)
	case 7:
		return strings.TrimSpace(s)
	case 8:
		return s[:len(s)/2]
	case 9:
		return "echo ok && " + s
	}
	return s
}

// sampleOf is a text that a regular expression matches.
func sampleOf(rng *rand.Rand, pattern string) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	writeSample(rng, &b, tree)
	return b.String(), b.Len() <= maxText
}

func writeSample(rng *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	if b.Len() > maxText {
		return
	}
	times := 1
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
		return
	case syntax.OpCharClass:
		b.WriteRune(oneOf(rng, re.Rune))
		return
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("x/ -1"[rng.IntN(5)])
		return
	case syntax.OpAlternate:
		writeSample(rng, b, re.Sub[rng.IntN(len(re.Sub))])
		return
	case syntax.OpStar:
		times = rng.IntN(3)
	case syntax.OpQuest:
		times = rng.IntN(2)
	case syntax.OpPlus:
		times = 1 + rng.IntN(2)
	case syntax.OpRepeat:
		times = re.Min
		if re.Max != re.Min && rng.IntN(2) == 0 {
			times++
		}
	}
	for range times {
		for _, sub := range re.Sub {
			writeSample(rng, b, sub)
		}
	}
}

// oneOf is a rune of a class: one that can be read, where there is one.
func oneOf(rng *rand.Rand, class []rune) rune {
	n := rng.IntN(len(class) / 2)
	for range len(class) / 2 {
		low, high := max(class[2*n], ' '), min(class[2*n+1], '~')
		if low <= high {
			return low + rune(rng.IntN(int(high-low)+1))
		}
		n = (n + 1) % (len(class) / 2)
	}
	return class[2*n]
}
