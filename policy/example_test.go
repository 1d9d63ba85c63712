package policy_test

import (
	"context"
	"fmt"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// A host reads of a Decision what it does now, what it tells the model and the user,
// what it goes on with, and who decided.
func ExampleDecision() {
	eng, err := hookc.Open(context.Background(), hookc.Text("hooks.yaml", `
pre_tool_execution:
  - {name: quiet, filter: {tool_name: Bash}, set: {tool_input.command: '"nice " + tool_input.command'}, message: '"it runs with less priority"'}
  - {name: prod, ask: command contains "prod", reason: it is about production}
  - {name: review, prompt: "Is it safe?", on_error: ask}
`))
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	d, err := eng.PreTool(context.Background(), hookc.Call{Tool: "Bash", Input: map[string]any{"command": "deploy prod"}})
	if err != nil {
		fmt.Println("not decided, and not permitted:", err)
	}
	switch d.Action {
	case policy.Proceed:
		fmt.Println("run it")
	case policy.AskUser:
		fmt.Println("ask:", d.Reasons)
	default:
		fmt.Println("tell the model:", d.Reasons)
	}
	fmt.Println("with:", d.Patch)
	fmt.Println("show:", d.SystemMessages)
	fmt.Println("decided by:", d.By, "at", d.At)
	for _, h := range d.Hooks {
		fmt.Println(h.Name, h.Status, h.Verdict)
	}
	for _, f := range d.Failed {
		fmt.Println(f.Hook, "failed:", f.Kind, "means", f.OnError)
	}
	// Output:
	// ask: [it is about production review: no model provider is configured: set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY, or pass a Model]
	// with: map[tool_input:map[command:nice deploy prod]]
	// show: [it runs with less priority]
	// decided by: prod at hooks.yaml:4:18
	// quiet ran none
	// prod ran ask
	// review failed ask
	// review failed: network means ask
}
