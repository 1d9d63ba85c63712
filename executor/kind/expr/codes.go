package expr

import "github.com/hookc/hookc/policy/diag"

var (
	codeExprSyntax     = diag.Define("HK080", diag.Error, "expression cannot be read")
	codeExprName       = diag.Define("HK081", diag.Error, "unknown name in an expression")
	codeExprAbsent     = diag.Define("HK082", diag.Warning, "field the event never carries")
	codeExprNil        = diag.Define("HK083", diag.Warning, "comparison with nil does not test for absence")
	codeExprType       = diag.Define("HK084", diag.Error, "expression has the wrong type")
	codeExprTarget     = diag.Define("HK085", diag.Error, "set of something this event does not let a hook change")
	codeExprFunction   = diag.Define("HK086", diag.Error, "unknown function in an expression")
	codeExprEmpty      = diag.Define("HK087", diag.Error, "expr hook says nothing")
	CodeGuardUndefined = diag.Define("HK113", diag.Hint, "guard that lets a missing value through")
	CodeNoReason       = diag.Define("HK114", diag.Hint, "rule without a reason")
)
