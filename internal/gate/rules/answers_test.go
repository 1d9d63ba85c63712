package rules

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestText: within JSON a text stands as encoding/json writes it, with and without
// what HTML needs.
func TestText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	runes := []rune("ab<>&\"\\/\x7f\u0080é\u2027\u2028\u2029\u202a\ufeff\ufffd🎉\U0010ffff")
	for c := range rune(0x40) {
		runes = append(runes, c)
	}
	for range 2000 {
		text := make([]rune, r.IntN(12))
		for i := range text {
			text[i] = runes[r.IntN(len(runes))]
		}
		for mode, html := range map[int]bool{JSON: false, HTMLJSON: true} {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(html)
			require.NoError(t, enc.Encode(string(text)))
			s := Stream{Mode: mode, Literals: []string{`"`, "\"\n"}}
			require.Equal(t, want.String(), string(s.fill(string(text))), "%q", string(text))
		}
	}
}

// TestForms: answers are found by point and outcome, and nothing in bytes that are
// none.
func TestForms(t *testing.T) {
	var points [3]Point
	want := &Form{Exit: 2, Join: "\n", Except: []string{"plan"}, Stdout: Stream{JSON, []string{"a", "b", ""}}, Stderr: Stream{Raw, []string{"c"}}}
	points[1][Ask], points[1][NumOutcomes-1] = want, &Form{Stdout: Stream{Raw, []string{"", ""}}, Stderr: Stream{Raw, []string{""}}, Except: []string{}}
	b := AnswersBytes(points[:])
	for point := range points {
		for outcome := range NumOutcomes {
			assert.Equal(t, points[point][outcome], FormOf(b, point, outcome), "%d %d", point, outcome)
		}
	}
	for _, at := range [][2]int{{3, 0}, {-1, 0}, {1, -1}, {1, NumOutcomes}} {
		assert.Nil(t, FormOf(b, at[0], at[1]), "%v", at)
	}
	for n := range b {
		assert.Nil(t, FormOf(b[:n], 1, Ask), "cut at %d", n)
	}
	stdout, stderr, ok := want.Fill([]string{"x\"", "y"})
	assert.Equal(t, []any{`ax\"\nybx\"\ny`, "c", true}, []any{string(stdout), string(stderr), ok})
	for _, texts := range [][]string{nil, {""}, {string(make([]byte, MaxText+1))}, {"\xff"}} {
		_, _, ok := want.Fill(texts)
		assert.False(t, ok, "%q", texts)
	}
}
