package expr

import "github.com/hookc/hookc/policy/diag"

var (
	codeExprSyntax = diag.Define(diag.Code{
		ID: "HK080", Severity: diag.Error,
		Title: "expression cannot be read",
		Help:  `The text is not an expression of the expr language, or it does not fit the types of the fields it uses.`,
		Bad: `pre_tool_execution:
  - {name: broken, type: expr, deny: 'tool_name == ', reason: "no"}
`,
		Good: `pre_tool_execution:
  - {name: whole, type: expr, deny: 'tool_name == "rm"', reason: "no"}
`,
	})
	codeExprName = diag.Define(diag.Code{
		ID: "HK081", Severity: diag.Error,
		Title: "unknown name in an expression",
		Help: `A name in an expression is a field of the event, a variable bound with let, or a
function. What a host sends under a name hookc does not know is in raw.`,
		Bad: `pre_tool_execution:
  - {name: typo, type: expr, deny: 'tol_name == "rm"', reason: "no"}
`,
		Good: `pre_tool_execution:
  - {name: right, type: expr, deny: 'tool_name == "rm"', reason: "no"}
`,
	})
	codeExprAbsent = diag.Define(diag.Code{
		ID: "HK082", Severity: diag.Warning,
		Title: "field the event never carries",
		Help: `The expression reads a field that this event does not have. There it is always
undefined, so a test of it never holds.`,
		Bad: `pre_send_message:
  - {name: early, type: expr, deny: 'tool_name == "rm"', reason: "no"}
`,
		Good: `pre_send_message:
  - {name: prompt, type: expr, deny: 'user_input == "rm"', reason: "no"}
`,
	})
	codeExprNil = diag.Define(diag.Code{
		ID: "HK083", Severity: diag.Warning,
		Title: "comparison with nil does not test for absence",
		Help: `What is missing is undefined, and comparing the undefined is undefined again, so
x == nil does not hold when x is missing. Write "key" in object to test for a key,
or x ?? default to give a missing value another one.`,
		Bad: `pre_tool_execution:
  - {name: absent, type: expr, deny: 'tool_input.file_path == nil', reason: "no path"}
`,
		Good: `pre_tool_execution:
  - {name: absent, type: expr, deny: '"file_path" not in tool_input', reason: "no path"}
`,
	})
	codeExprType = diag.Define(diag.Code{
		ID: "HK084", Severity: diag.Error,
		Title: "expression has the wrong type",
		Help:  `deny, ask, defer, allow, skip, stop, halt and when take a condition, which is true or false. context takes a text.`,
		Bad: `pre_tool_execution:
  - {name: number, type: expr, deny: 'len(tool_input)', reason: "no"}
`,
		Good: `pre_tool_execution:
  - {name: test, type: expr, deny: 'len(tool_input) > 9', reason: "no"}
`,
	})
	codeExprTarget = diag.Define(diag.Code{
		ID: "HK085", Severity: diag.Error,
		Title: "set of something this event does not let a hook change",
		Help: `set names a field, or a dotted path into one, that hooks may change at this event;
modified_input and tool_arguments replace the whole tool_input. additional_context,
retry_feedback, inject_messages, system_message, stop_reason and suppress_output can be
set where the event takes them.`,
		Bad: `pre_tool_execution:
  - {name: rename, type: expr, set: {tool_name: '"Read"'}}
`,
		Good: `pre_tool_execution:
  - {name: rewrite, type: expr, set: {tool_input.command: '"true"'}}
`,
	})
	codeExprFunction = diag.Define(diag.Code{
		ID: "HK086", Severity: diag.Error,
		Title: "unknown function in an expression",
		Help:  `Functions are those of the expr language and hookc's own, which have dotted names such as path.abs.`,
		Bad: `pre_tool_execution:
  - {name: typo, type: expr, deny: 'path.abz(cwd, "/") == "/"', reason: "no"}
`,
		Good: `pre_tool_execution:
  - {name: right, type: expr, deny: 'path.abs(cwd, "/") == "/"', reason: "no"}
`,
	})
	codeExprEmpty = diag.Define(diag.Code{
		ID: "HK087", Severity: diag.Error,
		Title: "expr hook says nothing",
		Help: `An expr hook has at least one condition (deny, ask, defer, allow, skip, stop, halt or
rules), or something to say: set, context, message, feedback, inject or modified_input.`,
		Bad: `pre_tool_execution:
  - {name: idle, type: expr, set: {}}
`,
		Good: `pre_tool_execution:
  - {name: busy, type: expr, set: {tool_input.command: '"true"'}}
`,
	})
	CodeGuardUndefined = diag.Define(diag.Code{
		ID: "HK113", Severity: diag.Hint,
		Title: "guard that lets a missing value through",
		Help: `The rule's only test says that a value differs from what is allowed. When the value
is missing the test is undefined and the rule does not fire. Give the value a
default with ??, or turn the test round: !(x == y) holds when x is missing.`,
		Bad: `pre_tool_execution:
  - {name: only-ls, type: expr, deny: 'tool_input.command != "ls"', reason: "only ls"}
`,
		Good: `pre_tool_execution:
  - {name: only-ls, type: expr, deny: '(tool_input.command ?? "") != "ls"', reason: "only ls"}
`,
	})
	CodeNoReason = diag.Define(diag.Code{
		ID: "HK114", Severity: diag.Hint,
		Title: "rule without a reason",
		Help: `The rule denies or asks and does not say why. The agent is told only which hook
decided, so the model and its user cannot tell what to do instead.`,
		Bad: `pre_tool_execution:
  - {name: silent, type: expr, deny: 'tool_name == "rm"'}
`,
		Good: `pre_tool_execution:
  - {name: clear, type: expr, deny: 'tool_name == "rm"', reason: "use the trash"}
`,
	})
)
