package rego

import (
	"github.com/open-policy-agent/opa/v1/version"

	"github.com/hookc/hookc/policy/artifact"
)

// evidence is what native code was compared with topdown on before it may
// decide.
type evidence struct {
	forms forms
	// events is on how many events, of which answered were decided by native code
	// and not left to topdown.
	events, answered int
	// engines are the versions that were compared.
	engines string
}

// listVersion is the version of the list of forms and of the translation: it
// changes with each change of what native code is made of.
const listVersion = "1"

// engines names the versions of topdown and of native code in this binary.
func engines() string { return "OPA " + version.Version + ", native " + listVersion }

func (e *evidence) append(b *artifact.Buffer) {
	b.Uint(uint64(e.forms))
	b.Uint(uint64(e.events))
	b.Uint(uint64(e.answered))
	b.Text(e.engines)
}

func readEvidence(r *artifact.Reader) evidence {
	return evidence{forms: forms(r.Uint()), events: int(r.Uint()), answered: int(r.Uint()), engines: r.Text()}
}

// Compared reports whether Verify compared the code with this binary's topdown,
// and found no difference.
func (n *Native) Compared() bool { return n.evidence.valid() }

// valid reports whether the comparison was made, between the engines that are
// here.
func (e *evidence) valid() bool { return e.events > 0 && e.engines == engines() }
