package source

import "github.com/hookc/hookc/policy/diag"

// The findings about the fields of a HOOK.md.
var (
	codeHookMissing = diag.Define("HK051", diag.Error, "HOOK.md without name or trigger")
	codeHookTrigger = diag.Define("HK052", diag.Error, "unknown trigger")
	codeHookField   = diag.Define("HK053", diag.Error, "field of a HOOK.md with a wrong value")
	codeHookRegexp  = diag.Define("HK054", diag.Error, "invalid regular expression in a matcher")
	codeHookValue   = diag.Define("HK055", diag.Warning, "value outside what the HOOK.md format allows")
	codeHookKey     = diag.Define("HK056", diag.Warning, "unknown field in a HOOK.md")
	codeHookFolder  = diag.Define("HK057", diag.Warning, "hook named otherwise than its folder")
)
