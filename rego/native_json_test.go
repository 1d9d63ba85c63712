package rego

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

// jsonTexts are texts on which readers of JSON disagree, and whether native
// reads them.
var jsonTexts = map[string]bool{
	``: false, ` `: false, `{}`: true, `[]`: true, " {\"a\":\t1,\r\n\"b\" : [ ] } ": true, `{"a":1}x`: false, `{"a":1} {}`: false, `{"a":1,}`: false, `[1,]`: false, `[,1]`: false, `{"a"}`: false, `{"a":}`: false,
	`{a:1}`: false, `{"a":1 "b":2}`: false, `{"a" 1}`: false, `{1:1}`: false, `[1 2]`: false, `[`: false, `{`: false, `{"a"`: false, `{"a":`: false, `[1`: false, `{"a":1`: false, `]`: false,
	`{"a":1,"a":2}`: false, `[{"a":{"b":1,"b":1}}]`: false, `{"a":1,"\u0061":2}`: false, `{"a":1,"A":2}`: true, `{"":1," ":2}`: true,
	`null`: true, `nul`: false, `nullx`: false, `true`: true, `truefalse`: false, `tru`: false, `false`: true, `False`: false, `NaN`: false, "\x00": false, "{}\x00": false, "\v1": false, "\u00a01": false,
	`0`: true, `-0`: true, `-0.0`: true, `0.0`: true, `01`: false, `-01`: false, `-`: false, `--1`: false, `+1`: false, `.5`: false, `1.`: false, `1.5`: true, `1.50`: true, `1e`: false, `1e+`: false, `1E5`: true, `1e5`: true, `1e05`: true, `1e+21`: true, `1e21`: true,
	`0x10`: false, `1_000`: false, `1e400`: true, `-1e400`: true, `1e-400`: true, `5e-324`: true, `1e-7`: true, `0.0000001`: true, `0.000001`: true, `1e-06`: true, `Infinity`: false, `255`: true, `256`: true,
	`123456789012345`: true, `1234567890123456789`: true, `9007199254740993`: true, `9223372036854775807`: true, `9223372036854775808`: true, `-9223372036854775808`: true, `-9223372036854775809`: true,
	`12345678901234567890`: true, `100000000000000000000`: true, `1000000000000000000000`: true, `0.1`: true, `0.10`: true, `1.0`: true, `0.30000000000000004`: true, `0.1000000000000000055511151231257827`: true,
	`"a"`: true, `""`: true, `"a`: false, `"`: false, `'a'`: false, `"a\nb\t\"\\\/\b\f\r"`: true, `"\u00e9\ud83d\ude00\uD83D\uDE00"`: true, `"é\n😀"`: true, `"\u0000\u2028\ufffd\uffff"`: true, "\"\u2028\u2029\ufffd\x7f\"": true,
	`"\ud83d"`: false, `"\ud83dx"`: false, `"\ud83d\u0041"`: false, `"\ud83d\n"`: false, `"\ude00\ud83d"`: false, `"\ud83d\ud83d\ude00"`: false, `{"\udc00":1}`: false,
	`"\x"`: false, `"\u12g4"`: false, `"\u12"`: false, `"\u`: false, `"\ud83d\u12"`: false, `"\`: false, `"\"`: false, `"\'"`: false, `"\U0041"`: false, "\"a\tb\"": false, "\"a\nb\"": false, "\"\\n\x01\"": false,
	"\"\xff\"": false, "\"a\xc3\x28b\"": false, "\"\\n\xc3\"": false, "\"\xed\xa0\x80\"": false, "\"\xe2\x82\"": false, "\"\xf4\x90\x80\x80\"": false, "\"\xc0\x80\"": false, "{\"\xff\":1}": false, "\xef\xbb\xbf{}": false, "{}\xff": false,
	nestedJSON(510): true, nestedJSON(512): true, nestedJSON(513): false, nestedJSON(514): false, nestedJSON(100000): false, strings.Repeat(`{"a":`, 512) + "1" + strings.Repeat("}", 512): true, strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600): false,
	`{"tool_name":"Bash","tool_input":{"command":"git commit -m \"ü\"","timeout":1.5,"x":[1,{"y":"}"},null,true]},"event":"pre_tool_execution"}`: true,
}

