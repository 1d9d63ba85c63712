package hookc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc"
)

// decide is what README shows: whether a command may run, by the policy of a folder.
func decide(dir, command string) error {
	eng, err := hookc.Open(ctx, hookc.Dir(dir), hookc.Files("hooks.yaml"))
	if err != nil {
		return err // every finding, with file, line, column and hint
	}
	defer eng.Close()

	d, err := eng.PreTool(ctx, hookc.Call{Tool: "Bash", Input: map[string]any{"command": command}})
	if err != nil || !d.Permits() {
		return fmt.Errorf("%s: %s", d.Action, strings.Join(d.Reasons, "; "))
	}
	return nil
}

// myAgent is the agent of the guide: it asks before each call of a tool.
type myAgent struct {
	eng     *hookc.Engine
	session string
	run     func(tool string, input map[string]any) (result string)
}

func (a *myAgent) call(ctx context.Context, id, tool string, input map[string]any) (string, error) {
	call := hookc.Call{Where: hookc.Where{SessionID: a.session}, Tool: tool, ID: id, Input: input}
	before, err := a.eng.PreTool(ctx, call)
	if err != nil {
		return "", err // the event could not be decided: the call does not happen
	}
	if !before.Permits() {
		return strings.Join(before.Reasons, "\n"), nil // the model reads why
	}
	if changed, ok := before.Patch["tool_input"].(map[string]any); ok {
		input = changed // a hook has rewritten the call
	}
	return a.run(tool, input), nil
}

func Example_agent() {
	dir, err := os.MkdirTemp("", "hookc-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	text := `
pre_tool_execution:
  - {name: pushes, deny: command contains "git push", reason: pushing is the user's business}
  - {name: dry, when: 'command == "deploy"', set: {tool_input.command: '"deploy --dry-run"'}}
`
	if err := os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte(text), 0o644); err != nil {
		panic(err)
	}
	fmt.Println(decide(dir, "git push"))
	fmt.Println(decide(dir, "ls"))

	eng := open(text)
	defer eng.Close()
	a := &myAgent{eng: eng, session: "s1", run: func(_ string, input map[string]any) string { return fmt.Sprint("ran ", input["command"]) }}
	for _, command := range []string{"git push", "deploy"} {
		result, err := a.call(ctx, "t-"+command, "Bash", map[string]any{"command": command})
		fmt.Println(result, err)
	}
	// Output:
	// block: pushing is the user's business
	// <nil>
	// pushing is the user's business <nil>
	// ran deploy --dry-run <nil>
}
