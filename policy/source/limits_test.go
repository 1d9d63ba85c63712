package source

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A policy that is over a limit of loading has one error, whose code says which,
// and is read no further; one that is at the limit has none.
func TestLoadingIsBounded(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"hooks.yaml": "include: ['more/*.yaml', hooks]\n"}
	for i := range 5 {
		files[fmt.Sprintf("more/%d.yaml", i)] = fmt.Sprintf("notify: [{name: n%d, rules: [{deny: 'false'}, {deny: 'false'}]}]\n", i)
		files[fmt.Sprintf("hooks/h%d/HOOK.md", i)] = md(fmt.Sprintf("h%d", i))
		files[fmt.Sprintf("hooks/h%d/scripts/run.sh*", i)] = "#!/bin/sh\n"
	}
	bytes := len(files["hooks.yaml"]) + 5*len(files["more/0.yaml"])
	lay(t, dir, files)
	for name, c := range map[string]struct {
		change func(l *limits, less int)
		code   string
	}{
		"rules": {func(l *limits, less int) { l.rules = 15 - less }, "HK024"},
		"files": {func(l *limits, less int) { l.files = 12 - less }, "HK025"},
		"bytes": {func(l *limits, less int) { l.bytes = bytes - less }, "HK026"},
		"time":  {func(l *limits, less int) { l.time -= 2 * l.time * time.Duration(less) }, "HK027"},
	} {
		t.Run(name, func(t *testing.T) {
			for less := range 12 {
				few := usual
				c.change(&few, less)
				p, found := Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "hooks.yaml")}}, limits: &few})
				if less == 0 {
					require.Empty(t, found.Render())
					assert.Len(t, p.Hooks, 10)
					continue
				}
				require.Equal(t, 1, strings.Count(found.Render(), "error["), found.Render())
				assert.Contains(t, found.Render(), "error["+c.code+"]")
				assert.Less(t, len(p.Hooks), 10)
			}
		})
	}
}
