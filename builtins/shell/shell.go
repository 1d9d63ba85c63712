// Package shell says what a command line would do, without running it: the
// commands it holds and their effects on files, git, hosts and services.
package shell

import (
	"os"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
)

// A Line is what a command line would do, as far as that can be known without
// running it. The JSON names are those of `shell` in expr and `input.shell` in
// Rego. A Line is immutable and safe for concurrent reading.
//
// It errs on the side of too much: every command of every branch is listed,
// also one that a test would keep from running. What cannot be known is marked
// dynamic and is never left out.
type Line struct {
	// Commands are the simple commands in the order in which they are met,
	// wrappers (sudo, env, xargs …) and what they run each on their own.
	Commands []Command
	// Effects are what the commands would do to the world.
	Effects []Effect
	// Dynamic is true when some command, or a word of one, depends on what is
	// only known at run time.
	Dynamic bool
	// Unknown says why the text, or a part of it, could not be read; empty
	// when all of it was. Each entry is also an effect of kind unknown.
	Unknown []string
}

// Command is one simple command after quote removal and expansion.
type Command struct {
	// Name is the program without its directory, "" when it is not known.
	Name string
	// Argv are the words, the program as it was written first.
	Argv []Word
	// Flags are the words that begin with `-`, up to `--`: as they are, long
	// ones without their value, and bundles (-rf) letter by letter as well.
	Flags []string
	// Env are the assignments before the command.
	Env []Assign
	// Redirects are those of the command and of the groups around it.
	Redirects []Redirect
	// Dir is the absolute directory it runs in, "" when that is not known.
	Dir string
	// Via lists what the command is reached through, the outermost first: the
	// names of wrappers, and "substitution", "function", "trap", "stdin",
	// "heredoc", "unparsed".
	Via []string
	// Host is where it runs: "" for this machine, ssh:HOST, container:NAME,
	// pod:NAME.
	Host string
	// Pipe is the number of the pipeline it belongs to, from 1, and 0 outside
	// of one; Stage its place there, from 0.
	Pipe, Stage int
	// Conditional is true inside a branch, loop, or after && and ||.
	Conditional bool
	// Dynamic is true when a word is not wholly known.
	Dynamic bool
	// Offset is the byte in the command line where it begins. Commands of
	// nested code have the offset of the word that holds the code.
	Offset int
}

// Word is one word of a command. Parts that are not known stand in Text
// as they are written: $X, $(cmd).
type Word struct {
	Text string
	// Dynamic is true when a part is not known.
	Dynamic bool
	// Pattern is true when Text is a glob that the shell would expand.
	Pattern bool

	parts []shPart
}

// Assign is NAME=value before a command.
type Assign struct {
	Name  string
	Value Word
}

// Redirect is one redirection: Op is the operator (>, >>, <, <<, <<<, …),
// Fd the descriptor when it is written, Target the file, the descriptor or the
// delimiter.
type Redirect struct {
	Op     string
	Fd     string
	Target Word
	here   string
}

// Here is the text of a here-document.
func (r Redirect) Here() string { return r.here }

// EffectKind is what an effect does.
type EffectKind string

// The kinds of effects.
const (
	// EffectDelete removes the target for good.
	EffectDelete EffectKind = "delete"
	// EffectWrite creates or changes the target.
	EffectWrite EffectKind = "write"
	// EffectRead reads the target.
	EffectRead EffectKind = "read"
	// EffectExec runs code: Op says where the code comes from.
	EffectExec EffectKind = "exec"
	// EffectConnect talks to the host in Target.
	EffectConnect EffectKind = "connect"
	// EffectGitHistory loses commits, refs, stashes, or work that git does not
	// hold yet.
	EffectGitHistory EffectKind = "git-history"
	// EffectDevice writes to a device or its tables.
	EffectDevice EffectKind = "device"
	// EffectPrivilege gains rights, or gives them away.
	EffectPrivilege EffectKind = "privilege"
	// EffectUnknown is what could not be read: Op says why.
	EffectUnknown EffectKind = "unknown"
)

// Certainty says how well an effect's target is known.
type Certainty string

// The certainties.
const (
	// CertainKnown: exactly this target.
	CertainKnown Certainty = "known"
	// CertainPattern: whatever matches the glob in Target.
	CertainPattern Certainty = "pattern"
	// CertainDynamic: a part of Target is not known.
	CertainDynamic Certainty = "dynamic"
	// CertainIfUnset: this target if the variables that are not known are
	// empty: "$X/"* is /*.
	CertainIfUnset Certainty = "if_unset"
)

// Domain groups effects as the packs of shell-guard do.
type Domain string

// The domains.
const (
	DomainFile       Domain = "file"
	DomainGit        Domain = "git"
	DomainDisk       Domain = "disk"
	DomainPermission Domain = "permissions"
	DomainDatabase   Domain = "database"
	DomainContainer  Domain = "containers"
	DomainKubernetes Domain = "kubernetes"
	DomainCloud      Domain = "cloud"
	DomainSystem     Domain = "system"
	DomainPlatform   Domain = "platform"
	DomainNetwork    Domain = "network"
	DomainCode       Domain = "code"
	// DomainOutside is what a program nobody listed destroys, going by its words.
	DomainOutside Domain = "outside"
)

// Effect is one thing a command would do.
type Effect struct {
	Kind   EffectKind
	Domain Domain
	// Op names what is done, in a word or two joined with dashes: rm,
	// redirect, reset-hard, drop-table, remote-code. docs/reference/shell.md lists them.
	Op string
	// Target is an absolute path without `.` and `..`, a host, a ref, a
	// resource, or the kind and name of what is not a file.
	Target string
	// Written is a path as it was written, absolute: with its `..` and last slash. "" where Target says it all.
	Written string
	// Certainty says how well Target is known.
	Certainty Certainty
	// Place is where a path lies, "" for what is not a path.
	Place Zone
	// Secret says what secrets a file is known to hold, "" if there is none: ssh-key,
	// cloud-credentials, env-file, …
	Secret string
	// Recursive is true when everything below Target is meant.
	Recursive bool
	// Host is where it happens, as in Command.
	Host string
	// Command is the index of the command that does it, -1 for the whole text.
	Command int
	// Offset is the byte in the command line where that command begins.
	Offset int
}

// At is where a command line runs. The zero value of a directory is one
// that is not known.
type At struct {
	// Cwd and Root are the event's cwd and project_root.
	Cwd, Root string
	// Home and Temp are the user's home and the directory of temporary files.
	Home, Temp string
	// Shell is the shell that reads it when it is none of POSIX: powershell, cmd.
	Shell string
	// MaxBytes is the longest text that is read, 0 for 128 KiB.
	MaxBytes int
}

// Here is a place with this process's home and temporary directory.
func Here(cwd, projectRoot string) At {
	home, _ := os.UserHomeDir()
	return At{Cwd: paths.Slash(cwd), Root: paths.Slash(projectRoot), Home: paths.Slash(home), Temp: losses.Scratch(tempDirs, paths.Slash(os.TempDir()))}
}

// AnyCommand reports whether one of some commands is as asked for.
//
//go:noinline
func AnyCommand(list []Command, is func(c *Command) bool) bool { return lists.Some(list, is) }

// AnyEffect reports whether one of some effects is.
//
//go:noinline
func AnyEffect(list []Effect, is func(e *Effect) bool) bool { return lists.Some(list, is) }
