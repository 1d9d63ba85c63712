package rego

import (
	"github.com/open-policy-agent/opa/v1/version"

	"github.com/hookc/hookc/internal/binary"
)

// evidence is what native code was compared with topdown on before it may
// decide.
type evidence struct {
	forms forms
	// answered is how many events native code decided as topdown does; left is how
	// many it left to topdown, late how many took one of the two too long. Those say
	// nothing of the code.
	answered, left, late int
	// engines are the versions that were compared.
	engines string
}

// listVersion is the version of the list of forms and of the translation: it
// changes with each change of what native code is made of.
const listVersion = "2"

// engines names the versions of topdown and of native code in this binary.
func engines() string { return "OPA " + version.Version + ", native " + listVersion }

func (e *evidence) append(b *binary.Writer) {
	b.Uint(uint64(e.forms))
	b.Uint(uint64(e.answered))
	b.Uint(uint64(e.left))
	b.Uint(uint64(e.late))
	b.Text(e.engines)
}

func readEvidence(r *binary.Reader) evidence {
	return evidence{forms: forms(r.Uint()), answered: int(r.Uint()), left: int(r.Uint()), late: int(r.Uint()), engines: r.Text()}
}

// Compared reports whether Verify compared the code with this binary's topdown,
// and found no difference.
func (n *Native) Compared() bool { return n.evidence.valid() }

// valid reports whether something was compared, between the engines that are
// here.
func (e *evidence) valid() bool { return e.answered > 0 && e.engines == engines() }
