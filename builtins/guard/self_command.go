package guard

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// selfReads are the commands of hookc that an agent may run, with the options
// that would make them write: to a file that is named (`=`), or at all. A command
// that is not listed is judged as one that weakens hookc.
var selfReads = map[string]string{
	"bench": "", "check": "", "compile": "-o= --output=", "completion": "", "convert": "-o= --output=", "diff": "", "doctor": "", "explain": "",
	"fmt": "-w --write", "help": "", "hooks": "", "lint": "", "list": "", "replay": "", "run": "", "schema": "", "test": "", "version": "", "prove": "", "lsp": "", "impact": "",
	"serve status": "", "serve metrics": "", "log tail": "", "log show": "", "log stats": "", "log grep": "", "log export": "-o= --output=", "log verify": "",
	"approvals list": "", "approvals show": "", "approvals watch": "", "bundle verify": "", "bundle inspect": "",
}

// selfDry are commands that only show what they would do, with the option that
// says so.
var selfDry = map[string]string{"trust": "--check", "install": "--dry-run", "uninstall": "--dry-run"}

// SelfCommand reports how a command of hookc is judged: reads is false for one
// that may weaken hookc. flag is the option with which it does not, or "".
func SelfCommand(words ...string) (reads bool, flag string) {
	for n := len(words); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if _, ok := selfReads[name]; ok {
			return true, ""
		}
		if flag, ok := selfDry[name]; ok {
			return false, flag
		}
	}
	return false, ""
}

// command judges a command by what it does to hookc's programs and processes.
func (c *selfCall) command(s *shell.Line, cmd *shell.Command, depth int) {
	if stoppers[cmd.Name] {
		c.stops(s, cmd)
		return
	}
	switch cmd.Name {
	case "git", "hub":
		c.git(s, cmd)
		return
	}
	if c.isHookc(cmd) || len(cmd.Argv) > 1 && c.madeHere(s, cmd) {
		c.hookc(s, cmd)
		return
	}
	listed := lists.Has(cmd.Via, "xargs")
	if lists.Some(cmd.Argv, func(w *shell.Word) bool { return w.Dynamic || listed && w.Pattern }) && movesFiles(cmd.Name) && mentionsHookc(s) {
		c.weakens(cmd, "copies or moves a file that may be hookc")
		return
	}
	files, whole, known := filesOf(cmd)
	if !known {
		c.patches(cmd)
	}
	for _, f := range files {
		c.path(f, whole)
	}
	c.script(cmd, depth)
}

// stoppers are programs that end processes.
var stoppers = map[string]bool{"kill": true, "pkill": true, "killall": true, "skill": true, "fuser": true, "xkill": true, "systemctl": true, "launchctl": true, "service": true}

// byName judges a command by its words alone, but for those that are let through.
func (c *selfCall) byName(s *shell.Line, cmd *shell.Command, lets func(*shell.Command) bool) {
	switch {
	case len(cmd.Argv) == 0 || cmd.Host != "" || lets(cmd):
	case stoppers[cmd.Name]:
		c.stops(s, cmd)
	case !cmd.Argv[0].Pattern && c.isHookc(cmd):
		c.hookc(s, cmd)
	case shell.WordIn(cmd.Name, "export declare typeset setenv alias hash") && lists.Some(cmd.Argv, func(w *shell.Word) bool {
		return strings.HasPrefix(w.Text, "HOOKC_") || strings.HasPrefix(w.Text, "hookc=")
	}):
		c.weakens(cmd, "changes what hookc is, or how it is set")
	case movesFiles(cmd.Name) && shadows(cmd.Argv), takesHookc(cmd):
		c.weakens(cmd, "takes hookc away, or puts something in its place")
	}
}

// shadows reports whether a command gives something else the name of hookc.
func shadows(argv []shell.Word) bool {
	last := len(argv) - 1
	return last > 1 && isOwnName(path.Base(argv[last].Text)) && !strings.Contains(argv[last-1].Text, "hook")
}

// takesHookc reports whether a command with hookc among its words has a verb that takes away.
func takesHookc(cmd *shell.Command) bool {
	if shell.WordIn(cmd.Name, "git gh echo printf") || losses.TextPrograms()[cmd.Name] {
		return false
	}
	return lists.Some(cmd.Argv, func(w *shell.Word) bool { return isOwnName(strings.SplitN(w.Text, "@", 2)[0]) }) &&
		(shell.WordIn(cmd.Name, "hash setcap dpkg-divert update-alternatives") || lists.Some(cmd.Argv[1:], func(w *shell.Word) bool {
			verb, _ := losses.Verb(w.Text)
			return losses.Takes()[verb] || losses.Destroys()[verb] || w.Is("disable", "unlink")
		}))
}

// movesFiles reports whether a program gives files other names.
func movesFiles(name string) bool {
	return shell.WordIn(name, "cp gcp mv gmv ln gln link install ginstall dd rsync cat")
}

