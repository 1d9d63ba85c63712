package expr

import "github.com/hookc/hookc/policy/diag"

var (
	codeExprSyntax = diag.Define(diag.Code{
		ID: "HK080", Severity: diag.Error,
		Title: "expression cannot be read",
	})
	codeExprName = diag.Define(diag.Code{
		ID: "HK081", Severity: diag.Error,
		Title: "unknown name in an expression",
	})
	codeExprAbsent = diag.Define(diag.Code{
		ID: "HK082", Severity: diag.Warning,
		Title: "field the event never carries",
	})
	codeExprNil = diag.Define(diag.Code{
		ID: "HK083", Severity: diag.Warning,
		Title: "comparison with nil does not test for absence",
	})
	codeExprType = diag.Define(diag.Code{
		ID: "HK084", Severity: diag.Error,
		Title: "expression has the wrong type",
	})
	codeExprTarget = diag.Define(diag.Code{
		ID: "HK085", Severity: diag.Error,
		Title: "set of something this event does not let a hook change",
	})
	codeExprFunction = diag.Define(diag.Code{
		ID: "HK086", Severity: diag.Error,
		Title: "unknown function in an expression",
	})
	codeExprEmpty = diag.Define(diag.Code{
		ID: "HK087", Severity: diag.Error,
		Title: "expr hook says nothing",
	})
	CodeGuardUndefined = diag.Define(diag.Code{
		ID: "HK113", Severity: diag.Hint,
		Title: "guard that lets a missing value through",
	})
	CodeNoReason = diag.Define(diag.Code{
		ID: "HK114", Severity: diag.Hint,
		Title: "rule without a reason",
	})
)
