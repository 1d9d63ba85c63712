package policy

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnknownKey = diag.Define("HK117", diag.Warning, "answer has keys that mean nothing here")

// HookResultKeys lists the keys of the canonical HookResult (semantics.md
// §2.6).
func HookResultKeys() []string {
	return lists.Keys(hookResultKeys)
}

// ParseHookResultText reads a canonical HookResult from JSON text; empty text
// says nothing.
func ParseHookResultText(text []byte, by By) (Result, error) {
	v, err := DecodeJSON(text)
	if err != nil {
		return Result{}, Failf(ErrParse, "answer is not JSON: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return Result{}, Failf(ErrParse, "answer is not a JSON object")
	}
	return ParseHookResult(m, by)
}

// ParseHookResult reads the canonical HookResult (semantics.md §2.6): what
// bash under the default protocol, llm and `result` in Rego may say. A null is
// an absent key; an unknown action or decision and a value of the wrong type
// are errors of kind ErrParse. tool_arguments and modified_input replace
// tool_input, tool_input merges into it.
func ParseHookResult(m map[string]any, by By) (Result, error) {
	var r Result
	for _, key := range lists.Keys(m) {
		if read := hookResultKeys[key]; read != nil && m[key] != nil {
			if err := read(&r, m[key], by); err != nil {
				return Result{}, Failf(ErrParse, "%s %w", key, err)
			}
		}
	}
	if unknown := UnknownResultKeys(m); len(unknown) > 0 {
		r.Warnings = append(r.Warnings, Warning{Code: codeUnknownKey, Hook: by.Name,
			Text: fmt.Sprintf("%s: answer has unknown keys %q", by.Name, unknown)})
	}
	return r, nil
}

type readKey func(r *Result, v any, by By) error

var hookResultKeys = map[string]readKey{
	"user_input":         replaceText(FieldUserInput),
	"assistant_output":   replaceText(FieldAssistantOutput),
	"system_prompt":      replaceText(FieldSystemPrompt),
	"tool_error":         replaceText(FieldToolError),
	"model":              replaceText(FieldModel),
	"tool_result":        readToolResult,
	"messages":           readMessages,
	"tool_arguments":     readArguments,
	"modified_input":     readModifiedInput,
	"tool_input":         mergeObject(FieldToolInput),
	"request_config":     mergeObject(FieldRequestConfig),
	"tool_config":        readToolConfig,
	"inject_messages":    readInject,
	"action":             readAction,
	"abort":              readAbort,
	"decision":           readDecision,
	"reason":             readReason,
	"stop_reason":        readStopReason,
	"retry_feedback":     appendText(func(r *Result) *[]string { return &r.Feedback }),
	"additional_context": appendText(func(r *Result) *[]string { return &r.Context }),
	"system_message":     appendText(func(r *Result) *[]string { return &r.System }),
	"suppress_output":    readSuppress,
}

// HookResultField is the field that a key of a HookResult sets, of those that set
// one, and whether objects merge into it. Two keys are other names of tool_input.
func HookResultField(key string) (f Field, merges, sets bool) {
	if key == "tool_arguments" || key == "modified_input" {
		return FieldToolInput, false, true
	}
	f, known := ParseField(key)
	sets = known && slices.ContainsFunc(Events(), func(e Event) bool { return lists.Among(e.Spec().Writes, f) })
	return f, sets && (f == FieldToolInput || f == FieldRequestConfig), sets
}

// UnknownResultKeys are the keys that no HookResult has, sorted.
func UnknownResultKeys(m map[string]any) []string {
	var unknown []string
	for _, key := range lists.Keys(m) {
		if hookResultKeys[key] == nil {
			unknown = append(unknown, key)
		}
	}
	return unknown
}

func want[T any](v any, what string) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fault.Errorf("must be %s", Article(what))
	}
	return t, nil
}

func replaceText(f Field) readKey {
	return func(r *Result, v any, _ By) error {
		s, err := want[string](v, "string")
		if err == nil {
			r.Patch = r.Patch.Then(Replace(Path{Field: f}, s))
		}
		return err
	}
}

