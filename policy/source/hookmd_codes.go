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
		Bad:   hookFolder("description: writes a line\ntrigger: post-agent-turn\n"),
		Good:  logHook(""),
	})

	codeHookTrigger = diag.Define(diag.Code{
		ID:    "HK052",
		Title: "unknown trigger",
		Bad:   hookFolder("name: log\ndescription: writes a line\ntrigger: post-agent-trun\n"),
		Good:  logHook(""),
	})

	codeHookField = diag.Define(diag.Code{
		ID:    "HK053",
		Title: "field of a HOOK.md with a wrong value",
		Bad:   logHook("timeout: 5s\n"),
		Good:  logHook("timeout: 5000\n"),
	})

	codeHookRegexp = diag.Define(diag.Code{
		ID:    "HK054",
		Title: "invalid regular expression in a matcher",
		Bad:   hookFolder("name: log\ndescription: writes a line\ntrigger: post-tool-call\nasync: true\nmatcher:\n  tool: 'Write('\n"),
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
		Bad:   logHook("timeout: 50\n"),
		Good:  logHook("timeout: 100\n"),
	})

	codeHookKey = diag.Define(diag.Code{
		ID: "HK056", Severity: diag.Warning,
		Title: "unknown field in a HOOK.md",
		Bad:   logHook("prority: 200\n"),
		Good:  logHook("priority: 200\n"),
	})

	codeHookFolder = diag.Define(diag.Code{
		ID: "HK057", Severity: diag.Warning,
		Title: "hook named otherwise than its folder",
		Good:  logHook(""),
	})
)
