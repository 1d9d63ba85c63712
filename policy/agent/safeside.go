package agent

import (
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var (
	codeSafeSide  = diag.Define("HK031", diag.Warning, "agent's own rules would lose this answer").Guarding()
	codeUncarried = diag.Define("HK032", diag.Warning, "answer that only the agent itself can follow")
)

func warning(code *diag.Code, by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: code, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}
