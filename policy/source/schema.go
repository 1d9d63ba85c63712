package source

import (
	"slices"
	"strconv"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// Place is a kind of map in hooks.yaml, which has keys of its own.
type Place string

// The places.
const (
	InFile     Place = "file"
	InDefaults Place = "defaults"
	InRego     Place = "rego"
	InTools    Place = "tools"
	InLog      Place = "log"
	InFact     Place = "fact"
	InDocument Place = "document"
	InApproval Place = "approval"
	InRequire  Place = "require"
	InWebhook  Place = "webhook"
	InEvent    Place = "event"
	InGroup    Place = "group"
	InHook     Place = "hook"
	InFilter   Place = "filter"
	InRule     Place = "rule"
)

// Places lists the places in the order a file is read.
func Places() []Place {
	return []Place{InFile, InDefaults, InRego, InTools, InLog, InFact, InDocument, InApproval, InRequire, InWebhook, InEvent, InGroup, InHook, InFilter, InRule}
}

// Type is what the value of a key may be.
type Type string

// The types.
const (
	TypeText  Type = "text"
	TypeTexts Type = "list of text"
	// TypeDocuments is a list of texts and of maps with more to say.
	TypeDocuments Type = "list of text or map"
	TypeWord      Type = "word"
	TypeExpr      Type = "expression"
	TypeBool      Type = "boolean"
	TypeInt       Type = "whole number"
	TypeCount     Type = "whole number from 0"
	TypeAtLeast1  Type = "whole number from 1"
	TypeDuration  Type = "duration"
	TypeMap       Type = "map"
	TypeList      Type = "list"
	// TypePostures is a posture, or a map from kind of hook to posture.
	TypePostures Type = "word, or map from kind to word"
	// TypeEnv is a map from name to any scalar.
	TypeEnv Type = "map to text"
	// TypeSeverities is a map from diagnostic code to severity.
	TypeSeverities Type = "map from code to word"
	// TypeShare is a share of the sessions, TypeRollouts a map from tier to an
	// enforcement or a share.
	TypeShare    Type = "share, such as 25%"
	TypeRollouts Type = "map from tier to word or share"
	// TypeExprs is a map from field to expression.
	TypeExprs Type = "map to expression"
)

// Version is that of the schema of hooks.yaml.
const Version = 1

// Key is one row of the schema of hooks.yaml (semantics.md §10): everything
// that readers, messages, editors and the reference page say about a key.
type Key struct {
	Place Place
	Name  string
	Type  Type
	// Words lists what a word may be; Also is a pattern of other spellings that
	// are read and not offered.
	Words []string
	Also  string
	// Kinds are the kinds of hook that take the key; empty is all.
	Kinds []policy.Kind
	// Infers is true when the key tells the kind of a hook without `type`.
	Infers bool
	// Default is what holds without the key, "" for nothing.
	Default string
	Note    string
}

var (
	bash    = []policy.Kind{policy.KindBash}
	llm     = []policy.Kind{policy.KindLLM}
	rego    = []policy.Kind{policy.KindRego}
	expr    = []policy.Kind{policy.KindExpr}
	builtin = []policy.Kind{policy.KindBuiltin}
)

var schema = lazy.Value(func() []Key {
	hookKeys[slices.IndexFunc(hookKeys, func(k Key) bool { return k.Name == "type" })].Words = policy.KindNames()
	return lists.Concat(fileKeys, approvalKeys, eventKeys, hookKeys, filterKeys, ruleKeys())
})

// AddKind adds a kind of hook, while the program is loaded. Its keys are options of
// its hooks (policy.Body.Options); no other kind has a key of their names.
func AddKind(kind policy.Kind, inProcess bool, keys ...Key) {
	policy.AddKind(kind, inProcess)
	for _, k := range keys {
		k.Place, k.Kinds = InHook, []policy.Kind{kind}
		hookKeys = append(hookKeys, k)
	}
}

var fileKeys = []Key{
	{Place: InFile, Name: "version", Type: TypeWord, Words: []string{strconv.Itoa(Version)}, Default: strconv.Itoa(Version), Note: "version of the schema"},
	{Place: InFile, Name: "enabled", Type: TypeBool, Default: "true", Note: "false switches the hooks of this file and of its includes off, and says so"},
	{Place: InFile, Name: "profile", Type: TypeWord, Words: agent.Protocols(), Also: `^[a-z][a-z_-]*(@.*)?$`, Note: "the agent the policy was written for; canonical rules hold all the same"},
	{Place: InFile, Name: "defaults", Type: TypeMap, Note: "what hooks of this file do that do not say otherwise"},
	{Place: InFile, Name: "rego", Type: TypeMap, Note: "what the Rego hooks of this file share"},
	{Place: InFile, Name: "tools", Type: TypeMap, Note: "the tools that exist, for unknown-tool findings"},
	{Place: InFile, Name: "facts", Type: TypeMap, Note: "what the host knows of who calls, by name: a type (string, int, bool) or a map"},
	{Place: InFile, Name: "severity", Type: TypeSeverities, Words: severity.Words(), Also: "^hint$", Note: "how bad check and lint find what a code reports; errors and what lets something guarded through cannot be lowered"},
	{Place: InFile, Name: "rollout", Type: TypeRollouts, Words: enforcements, Note: "the most that hooks of a tier may do, by tier: its own, or one that is trusted less; enforce, warn, dryrun, or the share of sessions in which they are in force"},
	{Place: InFile, Name: "log", Type: TypeMap, Note: "the decision log: whether there is one, and what is masked; the strictest of all tiers holds"},
	{Place: InFile, Name: "include", Type: TypeTexts, Note: "files or globs read at this place, in the same tier; relative to the file"},

	{Place: InDefaults, Name: "chain_timeout", Type: TypeDuration, Default: "30s", Note: "total time of one event, retries included"},
	{Place: InDefaults, Name: "max_concurrent", Type: TypeAtLeast1, Default: "8", Note: "processes one event runs at a time"},
	{Place: InDefaults, Name: "max_models", Type: TypeAtLeast1, Default: "4", Note: "model calls one event makes at a time"},
	{Place: InDefaults, Name: "on_error", Type: TypePostures, Words: policy.PostureNames(), Also: "^stop$", Default: "bash and llm: skip; rego and expr: deny at guard events, else skip", Note: "what a failure means"},
	{Place: InDefaults, Name: "model", Type: TypeText, Default: "HOOKC_MODEL, else the provider's own: gpt-4o-mini, claude-haiku-4-5", Note: "model of llm hooks"},
	{Place: InDefaults, Name: "timeout", Type: TypeDuration, Default: "bash 10s, llm 30s", Note: "time of one attempt of a bash or llm hook"},
	{Place: InDefaults, Name: "enforcement", Type: TypeWord, Words: enforcements, Default: "enforce", Note: "enforcement of hooks that say none"},
	{Place: InDefaults, Name: "rollout", Type: TypeShare, Default: "100%", Note: "rollout of hooks that say none"},

	{Place: InRego, Name: "paths", Type: TypeTexts, Note: "files and folders of shared Rego, relative to the file"},
	{Place: InRego, Name: "data", Type: TypeDocuments, Note: "JSON or YAML files under data, relative to the file; each its name, or a map"},
	{Place: InRego, Name: "forbid", Type: TypeTexts, Default: "http.send, net.lookup_ip_addr, opa.runtime", Note: "builtins that may not be called"},
	{Place: InRego, Name: "version", Type: TypeWord, Words: []string{"v0", "v1"}, Default: "v1", Note: "version of the Rego language"},

	{Place: InDocument, Name: "file", Type: TypeText, Note: "name of the file or folder"},
	{Place: InDocument, Name: "open", Type: TypeBool, Default: "false", Note: "true: it may come to have more, so that a path that it does not have is no mistake"},

	{Place: InTools, Name: "known", Type: TypeTexts, Note: "names of tools"},
	{Place: InTools, Name: "open", Type: TypeTexts, Note: "globs of names that may exist without being listed"},

	{Place: InLog, Name: "enabled", Type: TypeBool, Default: "off until a tier or `hookc log enable` says so", Note: "keep a record of every decision; the most trusted tier that says it decides"},
	{Place: InLog, Name: "on_error", Type: TypeWord, Words: []string{"warn", "deny"}, Default: "warn", Note: "what becomes of a guarded action whose decision cannot be logged"},
	{Place: InLog, Name: "durable", Type: TypeBool, Default: "false", Note: "answer only when the entry is on the disk"},
	{Place: InLog, Name: "keep_days", Type: TypeAtLeast1, Default: "30", Note: "older entries are taken away"},
	{Place: InLog, Name: "keep_mb", Type: TypeAtLeast1, Default: "1024", Note: "of more than that the oldest entries are taken away"},
	{Place: InLog, Name: "mask", Type: TypeTexts, Note: "JSON pointers into an entry of what a keyed hash means; * is any member"},
	{Place: InLog, Name: "mask_when", Type: TypeExprs, Note: "the same, where an expression over the event holds"},
	{Place: InLog, Name: "drop", Type: TypeTexts, Note: "events that are not logged"},
	{Place: InLog, Name: "drop_when", Type: TypeExpr, Note: "an event that is not logged, where the expression holds"},
	{Place: InLog, Name: "rego", Type: TypeTexts, Note: "Rego files with rules mask and drop, as OPA's decision log has them; input is the entry"},
	{Place: InLog, Name: "checkpoints", Type: TypeText, Note: "file to which signed checkpoints are appended too: an absolute path; the user's and the managed tier say it"},

	{Place: InFact, Name: "type", Type: TypeWord, Words: []string{"string", "int", "bool"}, Default: "string", Note: "type of the value"},
	{Place: InFact, Name: "list", Type: TypeWord, Words: []string{"string"}, Note: "the value is a list of these"},
	{Place: InFact, Name: "enum", Type: TypeTexts, Note: "the value is one of these words"},
	{Place: InFact, Name: "command", Type: TypeText, Note: "prints the value, once a session; without it the host says it"},
}

var eventKeys = []Key{
	{Place: InEvent, Name: "strategy", Type: TypeWord, Words: lists.Concat(policy.StrategyNames(), agent.Profiles()), Also: `^[a-z]+@`, Default: "chain, unless the event has its own",
		Note: "how the hooks of the event combine; an agent's id: as that agent combines its own"},
	{Place: InEvent, Name: "chain_timeout", Type: TypeDuration, Default: "defaults.chain_timeout", Note: "total time of the event"},
	{Place: InEvent, Name: "order", Type: TypeWord, Words: []string{"tier", "priority"}, Default: "tier", Note: "whether tier or priority orders first"},
	{Place: InEvent, Name: "hooks", Type: TypeList, Note: "the hooks, in order"},

	{Place: InGroup, Name: "name", Type: TypeText, Note: "name of the group in explain"},
	{Place: InGroup, Name: "parallel", Type: TypeList, Note: "the members: hooks that see one snapshot and all run"},
	{Place: InGroup, Name: "fold", Type: TypeWord, Words: []string{"max", "last"}, Default: "max", Note: "which member's verdict holds"},
	{Place: InGroup, Name: "priority", Type: TypeInt, Default: "100", Note: "place of the group in its tier, greater first"},
}

var hookKeys = []Key{
	{Place: InHook, Name: "name", Type: TypeText, Default: "<tier>/<event>#<n>", Note: "unique within tier and event; a later tier's hook of the same name replaces this one"},
	{Place: InHook, Name: "description", Type: TypeText, Note: "for people"},
	{Place: InHook, Name: "type", Type: TypeWord, Also: "^" + KindAlias + "$", Default: "told by the other keys", Note: "kind of hook; shell is another name of bash"},
	{Place: InHook, Name: "priority", Type: TypeInt, Default: "100", Note: "place in the tier, greater first"},
	{Place: InHook, Name: "enabled", Type: TypeBool, Default: "true", Note: "false keeps the hook listed and never runs it"},
	{Place: InHook, Name: "locked", Type: TypeBool, Default: "false", Note: "less trusted tiers cannot replace the hook by name"},
	{Place: InHook, Name: "async", Type: TypeBool, Default: "false", Note: "start it and do not wait; its output is ignored"},
	{Place: InHook, Name: "durable", Type: TypeBool, Default: "false", Note: "with async: kept in hookcd's queue until it has run, and run again when it fails; without hookcd it is started once, and the Decision says so (HK173)"},
	{Place: InHook, Name: "recheck", Type: TypeBool, Default: "false", Note: "evaluate again after the last hook that may rewrite what it read"},
	{Place: InHook, Name: "enforcement", Type: TypeWord, Words: enforcements, Default: "enforce", Note: "warn and dryrun evaluate the hook and obey nothing it says: the Decision says what it would have been, warn tells the user too"},
	{Place: InHook, Name: "rollout", Type: TypeShare, Default: "100%", Note: "the share of sessions in which the hook is in force, chosen by the session's id; in the others it is as under dryrun"},
	{Place: InHook, Name: "filter", Type: TypeMap, Note: "when the hook applies; all conditions must hold"},
	{Place: InHook, Name: "timeout", Type: TypeDuration, Default: "bash 10s, llm 30s", Note: "time of one attempt"},
	{Place: InHook, Name: "retry", Type: TypeCount, Default: "bash 0, llm 1", Note: "further attempts after a failure"},
	{Place: InHook, Name: "on_error", Type: TypeWord, Words: policy.PostureNames(), Also: "^stop$", Default: "defaults.on_error", Note: "what a failure means; stop is another name of abort"},
	{Place: InHook, Name: "on_timeout", Type: TypeWord, Words: policy.PostureNames(), Also: "^stop$", Default: "on_error", Note: "what a failure by time means"},
	{Place: InHook, Name: "reads", Type: TypeTexts, Default: "inferred for rules and prompts, else everything", Note: "the fields the hook is given"},
	{Place: InHook, Name: "writes", Type: TypeTexts, Default: "inferred for rules, else everything", Note: "the fields the hook may change"},
	{Place: InHook, Name: "may", Type: TypeTexts, Default: "inferred for rules, else everything", Note: "the verdicts and controls the hook may say; [] only observes"},
	{Place: InHook, Name: "world", Type: TypeWord, Words: []string{"none", "read", "write"}, Default: "bash write, others none", Note: "use of the world outside the process"},
	{Place: InHook, Name: "speculative", Type: TypeBool, Default: "rules true, others false", Note: "may be started before it is known to be needed"},
	{Place: InHook, Name: "pure", Type: TypeBool, Default: "false", Note: "short for world: none and speculative: true"},

	{Place: InHook, Name: "command", Type: TypeText, Kinds: bash, Infers: true, Note: "run by sh -c in the event's cwd"},
	{Place: InHook, Name: "protocol", Type: TypeWord, Words: agent.Protocols(), Also: `^[a-z][a-z_-]*(@.*)?$`, Kinds: bash, Default: "jcli", Note: "what exit code, stdout and stderr mean"},
	{Place: InHook, Name: "native_event", Type: TypeText, Kinds: bash, Note: "the agent's own name of the event, of a hook that its configuration declared: what it says counts where the agent would hear it and nowhere else"},
	{Place: InHook, Name: "cwd", Type: TypeText, Kinds: bash, Default: "the event's cwd", Note: "folder the command runs in, relative to the policy file"},
	{Place: InHook, Name: "env", Type: TypeEnv, Kinds: bash, Note: "variables added to the environment"},

	{Place: InHook, Name: "prompt", Type: TypeText, Kinds: llm, Infers: true, Note: "template; {{field}} means a field"},
	{Place: InHook, Name: "model", Type: TypeText, Kinds: llm, Default: "defaults.model", Note: "the model to ask"},

	{Place: InHook, Name: "source", Type: TypeText, Kinds: rego, Infers: true, Note: "Rego text"},
	{Place: InHook, Name: "file", Type: TypeText, Kinds: rego, Infers: true, Note: "Rego file, relative to the policy file"},

	{Place: InHook, Name: "deny", Type: TypeExpr, Kinds: expr, Infers: true, Note: "refuses when it holds"},
	{Place: InHook, Name: "ask", Type: TypeExpr, Kinds: expr, Infers: true, Note: "asks the user when it holds"},
	{Place: InHook, Name: "defer", Type: TypeExpr, Kinds: expr, Infers: true, Note: "leaves it to an approver outside when it holds"},
	{Place: InHook, Name: "allow", Type: TypeExpr, Kinds: []policy.Kind{policy.KindExpr, policy.KindRego}, Infers: true, Note: "approves when it holds; of a rego hook: opinion, so that default allow := false denies nothing"},
	{Place: InHook, Name: "skip", Type: TypeExpr, Kinds: expr, Infers: true, Note: "leaves the step when it holds"},
	{Place: InHook, Name: "stop", Type: TypeExpr, Kinds: expr, Infers: true, Note: "leaves the sub-pipeline when it holds"},
	{Place: InHook, Name: "halt", Type: TypeExpr, Kinds: expr, Infers: true, Note: "ends the turn when it holds"},
	{Place: InHook, Name: "reason", Type: TypeText, Kinds: expr, Note: "told with the verdict of rules without a reason of their own"},
	{Place: InHook, Name: "rules", Type: TypeList, Kinds: expr, Infers: true, Note: "several rules; the most restrictive that holds decides"},
	{Place: InHook, Name: "set", Type: TypeExprs, Kinds: expr, Infers: true, Note: "fields to change, by path"},
	{Place: InHook, Name: "context", Type: TypeExpr, Kinds: expr, Infers: true, Note: "text added to the model's context"},
	{Place: InHook, Name: "message", Type: TypeExpr, Kinds: expr, Infers: true, Note: "text shown to the user; set.system_message"},
	{Place: InHook, Name: "feedback", Type: TypeExpr, Kinds: expr, Infers: true, Note: "what the model is told to do better; set.retry_feedback"},
	{Place: InHook, Name: "inject", Type: TypeExpr, Kinds: expr, Infers: true, Note: "list of messages added to the conversation; set.inject_messages"},
	{Place: InHook, Name: "modified_input", Type: TypeExpr, Kinds: expr, Infers: true, Note: "object in the place of the whole tool_input, into which set merges"},
	{Place: InHook, Name: "when", Type: TypeExpr, Kinds: expr, Note: "condition of everything else in the hook"},

	{Place: InHook, Name: "use", Type: TypeText, Kinds: builtin, Infers: true, Note: "name of a builtin guard; its options are further keys of the hook"},
}

var filterKeys = []Key{
	{Place: InFilter, Name: "tool_name", Type: TypeText, Note: "the tool's exact name"},
	{Place: InFilter, Name: "tool_matcher", Type: TypeText, Note: "A|B: one of these names; ignored beside tool_name"},
	{Place: InFilter, Name: "tool_pattern", Type: TypeText, Note: "regular expression (RE2) found anywhere in the tool's name; ^ and $ anchor it"},
	{Place: InFilter, Name: "tool_kind", Type: TypeText, Note: "the kind of tool: shell, read, write, edit, search, fetch, agent, mcp or other"},
	{Place: InFilter, Name: "model_prefix", Type: TypeText, Note: "how the model's name begins"},
	{Place: InFilter, Name: "path", Type: TypeText, Note: "glob on the file a call is about"},
	{Place: InFilter, Name: "command", Type: TypeText, Note: "regular expression (RE2) on the command line of a call"},
	{Place: InFilter, Name: "pattern", Type: TypeText, Note: "regular expression (RE2) on each text in tool_input"},
	{Place: InFilter, Name: "input_pattern", Type: TypeText, Note: "regular expression (RE2) on each text in tool_input, or else on its JSON"},
	{Place: InFilter, Name: "source", Type: TypeText, Note: "what started the session or compaction"},
	{Place: InFilter, Name: "reason", Type: TypeText, Note: "A|B: why the session ended"},
	{Place: InFilter, Name: "trigger", Type: TypeText, Note: "A|B: what triggered a compaction"},
	{Place: InFilter, Name: "notification_type", Type: TypeText, Note: "A|B: kind of notification"},
	{Place: InFilter, Name: "agent", Type: TypeText, Note: "type of the agent"},
	{Place: InFilter, Name: "permission_mode", Type: TypeText, Note: "the agent's permission mode"},
	{Place: InFilter, Name: "not_permission_mode", Type: TypeText, Note: "A|B: in none of these permission modes"},
	{Place: InFilter, Name: "paths", Type: TypeText, Note: "A|B: globs as ClawdCode reads them, on the file that tool_input names (file_path, path, filePath, file, target); a call that names none passes"},
	{Place: InFilter, Name: "commands", Type: TypeText, Note: "A|B, or a regular expression (ECMAScript) on the whole command of Bash or Shell, as ClawdCode reads it; other calls pass"},
	{Place: InFilter, Name: "missing", Type: TypeWord, Words: []string{"fail", "match", "match-empty"}, Default: "fail", Note: "what a condition makes of a field that the event does not carry; match-empty: or carries as an empty text"},
}

// ruleKeys are the hook's own keywords, one of them for each rule.
func ruleKeys() []Key {
	var out []Key
	for _, k := range hookKeys {
		if _, says := policy.ParsePower(k.Name); says {
			out = append(out, Key{Place: InRule, Name: k.Name, Type: k.Type, Note: k.Note})
		}
	}
	return append(out, Key{Place: InRule, Name: "reason", Type: TypeText, Default: "the hook's reason", Note: "told with the verdict"})
}

// Schema is every key of hooks.yaml, place by place.
//
//go:noinline
func Schema() []Key { return lists.Copy(schema()) }

type placed struct {
	place Place
	name  string
}

var schemaIndex = lazy.Value(func() map[placed]*Key {
	schema := schema()
	index := make(map[placed]*Key, len(schema))
	for i := range schema {
		at := placed{schema[i].Place, schema[i].Name}
		if index[at] != nil {
			panic("source: key " + at.name + " of " + string(at.place) + " is in the schema twice")
		}
		index[at] = &schema[i]
	}
	return index
})

// FindKey is the row of a key, or nil.
//
//go:noinline
func FindKey(p Place, name string) *Key { return schemaIndex()[placed{p, name}] }

// keyNames lists the keys of a place that hooks of a kind take; "" is every
// kind.
func keyNames(p Place, kind policy.Kind) []string {
	var out []string
	for _, k := range schema() {
		if k.Place == p && k.takes(kind) {
			out = append(out, k.Name)
		}
	}
	return out
}

//go:noinline
func (k *Key) takes(kind policy.Kind) bool {
	return kind == "" || len(k.Kinds) == 0 || lists.Among(k.Kinds, kind)
}
