package source

import "github.com/hookc/hookc/policy/diag"

// logHook is an example: a hook folder whose HOOK.md has what every hook has, and
// more. hookFolder is one with other fields.
//
//go:noinline
func logHook(more string) string {
	return hookFolder("name: log\ndescription: writes a line\ntrigger: post-agent-turn\n" + more)
}

//go:noinline
func hookFolder(fields string) string {
	return "-- .agents/hooks/log/HOOK.md --\n---\n" + fields + "---\n-- .agents/hooks/log/scripts/run.sh --\n#!/bin/sh\nexit 0\n"
}

// The findings about the fields of a HOOK.md.
var (
	codeHookMissing = diag.Define(diag.Code{
		ID:    "HK051",
		Title: "HOOK.md without name or trigger",
		Help: `A HOOK.md needs a name and a trigger: without a name the hook cannot be overridden or
reported, without a trigger it never runs.`,
		Bad:  hookFolder("description: writes a line\ntrigger: post-agent-turn\n"),
		Good: logHook(""),
	})

	codeHookTrigger = diag.Define(diag.Code{
		ID:    "HK052",
		Title: "unknown trigger",
		Help: `The trigger of a HOOK.md is one of the thirteen names of the format, spelled exactly.
A hook with any other never runs.`,
		Bad:  hookFolder("name: log\ndescription: writes a line\ntrigger: post-agent-trun\n"),
		Good: logHook(""),
	})

	codeHookField = diag.Define(diag.Code{
		ID:    "HK053",
		Title: "field of a HOOK.md with a wrong value",
		Help: `A field holds something of another kind than it takes: timeout is a whole number of
milliseconds, priority a whole number, matcher a map with tool and pattern.`,
		Bad:  logHook("timeout: 5s\n"),
		Good: logHook("timeout: 5000\n"),
	})

	codeHookRegexp = diag.Define(diag.Code{
		ID:    "HK054",
		Title: "invalid regular expression in a matcher",
		Help: `matcher.tool and matcher.pattern are regular expressions of Python, found anywhere in
the tool's name or in a text of its input. One that cannot be compiled would match nothing,
and the hook would silently never run. Write them in single quotes.`,
		Bad: hookFolder("name: log\ndescription: writes a line\ntrigger: post-tool-call\nasync: true\nmatcher:\n  tool: 'Write('\n"),
		Good: hookFolder(`name: log
description: writes a line
trigger: post-tool-call
async: true
matcher:
  tool: 'Write|Edit'
  pattern: '\.py$'
`),
	})

	codeHookValue = diag.Define(diag.Code{
		ID: "HK055", Severity: diag.Warning,
		Title: "value outside what the HOOK.md format allows",
		Help: `The hook is loaded, but the value is not one that every reader of the format accepts.
The timeout is outside 100 to 600000 ms (the nearest is used), the priority is outside 0 to
1000, or there is no description. Or the name is not lower-case words joined by hyphens, or
the word for async does not mean true.`,
		Bad:  logHook("timeout: 50\n"),
		Good: logHook("timeout: 100\n"),
	})

	codeHookKey = diag.Define(diag.Code{
		ID: "HK056", Severity: diag.Warning,
		Title: "unknown field in a HOOK.md",
		Help: `The field has no meaning in a HOOK.md and is ignored. Often it is a misspelling, and the
default is in force instead of what was written.`,
		Bad:  logHook("prority: 200\n"),
		Good: logHook("priority: 200\n"),
	})

	codeHookFolder = diag.Define(diag.Code{
		ID: "HK057", Severity: diag.Warning,
		Title: "hook named otherwise than its folder",
		Help: `The name in the frontmatter counts; the folder's does not. Where the two differ, people
override, disable or look for the wrong one.`,
		Bad: `-- .agents/hooks/logger/HOOK.md --
---
name: log
description: writes a line
trigger: post-agent-turn
---
-- .agents/hooks/logger/scripts/run.sh --
#!/bin/sh
exit 0
`,
		Good: logHook(""),
	})
)
