package policy

import "encoding/json"

// Enforcement says whether what a hook says counts: the zero Enforcement is enforce.
type Enforcement string

// With these a hook decides nothing: the Decision has what it would have said, and
// EnforceWarn tells the user too.
const (
	EnforceWarn   Enforcement = "warn"
	EnforceDryRun Enforcement = "dryrun"
)

// Would is what a hook that decides nothing would have said alone, and what that
// would have come to. Its fields are in the order of their keys.
type Would struct {
	Action  Action   `json:"action"`
	Context []string `json:"additional_context,omitempty"`
	Hook    string   `json:"hook"`
	// Patch holds the fields that it would have changed: the whole value, or of an
	// object the members that it names, null for those it takes away.
	Patch   json.RawMessage `json:"patch,omitempty"`
	Reasons []string        `json:"reasons,omitempty"`
	// Says is a verdict, a control, or "failed".
	Says     string   `json:"says"`
	Messages []string `json:"system_messages,omitempty"`
}

// Would is what hooks that decide nothing here would have said, in order: those with
// `enforcement: warn` or `dryrun`, those that spare the session, and those whose
// `may` does not list what they said.
func (d *Decision) Would() []*Would {
	var out []*Would
	for _, w := range d.Warnings {
		if w.Would != nil {
			out = append(out, w.Would)
		}
	}
	return out
}