func appendText(list func(*Result) *[]string) readKey {
	return func(r *Result, v any, _ By) error {
		s, err := want[string](v, "string")
		if err == nil && s != "" {
			out := list(r)
			*out = append(*out, s)
		}
		return err
	}
}

func mergeObject(f Field) readKey {
	return func(r *Result, v any, _ By) error {
		m, err := want[map[string]any](v, "JSON object")
		if err == nil {
			r.Patch = r.Patch.Then(Merge(f, m))
		}
		return err
	}
}

func readToolResult(r *Result, v any, _ By) error {
	r.Patch = r.Patch.Then(Replace(Path{Field: FieldToolResult}, v))
	return nil
}

func readMessages(r *Result, v any, _ By) error {
	list, err := want[[]any](v, "list")
	if err == nil {
		r.Patch = r.Patch.Then(Replace(Path{Field: FieldMessages}, list))
	}
	return err
}

func readModifiedInput(r *Result, v any, _ By) error {
	m, err := want[map[string]any](v, "JSON object")
	if err == nil {
		r.Patch = r.Patch.Then(Replace(Path{Field: FieldToolInput}, m))
	}
	return err
}

func readArguments(r *Result, v any, by By) error {
	if s, ok := v.(string); ok {
		object, err := DecodeJSON([]byte(s))
		if err != nil {
			return fault.Errorf("must be the text of a JSON object: %w", err)
		}
		v = object
	}
	return readModifiedInput(r, v, by)
}

func readToolConfig(r *Result, v any, _ By) error {
	m, err := want[map[string]any](v, "JSON object")
	if err != nil {
		return err
	}
	config := &ToolConfig{}
	if mode := m["mode"]; mode != nil {
		s, err := want[string](mode, "string in mode")
		if err != nil || !lists.Has(toolModes, s) {
			return fault.Errorf("mode must be AUTO, ANY or NONE")
		}
		config.Mode = s
	}
	if names := m["names"]; names != nil {
		list, err := want[[]any](names, "list in names")
		if err != nil {
			return err
		}
		for _, n := range list {
			s, err := want[string](n, "string in names")
			if err != nil {
				return err
			}
			config.Names = append(config.Names, s)
		}
		config.Names = lists.Distinct(config.Names)
	}
	r.ToolConfig = r.ToolConfig.union(config)
	return nil
}

func readInject(r *Result, v any, _ By) error {
	list, err := want[[]any](v, "list")
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, err := want[map[string]any](m, "list of messages"); err != nil {
			return err
		}
	}
	r.Inject = append(r.Inject, list...)
	return nil
}

func readAction(r *Result, v any, by By) error {
	s, err := want[string](v, "string")
	if err != nil {
		return err
	}
	c, ok := ParseControl(s)
	if !ok || c == Go {
		return fault.Errorf("must be skip, stop or halt, not %q", s)
	}
	r.setControl(c, by)
	return nil
}

// readAbort takes the oldest jcli form, abort: true, which means stop.
func readAbort(r *Result, v any, by By) error {
	b, err := want[bool](v, "boolean")
	if err == nil && b {
		r.setControl(Stop, by)
	}
	return err
}

func (r *Result) setControl(c Control, by By) {
	if c > r.Control {
		r.Control, r.ControlBy = c, by
	}
}

func readDecision(r *Result, v any, by By) error {
	s, err := want[string](v, "string")
	if err != nil {
		return err
	}
	verdict, ok := ParseVerdict(s)
	if !ok {
		return fault.Errorf("must be allow, ask, defer or deny, not %q", s)
	}
	if verdict != None {
		r.Verdict, r.VerdictBy = verdict, by
	}
	return nil
}

func readReason(r *Result, v any, by By) error {
	s, err := want[string](v, "string")
	if err == nil && s != "" {
		r.Reasons = append(r.Reasons, Reason{Text: s, At: by.At})
	}
	return err
}

func readStopReason(r *Result, v any, _ By) error {
	s, err := want[string](v, "string")
	if err == nil && s != "" {
		r.StopReasons = append(r.StopReasons, s)
	}
	return err
}

func readSuppress(r *Result, v any, _ By) error {
	b, err := want[bool](v, "boolean")
	if err == nil {
		r.Suppress = b
	}
	return err
}
