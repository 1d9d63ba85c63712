package agent

import (
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeSafeSide = diag.Define(diag.Code{
	ID: "HK031", Severity: diag.Warning, Security: true,
	Title: "agent's own rules would lose this answer",
})

func safeSide(by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: codeSafeSide, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}

var codeUncarried = diag.Define(diag.Code{
	ID: "HK032", Severity: diag.Warning,
	Title: "answer that only the agent itself can follow",
})

func uncarried(by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: codeUncarried, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}
