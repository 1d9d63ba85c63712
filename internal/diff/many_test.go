package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMany: the order of many hooks is compared in time that does not grow with the cube
// of their number: else this is not done before the tests are over.
func TestMany(t *testing.T) {
	var text strings.Builder
	text.WriteString("pre_tool_execution:\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "  - {name: h%d, filter: {tool_name: T%d}, deny: 'command contains \"x%d\"', reason: r%d}\n", i, i, i, i)
	}
	r := compare(t, text.String(), strings.Replace(text.String(), "reason: r7}", "reason: r77}", 1), Options{Prove: true, Events: 20})
	assert.NotEmpty(t, r.Hooks)
}
