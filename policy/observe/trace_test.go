package observe

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// What an agent says is a place in a trace is passed on only in the form that W3C gives
// it.
func TestParse(t *testing.T) {
	assert.Equal(t, Trace{valid, "a=1,b@c=2"}, Parse(valid, "a=1,b@c=2"))
	assert.Equal(t, Trace{Parent: valid}, Parse("cc"+valid[2:]+"-later", ""))
	for _, bad := range []string{
		"", "x", valid[:54], valid + "-more", valid + "\n", "ff" + valid[2:], strings.ToUpper(valid), "cc" + valid[2:] + "x",
		"00-" + strings.Repeat("0", 32) + valid[35:], valid[:36] + strings.Repeat("0", 16) + "-01", strings.Replace(valid, "-", "_", 1), "$(id)" + valid[5:],
	} {
		assert.Zero(t, Parse(bad, "a=1"), "%q", bad)
	}
	for _, bad := range []string{"a", "=1", "a=1\nb=2", "a=\x00", "a=é", strings.Repeat("a=1,", 40), "a=" + strings.Repeat("b", 600)} {
		assert.Equal(t, Trace{Parent: valid}, Parse(valid, bad), "%q", bad)
	}
	assert.Equal(t, Trace{valid, "a=1"}, InEnviron([]string{"HOME=/x", "TRACEPARENT=" + valid, "TRACESTATE=a=1", "TRACEPARENT=second"}))
	assert.Zero(t, InEnviron([]string{"TRACEPARENT=evil", "TRACE"}))
	assert.Zero(t, TraceOf(WithTrace(context.Background(), Trace{})))
}
