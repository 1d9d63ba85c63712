package policy

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// Tier says whose policy a hook belongs to: lower tiers are more trusted and
// come first (semantics.md §4.3, P2).
type Tier uint8

// The tiers, most trusted first.
const (
	TierBuiltin Tier = iota
	TierManaged
	TierUser
	TierExtension
	TierProject
	TierLocal
	TierSession
)

var tierNames = [...]string{"builtin", "managed", "user", "extension", "project", "local", "session"}

func (t Tier) String() string { return tierNames[t] }

// MarshalText makes a tier its name in JSON.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// TierNames lists the tiers, most trusted first.
func TierNames() []string { return tierNames[:] }

// ParseTier finds a tier by name.
func ParseTier(name string) (Tier, bool) {
	i := slices.Index(tierNames[:], name)
	return Tier(max(i, 0)), i >= 0
}

// Kind is what a hook's body is.
type Kind string

// The kinds of hook.
const (
	KindBash    Kind = "bash"
	KindLLM     Kind = "llm"
	KindRego    Kind = "rego"
	KindExpr    Kind = "expr"
	KindBuiltin Kind = "builtin"
)

var (
	kinds     = []string{string(KindBash), string(KindLLM), string(KindRego), string(KindExpr), string(KindBuiltin)}
	inProcess = []Kind{KindRego, KindExpr, KindBuiltin}
)

// AddKind adds a kind of hook, while the program is loaded.
func AddKind(k Kind, inside bool) {
	if kinds = append(kinds, string(k)); inside {
		inProcess = append(inProcess, k)
	}
}

// KindNames lists the words `type:` takes.
func KindNames() []string { return slices.Clip(kinds) }

// InProcess reports whether hooks of the kind are evaluated inside hookc, on
// the caller's goroutine.
//
//go:noinline
func (k Kind) InProcess() bool { return lists.Among(inProcess, k) }

// Protocol is the language a script speaks: what it reads on stdin and what
// its exit code, stdout and stderr mean (semantics.md §2.6). It is the id of
// the agent whose language it is.
type Protocol string

// The protocols that the rules of hookc itself name. The zero Protocol is
// jcli's, the canonical one; package agent has them all.
const (
	JCLIProtocol       Protocol = "jcli"
	AgentHooksProtocol Protocol = "agenthooks"
)

// World is a hook's use of the world outside the process that orders hooks
// (semantics.md §3).
type World uint8

// The worlds. WorldUnset is "not declared": the kind's default applies.
const (
	WorldUnset World = iota
	WorldNone
	WorldRead
	WorldWrite
)

var worldNames = [...]string{"", "none", "read", "write"}

func (w World) String() string { return worldNames[w] }

// MarshalText makes a world its name in JSON.
func (w World) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// ParseWorld reads none, read or write.
func ParseWorld(s string) (World, bool) {
	i := slices.Index(worldNames[:], s)
	return World(max(i, 0)), i > 0
}

// Declared are the effects an author wrote. A nil list is "not written",
// which differs from an empty one.
type Declared struct {
	Reads, Writes []diag.Text
	May           []diag.Text
	World         World
	Speculative   *bool
	// Pure is short for world none and speculative.
	Pure bool
	// Span is the first of the declarations.
	Span diag.Span
}

// Hook is one declared hook on one event. It is immutable once loaded; the
// compiler works on copies.
type Hook struct {
	// Name is unique within its event and tier; by default
	// `<tier>/<event>#<n>`.
	Name        string
	Description string
	Event       Event
	Kind        Kind
	Tier        Tier
	// Priority orders hooks within a tier, greater first; 100 by default.
	Priority int
	Locked   bool
	Disabled bool
	// Idle says why a disabled hook never runs, "" for enabled: false.
	Idle string
	// Off hooks have a name and no body: each switches off the hook of its name in
	// an earlier tier. They have no Kind.
	Off bool
	// Async hooks are started and not waited for.
	Async bool
	// Durable async hooks are put into a queue that outlives the process and the
	// machine, where there is one (hookcd).
	Durable bool
	// Recheck evaluates the hook again after the last hook that may rewrite
	// what it read.
	Recheck bool
	// Enforcement says whether what the hook says counts, Spared in how many of
	// 10,000 sessions it does not.
	Enforcement Enforcement
	Spared      uint16
	// Untrusted hooks are listed and never run; Why says what to do.
	Untrusted string

	Filter   Filter
	Body     Body
	Declared Declared

	// Timeout bounds one attempt; 0 is the kind's default.
	Timeout time.Duration
	// TimeoutSpan is where Timeout was written.
	TimeoutSpan diag.Span
	// Retry is how many further attempts follow a failed one; -1 is the
	// kind's default.
	Retry int
	// OnError and OnTimeout are PostureUnset when not written.
	OnError, OnTimeout Posture

	// Span is where the hook is written; its name or its first key.
	Span diag.Span
	// Dir is the folder of the policy file, absolute, or of the HOOK.md.
	Dir string
	// Segment is which of the projects of an event the hook is of, outermost
	// first; 0 also for hooks of no project.
	Segment int
	// Order is the hook's place in its tier's list of the event, from 0.
	Order int
	// Group is the parallel group the hook is a member of, or nil.
	Group *Group
	// File is what the hook's policy file sets for its own hooks.
	File *FileConfig
}

