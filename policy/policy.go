// Package policy holds the nouns of hookc: what a policy is made of (hooks,
// events, filters, effects), what a hook may read (Context) and say (Result),
// how results combine (Join, Patch) and what the agent is told (Decision). It
// imports the standard library and policy/diag only. The meaning of all of it
// is semantics.md; comments name the section.
package policy

import (
	"time"

	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
)

// Policy is every hook declared in every source, in declaration order, and
// what the sources set besides.
type Policy struct {
	Hooks    []*Hook
	Settings []Setting
	Sources  []SourceFile
	Tools    Catalogue
	// MaxConcurrent bounds the processes of an event, MaxModels its model calls,
	// ChainTimeout is the `defaults.chain_timeout` in force; 0 is the default.
	MaxConcurrent, MaxModels int
	ChainTimeout             time.Duration
	Profile                  *Profile // whose rules the policy follows; nil is hookc's own
	Notes                    []string // what overrode the written policy
	// Severities are what the sources make of diagnostic codes.
	Severities map[string]diag.Severity
	Log        []record.Setting // what `log:` of the sources says
	Facts      []Fact           // those declared, each name once
	Approvals  approval.Blocks
	// Warnings are what every Decision says of the policy: what an agent would
	// pass over of its own configuration.
	Warnings []Warning
}

// Profile is how an agent runs and combines the hooks of its own
// configuration. Values are immutable.
type Profile struct {
	// Name is the dialect's id, with its version where it has several.
	Name string
	// Faithful follows the agent also where its rules let something through in
	// silence.
	Faithful bool
	// Strategies are those of the agent's events; an event that is not named
	// keeps its canonical one.
	Strategies map[Event]*StrategySpec
	// ChainTimeout is the budget of one event, 0 what its hooks may take one
	// after another: most agents have no such limit.
	ChainTimeout time.Duration
	// MaxConcurrent bounds the processes one event runs at a time, 0 is hookc's
	// own default.
	MaxConcurrent int
	// Flat keeps hooks in the order they were read, whatever their tier.
	Flat bool
}

// Setting is what one file sets for one event.
type Setting struct {
	Event Event
	Tier  Tier
	// Strategy is "" when not written.
	Strategy     Strategy
	StrategySpan diag.Span
	// ChainTimeout is 0 when not written.
	ChainTimeout     time.Duration
	ChainTimeoutSpan diag.Span
	// Order is "", "tier" or "priority".
	Order     string
	OrderSpan diag.Span
}

// SourceFile is one file a policy was read from.
type SourceFile struct {
	Name string
	// Path is absolute.
	Path   string
	Tier   Tier
	Format string
	// Untrusted says why its hooks do not run. Differs says what of its project is not
	// as it was trusted, so that another text than that of the file decides: one file
	// of a project says it. Both may be empty.
	Untrusted, Differs string
	// Uses lists the other files its hooks name: scripts, Rego, data. They
	// are part of what trust covers. Opaque lists commands whose files could
	// not be determined.
	Uses, Opaque []string
	// Folders are files that say what to read, and folders where a further file may be
	// one of the policy's, as what matches one of the patterns in Globs is. Variables of
	// the environment stand in its texts; those of Unset would if they were set.
	Folders, Globs, Unset []string
	Variables             []EnvVar
	// Private is true where such a value, or one that the user set of an extension,
	// stands in its texts: it may be a secret.
	Private bool
}

// Fact is a fact of the host that `facts:` declares (semantics.md §2.8).
type Fact struct {
	Name string
	// Type is string, int, bool, list (of strings) or enum (one of Words).
	Type  string
	Words []string
	// Command is what prints the value, as a hook that is on no event; nil where the
	// host says it.
	Command *Hook
	// Env is the value in facts.env, nil if there is none.
	Env  *string
	Tier Tier
	Span diag.Span
}

// FileConfig is what a policy file sets for the hooks written in it.
type FileConfig struct {
	// Dir is the absolute folder relative paths start from.
	Dir  string
	Rego RegoConfig
	// Within is the folder outside which nothing may be read for its hooks, "" if there
	// is none: a project that nobody trusted.
	Within string
	// OnError are the written `defaults.on_error` by kind.
	OnError map[Kind]Posture
	// Model is the written default model of llm hooks.
	Model string
}

// RegoConfig is the `rego:` part of a policy file.
type RegoConfig struct {
	// Paths are files and folders of shared Rego, Data of JSON or YAML,
	// absolute.
	Paths, Data []diag.Text
	Open        []string // of Data, those that may come to have more
	// Forbid names builtins that may not be called; nil is the default set.
	Forbid []string
	// Version is v0 or v1; "" is v1.
	Version string
}

// Catalogue is the tools known to exist.
type Catalogue struct {
	// Known are names, Open globs of names that may exist without being
	// listed.
	Known, Open []string
	Span        diag.Span
}
