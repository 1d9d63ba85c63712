package expr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// TestNumbersDoNotWrap: a number that is too large for what a guard does with it does
// not pass the guard: the rule is true of it, or fails.
func TestNumbersDoNotWrap(t *testing.T) {
	rules := []string{"N * 4 > 100", "N + 9223372036854775807 > 100", "N - (-9223372036854775807) > 100", "int(N) > 100", "-(-N) > 100", "sum([N, N, N, N]) > 100",
		"reduce([N, N, N, N], #acc + #, 0) > 100", "N * N * N * N > 100", "len(0..N) > 100", "-2 * N < -100", "-N - N - N < -100", "0 - N * 3 < -100", "4 * N >= 100", "sum([1, 2], # * N) > 100",
		"float(\"NaN\") > N", "N >= float(\"NaN\")", "(N * 0.0 / 0.0) < 1", `"abc"[0:N] == "abc"`}
	for _, n := range []string{"9223372036854775807", "4611686018427387904", "9223372036854775808", "18446744073709551616", "1e19", "1e30", "1e300", "1e400"} {
		v, err := policy.DecodeJSON([]byte(n))
		require.NoError(t, err)
		in := exprCall(map[string]any{"n": v})
		for _, rule := range rules {
			got, failed := evaluate(t, strings.ReplaceAll(strings.ReplaceAll(rule, "NaN", "nan"), "N", "tool_input.n"), in)
			assert.True(t, failed != nil || got == true, "%s of %s is %v", rule, n, got)
		}
	}
}

// TestWholeNumbersFit: what an int holds is computed, up to the last one.
func TestWholeNumbersFit(t *testing.T) {
	in := exprCall(map[string]any{"max": 9223372036854775807, "min": -9223372036854775808, "half": 4611686018427387904})
	for text, want := range map[string]any{
		"tool_input.max + 0": 9223372036854775807, "tool_input.max - 1": 9223372036854775806, "tool_input.min + 1": -9223372036854775807,
		"tool_input.min - 0": -9223372036854775808, "tool_input.half * -2": -9223372036854775808, "-1 * tool_input.max": -9223372036854775807,
		"tool_input.min * 1": -9223372036854775808, "tool_input.min * 0": 0, "-tool_input.max": -9223372036854775807, "tool_input.max + tool_input.min": -1,
		"int(9007199254740992.0)": 9007199254740992, "int(-1.5)": -1,
	} {
		got, failed := evaluate(t, text, in)
		if assert.Nil(t, failed, text) {
			assert.Equal(t, want, got, text)
		}
	}
	for _, text := range []string{"-tool_input.min", "tool_input.min * -1", "tool_input.min - 1", "0 - tool_input.min", "tool_input.half * 2"} {
		_, failed := evaluate(t, text, in)
		assert.NotNil(t, failed, text)
	}
}
