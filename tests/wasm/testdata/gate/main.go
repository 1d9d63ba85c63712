// Command gate embeds hookc where there are no processes: it decides two calls
// and prints what was decided and said.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hookc/hookc"
)

const policy = `pre_tool_execution:
  - name: root
    type: rego
    source: |
      package hooks.root
      deny contains "no removing of all" if startswith(input.tool_input.command, "rm -rf /")
  - {name: sudo, deny: 'tool_input.command startsWith "sudo"', reason: no sudo}
  - {name: script, command: "exit 0", on_error: deny, filter: {tool_name: Write}}
`

func main() {
	ctx := context.Background()
	engine, err := hookc.Open(ctx, hookc.Text("hooks.yaml", policy))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer engine.Close()
	for _, w := range engine.Diagnostics() {
		fmt.Println(w.Code.ID, w.Hook, w.Text)
	}
	for _, call := range []hookc.Call{
		{Tool: "Bash", Input: map[string]any{"command": "ls"}},
		{Tool: "Bash", Input: map[string]any{"command": "rm -rf / --no-preserve-root"}},
		{Tool: "Bash", Input: map[string]any{"command": "sudo reboot"}},
		{Tool: "Write", Input: map[string]any{"file_path": "a", "content": "b"}},
	} {
		d, err := engine.PreTool(ctx, call)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(d.Permits(), d.By, d.Reasons)
	}
}