// isHookc reports whether a command is hookc or hookgate, whatever it is called
// here.
func (c *selfCall) isHookc(cmd *shell.Command) bool {
	if len(cmd.Argv) == 0 {
		return false
	}
	if isOwnName(cmd.Name) {
		return true
	}
	text := cmd.Argv[0].Text
	if cmd.Name == "go" && len(cmd.Argv) > 2 && cmd.Argv[1].Is("run") {
		return lists.Some(cmd.Argv[2:], func(w *shell.Word) bool { return isOwnName(strings.SplitN(w.Text, "@", 2)[0]) })
	}
	if cmd.Argv[0].Pattern && !cmd.Argv[0].Dynamic {
		return c.globIsHookc(cmd.Dir, text)
	}
	if !strings.ContainsAny(text, `/\`) || cmd.Argv[0].Dynamic {
		return false
	}
	p := posix.Absolute(cmd.Dir, text)
	return p != "" && c.own.isProgram(p)
}

// hookc judges a command of hookc by an open list of those that only look.
func (c *selfCall) hookc(s *shell.Line, cmd *shell.Command) {
	if name := setsHookc(s); name != "" {
		c.weakens(cmd, "sets "+name+" for hookc")
		return
	}
	if isOwnName(cmd.Name) && strings.HasPrefix(strings.ToLower(cmd.Name), "hookgate") {
		return
	}
	args := cmd.Argv[1:]
	if cmd.Name == "go" {
		i := lists.At(args, func(w *shell.Word) bool { return isOwnName(strings.SplitN(w.Text, "@", 2)[0]) })
		args = args[i+1:]
	}
	var words []string
	for _, w := range args {
		if w.Dynamic && len(words) < 2 && !strings.HasPrefix(w.Text, "-") {
			c.weakens(cmd, "runs a command of hookc that only the running shell knows")
			return
		}
		if !strings.HasPrefix(w.Text, "-") && len(words) < 2 {
			words = append(words, w.Text)
		}
	}
	has := func(flag string) bool {
		return lists.Some(args, func(w *shell.Word) bool {
			name, value, set := spell.Cut(w.Text, "=")
			return name == flag && (!set || value != "false" && value != "0")
		})
	}
	reads, dry := SelfCommand(words...)
	if len(words) == 0 || has("--help") || has("-h") || dry != "" && has(dry) {
		return
	}
	if !reads {
		c.weakens(cmd, "changes which hooks run, or what is recorded of them")
		return
	}
	c.hookcWrites(cmd, words, args)
}

// hookcWrites judges the options with which a command that only looks writes.
func (c *selfCall) hookcWrites(cmd *shell.Command, words []string, args []shell.Word) {
	flags := ""
	for n := len(words); n > 0 && flags == ""; n-- {
		flags = selfReads[strings.Join(words[:n], " ")]
	}
	for _, flag := range strings.Fields(flags) {
		name, valued := spell.CutSuffix(flag, "=")
		for i, w := range args {
			rest, ok := spell.CutPrefix(w.Text, name)
			short := len(name) == 2 && len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, name[1:])
			switch {
			case !ok && !short:
			case !valued:
				c.weakens(cmd, "rewrites the policy")
				return
			default:
				if rest = strings.TrimPrefix(rest, "="); (rest == "" || !ok) && i+1 < len(args) {
					rest, w = args[i+1].Text, args[i+1]
				}
				if p := posix.Absolute(cmd.Dir, rest); p == "" || w.Dynamic {
					c.weakens(cmd, "writes a file that cannot be told")
				} else {
					c.path(p, false)
				}
			}
		}
	}
}

func (c *selfCall) weakens(cmd *shell.Command, what string) {
	c.says.add(c.g.verdict, func() string {
		return fmt.Sprintf("%q %s, and hookc guards this session; instead: look with `hookc hooks status`, and tell the user which command you suggest and why",
			shown(strings.Join(shell.WordTexts(cmd.Argv), " ")), what)
	})
}

// setsHookc returns a variable of hookc's that a command line sets, "" if there is none.
func setsHookc(s *shell.Line) string {
	for _, w := range lineWords(s) {
		if name, _, ok := spell.Cut(w, "="); ok && strings.HasPrefix(name, "HOOKC_") {
			return name
		}
	}
	return ""
}

// lineWords are the words of all commands of a line, and their variables.
func lineWords(s *shell.Line) (out []string) {
	for i := range s.Commands {
		out = append(out, commandWords(&s.Commands[i])...)
	}
	return out
}

// stops judges commands that end processes.
func (c *selfCall) stops(s *shell.Line, cmd *shell.Command) {
	args := cmd.Argv[min(1, len(cmd.Argv)):]
	if shell.HasFlag(args, "-l", "-L", "--list", "--help") && cmd.Name == "kill" || shell.HasFlag(args, "-0") {
		return
	}
	if shell.WordIn(cmd.Name, "systemctl launchctl service") && shell.HasFlag(args, "status", "is-active", "is-enabled", "show", "cat", "list", "print", "list-units", "list-unit-files") {
		return
	}
	for _, w := range args {
		if w.Dynamic && mentionsHookc(s) || c.stopsWord(cmd, w.Text) {
			c.weakens(cmd, "ends a process of hookc")
			return
		}
	}
}

// stopsWord reports whether an argument of a command that ends processes means
// one of hookc's.
func (c *selfCall) stopsWord(cmd *shell.Command, text string) bool {
	lower := strings.ToLower(text)
	if strings.Contains(lower, "hookc") || strings.Contains(lower, "hookgate") {
		return true
	}
	switch cmd.Name {
	case "kill", "skill":
		if text == "-1" {
			return cmd.Argv[len(cmd.Argv)-1].Is("-1")
		}
		pid, err := strconv.Atoi(strings.TrimPrefix(text, "-"))
		return err == nil && pid > 1 && (text[0] != '-' || len(cmd.Argv) > 2 && pid > 64) && c.ownProcess(pid)
	case "pkill", "killall":
		if strings.HasPrefix(text, "-") {
			return false
		}
		re, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return true
		}
		if cmd.Name == "killall" && !lists.Has(cmd.Flags, "-r") {
			return false
		}
		return re.MatchString("hookc") || re.MatchString("hookgate") || lists.Has(cmd.Flags, "-f") && re.MatchString("hookc serve")
	case "fuser":
		if p := posix.Absolute(cmd.Dir, text); p != "" && lists.Has(cmd.Flags, "-k") {
			_, ok := c.own.holds(p, c.at)
			return ok
		}
	}
	return false
}

// ownProcess reports whether a process is one of hookc's, where the system says
// which program a process runs.
func (c *selfCall) ownProcess(pid int) bool {
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return err == nil && c.own.isProgram(strings.TrimSuffix(exe, " (deleted)"))
}

// mentionsHookc reports whether a word of a command line names hookc.
func mentionsHookc(s *shell.Line) bool {
	return slices.ContainsFunc(lineWords(s), func(w string) bool {
		lower := strings.ToLower(w)
		return strings.Contains(lower, "hookc") || strings.Contains(lower, "hookgate") || strings.Contains(lower, "[h]ook")
	})
}

// maxScripts bounds how deep scripts that run scripts are read.
const maxScripts = 3

// script reads a script that a command runs, and judges what it would do.
func (c *selfCall) script(cmd *shell.Command, depth int) {
	if depth >= maxScripts || len(cmd.Argv) == 0 || cmd.Argv[0].Dynamic {
		return
	}
	p, lang := scriptOf(cmd)
	if p == "" {
		return
	}
	text, ok := scriptText(p)
	if !ok {
		return
	}
	if lang == "" {
		lang = scriptLanguage(text)
	}
	line, at := text, *c.at
	switch lang {
	case "":
		return
	case "sh":
	case "powershell", "cmd":
		at.Shell = lang
	default:
		line = lang + " " + quoting.Quote(text)
	}
	at.Cwd, at.MaxBytes = cmd.Dir, 4*maxScript
	c.shell(shell.Parse(line, at), false, depth+1)
}

// scriptOf is the script that a command runs and what it is written in, "" where
// the script says it itself.
func scriptOf(cmd *shell.Command) (p, lang string) {
	first := func() string {
		for _, w := range cmd.Argv[1:] {
			switch {
			case w.Dynamic:
				return ""
			case !strings.HasPrefix(w.Text, "-"):
				return posix.Absolute(cmd.Dir, w.Text)
			case w.Is("-c", "-e", "-m", "-s", "-p"):
				return ""
			}
		}
		return ""
	}
	switch name := shell.Versionless(cmd.Name); {
	case shell.Shells()[cmd.Name], cmd.Name == ".", cmd.Name == "source":
		return first(), "sh"
	case languages[name] != "":
		return first(), languages[name]
	case shell.DialectOf(cmd.Name) != "":
		return first(), languages[path.Ext(first())]
	case strings.Contains(cmd.Argv[0].Text, "/"):
		return posix.Absolute(cmd.Dir, cmd.Argv[0].Text), languages[path.Ext(cmd.Argv[0].Text)]
	}
	return "", ""
}

// languages are the interpreters whose programs are read, with the command that
// takes a program as its argument, and the scripts of other shells.
var languages = map[string]string{".ps1": "powershell", ".bat": "cmd", ".cmd": "cmd", "python": "python3 -c", "node": "node -e", "nodejs": "node -e", "perl": "perl -e", "ruby": "ruby -e"}

// scriptLanguage tells a script's language by its first line; one without such a
// line is the shell's.
func scriptLanguage(text string) string {
	line, _, _ := spell.Cut(text, "\n")
	if !strings.HasPrefix(line, "#!") {
		return "sh"
	}
	fields := strings.Fields(line[2:])
	for len(fields) > 0 && (path.Base(fields[0]) == "env" || strings.HasPrefix(fields[0], "-")) {
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return ""
	}
	name := path.Base(fields[0])
	if shell.Shells()[name] {
		return "sh"
	}
	return languages[shell.Versionless(name)]
}
