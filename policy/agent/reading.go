package agent

import (
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/pattern"
)

// Reading is how an agent reads the hooks in its settings, and what becomes of
// what it cannot use. One reader reads the settings of every agent by it.
type Reading struct {
	// Doc says in a line what is read, "" for the settings of the agent.
	Doc string
	// Called is what messages call the agent where its id will not do.
	Called string
	// Also are further files, as globs with the folders they stand in. A file
	// hooks/hooks.json beside the folder Plugins is a plugin's; PluginEnv names the
	// variable that holds the plugin's root for its hooks.
	Also               []string
	Plugins, PluginEnv string
	// Frontmatter is true when skills, commands and agents have hooks of their own.
	Frontmatter bool
	// Comments is true when a file may hold comments, GoesOn when a faithful reader
	// goes on without a file that it cannot read.
	Comments, GoesOn bool
	// References is the form of a variable of the environment in a text. Own are the
	// variables that the agent sets for its hooks: it reads its settings without them.
	References References
	Own        []string
	// Extension is the manifest of an extension, "" where there are none.
	Extension string
	// EventKey is where what is sent holds the agent's own name of the event, with
	// which hooks go where several of the agent's events are one; "" is nowhere.
	EventKey string
	// Rejects is true when one unknown event makes the agent reject the whole file.
	// Beside are keys among the events that are none; Gone those of older releases,
	// and GoneTo what took their place.
	Rejects bool
	Beside  []string
	Gone    []string
	GoneTo  string

	Matcher MatcherReading
	Hook    HookReading

	// Once is what makes two hooks of an event one, of which the first runs.
	Once Once
	// Races is true when all hooks start at once and nothing is said of two that
	// rewrite one call.
	Races bool
}

// References is the form of a variable of the environment in a text of settings. One
// that is not set stays as it is written.
type References uint8

// What may: nothing, $NAME and ${NAME}, or those and ${NAME:-default}.
const (
	NoReferences References = iota
	NamedReferences
	DefaultReferences
)

// Once is what makes two hooks of an event one.
type Once uint8

// What may make two hooks one: nothing, what they do, or their command and their
// timeout, which is then reported.
const (
	Always Once = iota
	OnceEach
	OnceCommand
)

// MatcherReading is how the text of a matcher is read, where [Matchers] does not
// say it. The texts said of a matcher that cannot be used are formats.
type MatcherReading struct {
	// Flavour is the language of expressions; nil leaves matchers to [Matchers].
	Flavour *pattern.Flavour
	// Whole is true when an expression must hold for the whole text, Star when * holds
	// for everything, Trim when space around a text does not count.
	Whole, Star, Trim bool
	Absent            Absent
	// Alias is a second name of a tool, which the first means too.
	Alias, AliasOf string
	// Servers is true when mcp__NAME is a server, and no tool's name.
	Servers bool
	// Loose is true when a text that is no expression is a name, and a matcher that
	// is no text makes the agent give up on the event.
	Loose bool
	// NotText is said with what there is, NotPattern with the text and the error,
	// Nothing with the event; "" has a text for all agents.
	NotText, NotPattern, Nothing string
}

// Absent is what a matcher on anything but a tool's name comes to when the event
// does not carry the value.
type Absent uint8

// What it may come to: it does not hold; it holds; it holds for an empty value as
// well; the value counts as an empty text.
const (
	AbsentFails Absent = iota
	AbsentHolds
	EmptyHolds
	AbsentIsEmpty
)

// HookReading is what a hook may be and say beside [Handler]. Keys are "" where
// the agent has none. TYPE in a text means the hook's type.
type HookReading struct {
	// Types are the types of hooks the agent runs, none where it looks at no type;
	// Typed is true when a hook must have one. NotRun is said of any other, with a
	// hint.
	Types              []string
	Typed              bool
	NotRun, NotRunHint string
	// Prompt is the type that asks a model, with PromptTimeout when none is written.
	Prompt        string
	PromptTimeout time.Duration
	// Fails are the types that only the agent itself can run, FailsOther is true
	// when all but the first of Types are. Such a hook fails each time: Failing is
	// said of it when it is read, Failure when it runs.
	Fails             []string
	FailsOther        bool
	Failing, FailHint string
	Failure           string
	// Exec is the key of a program that no shell starts, Args that of its arguments,
	// Shell that of the shell.
	Exec, Args, Shell string
	// Env and Dir are the keys of variables and of the folder, Async that of a hook
	// that is not waited for; AsyncQuiet says nothing where it can decide nothing.
	// AsyncUnbounded is true when its timeout does not count then.
	Env, Dir, Async            string
	AsyncQuiet, AsyncUnbounded bool
	Timeouts                   Timeouts
	// Unset is a variable that the agent's document shows and the agent never sets.
	Unset string
	// OpenOnly says that the release does not know [Handler].Closed.
	OpenOnly string
	// If is the key of a permission rule, in Claude Code's words, and IfAt the events
	// at which a hook may have one.
	If   string
	IfAt []string
}

// Timeouts is how odd timeouts are read.
type Timeouts uint8

// The ways: what is no positive number does not count; a long one is reported as
// meant in milliseconds besides; as JavaScript's timers do; and one of nothing or
// less ends the hook at once.
const (
	TimeoutsPlain Timeouts = iota
	TimeoutsSeconds
	TimeoutsJavaScript
	TimeoutsAtOnce
)

// At is what holds for the hooks of an agent's settings at one of its events. The
// zero At has nothing of its own: a matcher looks at the tool's name.
type At struct {
	// Field is what a matcher is held against in place of the tool's name; Raw is
	// the agent's key where no field has the value, of which Base takes the last
	// part of a path.
	Field policy.Field
	Raw   string
	Base  bool
	// Nothing is true where there is nothing to match.
	Nothing bool
	// Word is true when a matcher is compared as a whole, with Words where the
	// values are known. List and Separators are in place of those of [Matchers].
	Word             bool
	Words            []string
	List, Separators string
	// Called are the names by which a matcher may call the agent's tools besides.
	Called map[string]string
	// NoTypes are the types of hooks that the event does not take.
	NoTypes []string
	// Standard is the timeout when none is written, Most the longest.
	Standard, Most time.Duration
	// FailureRefuses and LateRefuses are true where a failure, or a timeout,
	// refuses. Ungated is true where [Handler].Closed has no effect.
	FailureRefuses, LateRefuses, Ungated bool
	// Async is true where no hook is waited for, Never where none is ever started.
	Async, Never bool
	// Loops is the key that bounds how often a hook keeps the agent going, by the
	// agent's count of it, and MaxLoops the bound when it is not written.
	Loops, LoopCount string
	MaxLoops         int
	// Missed are names of tools that do not cover what they seem to without Missing;
	// MissedText and MissedHint say so.
	Missed                          []string
	Missing, MissedText, MissedHint string
}

// At is what holds at an event by the agent's own name of it.
func (d *Agent) At(native string) At {
	for i := range d.allPoints() {
		if d.allPoints()[i].name == native {
			return d.allPoints()[i].at
		}
	}
	return At{}
}
