//go:build beside

package main

import (
	"context"
	"strings"

	"github.com/hookc/hookc"
)

func init() {
	before = func() {
		eng, err := hookc.Open(context.Background(), hookc.Text("hooks.yaml", `
pre_tool_execution:
  - name: long
    type: rego
    source: |
      package long
      deny contains "x" if { input.tool_input.n + 1 > 5; sum([input.tool_input.n, 2]) > 5; bits.lsh(1, input.tool_input.n) > 5 }
`))
		if err != nil {
			panic(err)
		}
		defer eng.Close()
		d, err := eng.PreTool(context.Background(), hookc.Call{Tool: "Bash", Input: map[string]any{"n": 20, "s": strings.Repeat("x", 10)}})
		if err != nil || d.Permits() {
			panic("hookc was to deny")
		}
	}
}
