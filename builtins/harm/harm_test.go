package harm

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTable: every line can be read.
func TestTable(t *testing.T) {
	for kind, list := range map[string]map[string][]*rule{"programs": parsed().programs, "files": parsed().files} {
		for name, rules := range list {
			for _, r := range rules {
				assert.NotEmpty(t, r.want.text, "%s %s", kind, name)
				for _, e := range []*expression{&r.want, &r.also, &r.not, &r.line} {
					assert.NotPanics(t, func() { e.in("", "") }, "%s %s: %s", kind, name, e.text)
				}
			}
		}
	}
}

// BenchmarkTable is what the first shell call of a process pays for the table.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		parse()
	}
}
