package policy

import (
	"errors"
	"strings"
)

// ErrNoTool and ErrNUL are why a guarded call cannot be decided.
var (
	ErrNoTool = errors.New("the event names no tool: tool_name is missing")
	ErrNUL    = errors.New("the tool's name or its input has a NUL character")
)

// NeedsTool reports whether an event is decided by the name of a tool, so that
// one without it fits no filter and would be let through unseen.
func (e Event) NeedsTool() bool { return e == PreToolExecution || e == PermissionRequest }

// Unfit says why a guarded call cannot be decided, nil when it can: it names no
// tool, or a NUL character splits a word that a rule may look for and that what
// runs the call ends or leaves out.
func (c *Context) Unfit(e Event) error {
	if c == nil {
		return ErrNoContext
	}
	if !e.NeedsTool() {
		return nil
	}
	name := c.Text(FieldToolName)
	if name == "" {
		return ErrNoTool
	}
	input, _ := c.Get(FieldToolInput)
	if strings.IndexByte(name, 0) >= 0 || holdsNUL(input) {
		return ErrNUL
	}
	return nil
}

// holdsNUL reports whether a text in a JSON value has a NUL character.
func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.IndexByte(v, 0) >= 0
	case []any:
		for _, item := range v {
			if holdsNUL(item) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if strings.IndexByte(key, 0) >= 0 || holdsNUL(item) {
				return true
			}
		}
	}
	return false
}