func nestedJSON(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestNativeParseJSON: what native reads is what an event's value is; what
// readers differ about it does not read.
func TestNativeParseJSON(t *testing.T) {
	for text, want := range jsonTexts {
		assert.Equal(t, want, checkParseJSON(t, []byte(text)), "%.80q", text)
		for n := range 9 {
			checkParseJSON(t, []byte(strings.Repeat(" ", n)+text))
			checkParseJSON(t, []byte(`["`+strings.Repeat("x", n)+`",`+text+`]`))
			if len(text) >= n {
				checkParseJSON(t, []byte(text[:n]))
			}
		}
	}
	v, ok := native.ParseJSON([]byte(`-0`))
	require.True(t, ok)
	assert.Equal(t, []any{0.0, true}, []any{v, math.Signbit(v.(float64))})
	v, ok = native.ParseJSON([]byte(`[0, 7, 1.5, 1.0, 1e400, 100000000000000000000, 9223372036854775808]`))
	assert.Equal(t, []any{[]native.Value{0, 7, 1.5, native.Number("1.0"), native.Number("1e400"), 1e20, native.Number("9223372036854775808")}, true}, []any{v, ok})
}

// TestNativeParseJSONRandom: random values as they are written, whole and with
// a byte changed.
func TestNativeParseJSONRandom(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(7, 7))}
	read, refused := 0, 0
	for range number(t, "HOOKC_JSON_ROUNDS", depth.Of(3000)) {
		v, _ := g.value(4)
		text, err := json.Marshal(toPlain(v))
		require.NoError(t, err)
		require.True(t, checkParseJSON(t, text) || bytes.Contains(text, []byte(`\ufffd`)) || !utf8.Valid(text), "%q", text)
		at := g.IntN(len(text))
		text[at] = `{}[]",:\ux019.eE- `[g.IntN(18)]
		if checkParseJSON(t, text) {
			read++
		} else {
			refused++
		}
	}
	assert.Greater(t, min(read, refused), depth.Least(100))
}

func FuzzNativeJSON(f *testing.F) {
	for text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkParseJSON(t, text) })
}

// checkParseJSON compares what native reads with what policy does, and reports
// whether it reads it. It refuses but what policy refuses or mends.
func checkParseJSON(t *testing.T, text []byte) bool {
	before := bytes.Clone(text)
	got, ok := native.ParseJSON(text)
	require.Equal(t, before, text)
	want, err := policy.DecodeJSON(text)
	if ok {
		require.NoError(t, err, "%.80q is read", text)
		require.Equal(t, eventValue(want), got, "%.80q", text)
		if number, zero := got.(float64); zero {
			require.Equal(t, math.Signbit(want.(float64)), math.Signbit(number), "%q", text)
		}
		return true
	}
	mended := !utf8.Valid(text) || bytes.Contains(text, []byte(`\u`)) && strings.ContainsRune(string(jsonText(t, want)), utf8.RuneError)
	deep := bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 512
	require.True(t, err != nil || mended || deep, "%.80q is refused", text)
	return false
}

// eventValue is a value of an event as native code has it: of numbers that
// keep their text only the type's name is another.
func eventValue(v any) native.Value {
	switch x := v.(type) {
	case json.Number:
		return native.Number(x)
	case []any:
		for i, e := range x {
			x[i] = eventValue(e)
		}
	case map[string]any:
		for k, e := range x {
			x[k] = eventValue(e)
		}
	}
	return v
}

func jsonText(t *testing.T, v any) []byte {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}