// Group is a `parallel:` item: its members see one snapshot and all run.
type Group struct {
	Name     string
	Priority int
	Fold     Fold
	Span     diag.Span
	Order    int
}

// Body is what a hook does: exactly one part, that of the hook's Kind, is
// meaningful.
type Body struct {
	// Bash.
	Command  diag.Text
	Protocol Protocol
	// Args, when set, is executed directly instead of `sh -c Command`: the
	// entry point of a HOOK.md folder and its arguments.
	Args []string
	Env  []EnvVar
	// Agent is what an agent's own configuration says of the hook besides.
	Agent AgentBody
	// Broken is why there is no hook to run, of one that could not be read: it
	// fails whenever its event fires, and on_error decides.
	Broken string
	// WorkDir is where the command runs; "" is the event's cwd.
	WorkDir string
	// Line is the text that the shell is given, "" for Command: its programs and
	// scripts have been found.
	Line string
	// Base is the folder in which its programs and scripts are found, and Root the
	// project's, of a command whose programs have been looked for; Root is "" where
	// the hook is no project's.
	Base, Root string
	// Imports are the folders of its Python scripts, from which those import.
	Imports []string
	// Standin runs in the place of the body when files that consent covers are
	// not what they were; nil is none.
	Standin *Standin

	// LLM.
	Prompt diag.Text
	Model  string

	// Rego: Source is the text, inline or read from File.
	Source diag.Text
	File   string
	// AllowIsOpinion: the package's `default allow := false` denies nothing.
	AllowIsOpinion bool

	// Expr.
	When  diag.Text
	Rules []Rule
	// Set and Context apply with the rules' verdicts when the hook fires.
	Set     []Assign
	Context diag.Text

	// Builtin.
	Use     diag.Text
	Options []Option

	// Load reads a body that was left on disk until needed (progressive
	// loading of HOOK.md), or nil. It returns the body and what is wrong
	// with it.
	Load func() (Body, diag.List)
}

// AgentBody is how an agent runs a hook of its own configuration, or hookc a
// hook in its place. The zero AgentBody is that of any other hook.
type AgentBody struct {
	// Emulate reads answers as the protocol's agent does, also where that lets
	// something through in silence.
	Emulate bool
	// Event is the agent's own name of the event, of a hook that its own
	// configuration declares: the hook's answers count where the agent would
	// take them and nowhere else. "" is any other hook.
	Event string
	// Sequential is true of a hook whose answer the next one sees.
	Sequential bool
	// Strict makes a failure of every exit status but 0 and the one that
	// blocks, whatever was printed.
	Strict bool
	// ContinueTurn lets the turn go on after a refusal of a model, where the
	// agent would end it.
	ContinueTurn bool
	// OnFailure is what the agent lets exit status 1 mean: skip, deny or ask.
	OnFailure Posture
}

// Standin is a body whose files are the copies that consent kept.
type Standin struct {
	Line    string
	Args    []string
	Env     []EnvVar
	WorkDir string
	Imports []string
	// Dir is the folder of the policy.
	Dir string
	// Root is that of the project. What lies above it says nothing.
	Root string
	// Seals are the files that must be alike for the body itself to run.
	Seals []Seal
}

// Seal is a file, or a folder with all that is in it, and the copy of it.
type Seal struct{ Live, Kept string }

// EnvVar is one variable of `env:`, in declaration order.
type EnvVar struct{ Name, Value string }

// Rule is one expr condition and what it says when it holds.
type Rule struct {
	// Says is the keyword: deny, ask, allow, skip or stop.
	Says      Powers
	Condition diag.Text
	Reason    diag.Text
	Span      diag.Span
}

// Assign is one entry of an expr hook's `set:`.
type Assign struct {
	Path  diag.Text
	Value diag.Text
}

// Option is one option of a builtin, still as written.
type Option struct {
	Key   diag.Text
	Value any
	Span  diag.Span
}

// Compare orders hooks as a policy does: tier, then priority, then place; with
// byPriority, priority before tier (semantics.md §4.3, P2). A group's members
// stay together in the group's place.
func Compare(a, b *Hook, byPriority bool) int {
	tier := CompareTiers(a, b)
	priority := cmp.Compare(b.itemPriority(), a.itemPriority())
	place := lists.First(cmp.Compare(a.itemOrder(), b.itemOrder()), cmp.Compare(a.Order, b.Order))
	if byPriority {
		return lists.First(priority, tier, place)
	}
	return lists.First(tier, priority, place)
}

// CompareTiers orders hooks by who wrote them: by tier, and the project and
// local tiers of one project before those of the next one inwards.
func CompareTiers(a, b *Hook) int {
	of := func(h *Hook) Tier {
		if h.Tier == TierLocal {
			return TierProject
		}
		return h.Tier
	}
	return lists.First(cmp.Compare(of(a), of(b)), cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Tier, b.Tier))
}

func (h *Hook) itemPriority() int {
	if h.Group != nil {
		return h.Group.Priority
	}
	return h.Priority
}

func (h *Hook) itemOrder() int {
	if h.Group != nil {
		return h.Group.Order
	}
	return h.Order
}

// DefaultPriority is the priority of a hook that names none.
const DefaultPriority = 100
