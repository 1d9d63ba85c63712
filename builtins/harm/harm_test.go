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
				if assert.NotNil(t, r.want, "%s %s", kind, name) {
					r.want()
				}
				if r.also != nil {
					r.also()
				}
				if r.not != nil {
					r.not()
				}
				if r.line != nil {
					r.line()
				}
			}
		}
	}
}
