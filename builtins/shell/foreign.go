package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/winshell"
)

// DialectOf is the shell that a tool takes the code of, as its name or its own word for it says; "" for a POSIX shell.
func DialectOf(tool string) string {
	name := losses.Program(strings.ReplaceAll(tool, `\`, "/"))
	if lower := strings.ToLower(name); foreignShells()[lower] {
		return lower
	}
	return string(winshell.Of(name))
}

// runDialect reads code of another shell in the state of fr.
func (a *analysis) runDialect(dialect, text string, fr *shFrame, offset int) {
	d := winshell.Of(dialect)
	if d == "" {
		a.unknown(fr, ShellNotPosix, offset)
		return
	}
	if len(text) > MaxBytes || posix.TooDeep(text) {
		a.unknown(fr, shellTooLong, offset)
		return
	}
	code, whole := winshell.Rewrite(d, text)
	if !whole {
		a.unknown(fr, ShellNotPosix, offset)
	}
	in := *fr
	in.base = max(fr.base, offset)
	a.work(len(text) / 64)
	a.runText(code, &in)
}

// dialectCode reads a value as code of another shell. What is not known of it
// is an effect.
//
//go:noinline
func (a *analysis) dialectCode(c *shCall, dialect string, code shValue, fr *shFrame) shValue {
	in := *fr
	in.dialect = dialect
	return a.interpret(c, code, &in, c.name)
}

// expression is code of PowerShell that runs in the shell itself: its operands, or what comes from a pipe.
func (a *analysis) expression(c *shCall) shValue {
	code := joinWords(c.args())
	if len(code) == 0 && c.fr.stdin.set {
		code = c.fr.stdin.value
	}
	return a.dialectCode(c, "pwsh", code, c.fr)
}

// foreign is pwsh, powershell and cmd.
func (a *analysis) foreign(c *shCall) shValue {
	name, args := strings.ToLower(c.name), c.args()
	in := a.childShell(c)
	in.dialect = name
	for i := 0; i < len(args); i++ {
		option, rest := strings.ToLower(args[i].prefix()), args[i+1:]
		if name == "cmd" {
			option = strings.Replace(option, "//", "/", 1)
			if len(option) < 2 || option[0] != '/' || strings.IndexByte("ckr", option[1]) < 0 {
				continue
			}
			if after := args[i].after(len(args[i].prefix()) - len(option) + 2); after.Text != "" {
				rest = append([]Word{after}, rest...)
			}
			return a.interpret(c, cmdLine(rest), in, name)
		}
		if strings.HasPrefix(option, "/") && strings.Count(option, "/") == 1 {
			option = "-" + option[1:]
		}
		switch begins := func(long string) bool { return len(option) > 1 && strings.HasPrefix(long, option) }; {
		case option == "-", len(rest) > 0 && rest[0].Is("-"):
			return a.interpretStdin(c, in)
		case option == "" || option[0] != '-':
			if name == "powershell" && !strings.HasSuffix(option, ".ps1") || args[i].Dynamic {
				return a.interpret(c, joinWords(args[i:]), in, name)
			}
			return a.runScript(c, args[i], in)
		case begins("-command") || begins("-commandwithargs") || option == "-cwa":
			return a.interpret(c, joinWords(rest), in, name)
		case (begins("-encodedcommand") || option == "-ec") && len(rest) > 0:
			if code, ok := winshell.Decode(rest[0].Text); ok {
				return a.interpret(c, shLiteral(code), in, name)
			}
			return a.interpret(c, shUnknown(rest[0].Text, shOrigin{kind: "decoded", from: c.name}), in, name)
		case begins("-file") && len(rest) > 0:
			return a.runScript(c, rest[0], in)
		case begins("-version"), begins("-help"), option == "--version", option == "--help":
			return nil
		case begins("-executionpolicy"), option == "-ep", begins("-windowstyle"), begins("-workingdirectory"), option == "-wd",
			begins("-outputformat"), begins("-inputformat"), begins("-configurationname"), begins("-settingsfile"):
			i++
		}
	}
	return a.interpretStdin(c, in)
}

// cmdLine is the words after /c as one text: a word with blanks was quoted.
func cmdLine(words []Word) shValue {
	if len(words) == 1 {
		return words[0].value()
	}
	var out shValue
	for i, w := range words {
		if i > 0 {
			out = append(out, shPart{text: " "})
		}
		if strings.ContainsAny(w.Text, " \t") && !strings.Contains(w.Text, `"`) {
			w = Word{Text: w.Text, parts: append(append(shValue{{text: `"`}}, w.value()...), shPart{text: `"`})}
		}
		out = append(out, w.value()...)
	}
	return out
}

// windowsPlace is where a path with a drive lies. Letter case does not count.
func (at At) windowsPlace(p string) Zone {
	if rest := winshell.OnDrive(p); rest != "" && (winshell.Drive(at.Root) || winshell.Drive(at.Home)) {
		there := At{Root: winshell.OnDrive(at.Root), Home: winshell.OnDrive(at.Home), Temp: winshell.OnDrive(at.Temp)}
		if zone := there.place(rest); zone != ZoneOther {
			return zone
		}
	}
	whole, below := losses.WholeOf(winshell.OnDrive(p))
	return Zone(winshell.Place(p, whole, below))
}

// fish adds what the reader of the POSIX shell does not know of fish: code that
// sets a variable or puts ( ) where another shell has $( ) is not read.
func (a *analysis) fish(c *shCall, o *shOpts) {
	for _, w := range append(o.values("--command"), o.operands...) {
		text := " " + strings.ReplaceAll(w.Text, "$(", "")
		if strings.ContainsAny(text, "(") || strings.Contains(strings.ReplaceAll(text, ";", " "), " set ") {
			a.unknown(c.fr, ShellNotPosix, c.offset)
		}
	}
}
