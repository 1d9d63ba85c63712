package repeats

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadings(t *testing.T) {
	for text, want := range map[string][]string{
		``: nil, `plain "text" [1, 2]`: nil, `{"a":1,"b":{"a":2}}`: nil, `{"a":1,"a":2`: nil, `"{\"a\":1}"`: nil,
		`{"a": 1, "a":2}`: {`{"a":1}`, `{"a":2}`},
		`{"a":1,"b":[ {"c":1,"c":2} ],"a":2,"a":3}`: {`{"a":1,"b":[{"c":1}]}`, `{"a":2,"b":[{"c":2}]}`, `{"a":3,"b":[{"c":2}]}`},
		`{"a":1,"\u0061":2}`:                        {`{"a":1}`, `{"\u0061":2}`},
		`"{\"a\":1,\"a\":2}"`:                       {`{"a":1}`, `{"a":2}`},
		"note {\n{\"a\":1,\"a\":2}\nend {x} {":      {"note {\n{\"a\":1}\nend {x} {", "note {\n{\"a\":2}\nend {x} {"},
		`{"a":1}{"a":2}`:                            nil,
		`{"a":1e400,"a":"\ud800"}`:                  {`{"a":1e400}`, `{"a":"\ud800"}`},
	} {
		got, whole := Readings(text)
		assert.Equal(t, want, got, text)
		assert.True(t, whole)
	}
	list, whole := Readings("{" + strings.Repeat(`"a":1,`, 40) + `"a":2}`)
	assert.Len(t, list, maxReadings+1)
	assert.Equal(t, `{"a":2}`, list[maxReadings])
	assert.False(t, whole)
}

// TestReadingsOfRandomObjects: each value of each key is in some reading or is the
// last, and a reading is JSON without a repeated key.
func TestReadingsOfRandomObjects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var parts []string
		want := map[string][]string{}
		for i := range r.IntN(7) {
			key := string(rune('a' + r.IntN(3)))
			want[key] = append(want[key], fmt.Sprint(i))
			parts = append(parts, fmt.Sprintf("%q: %d", key, i))
		}
		text := "{" + strings.Join(parts, ", ") + "}"
		list, whole := Readings(text)
		require.True(t, whole)
		if len(list) == 0 {
			list = []string{text}
		}
		for k, reading := range list {
			var got map[string]json.Number
			require.NoError(t, json.Unmarshal([]byte(reading), &got), reading)
			assert.Len(t, got, len(want))
			for key, values := range want {
				require.Equal(t, values[min(k, len(values)-1)], string(got[key]), "%s in %s of %s", key, reading, text)
			}
		}
	}
}
