package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/winshell"
)

// DialectOf is the shell that a tool takes the code of, as its name or its own
// word for it says; "" for a POSIX shell.
func DialectOf(tool string) string {
	name := programName(strings.ReplaceAll(tool, `\`, "/"))
	if foreignShells[strings.ToLower(name)] {
		return strings.ToLower(name)
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
	if len(text) > MaxBytes || tooDeep(text) {
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
func (a *analysis) dialectCode(c *shCall, dialect string, code shValue, fr *shFrame) shValue {
	known := false
	for _, p := range code {
		known = known || p.known() && strings.TrimSpace(p.text) != ""
	}
	for _, p := range code {
		if !p.known() && (p.origin.kind != "" && p.origin.kind != credential || !known) {
			a.codeEffect(c, p)
		}
	}
	if !known {
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
	}
	return a.captured(fr.within(c.name), func(in *shFrame) { a.runDialect(dialect, a.encode(code), in, c.offset) })
}

// expression is code of PowerShell that runs in the shell itself: its operands,
// or what comes from a pipe.
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
			return a.dialectCode(c, name, cmdLine(rest), a.childShell(c))
		}
		if strings.HasPrefix(option, "/") && strings.Count(option, "/") == 1 {
			option = "-" + option[1:]
		}
		stdin := len(rest) > 0 && rest[0].Is("-")
		switch begins := func(long string) bool { return len(option) > 1 && strings.HasPrefix(long, option) }; {
		case option == "-" || stdin:
			return a.dialectStdin(c)
		case option == "" || option[0] != '-':
			if name == "powershell" && !strings.HasSuffix(option, ".ps1") || args[i].Dynamic {
				return a.dialectCode(c, name, joinWords(args[i:]), a.childShell(c))
			}
			return a.dialectScript(c, args[i])
		case begins("-command") || begins("-commandwithargs") || option == "-cwa":
			return a.dialectCode(c, name, joinWords(rest), a.childShell(c))
		case begins("-encodedcommand") || option == "-ec":
			return a.encodedCommand(c, rest)
		case begins("-file") && len(rest) > 0:
			return a.dialectScript(c, rest[0])
		case begins("-version"), begins("-help"), option == "--version", option == "--help":
			return nil
		case begins("-executionpolicy"), option == "-ep", begins("-windowstyle"), begins("-workingdirectory"), option == "-wd",
			begins("-outputformat"), begins("-inputformat"), begins("-configurationname"), begins("-settingsfile"):
			i++
		}
	}
	return a.dialectStdin(c)
}

// dialectStdin reads what comes from a pipe as code.
func (a *analysis) dialectStdin(c *shCall) shValue {
	in := a.childShell(c)
	in.stdin = shStream{}
	if !c.fr.stdin.set {
		return nil
	}
	return a.dialectCode(c, c.name, c.fr.stdin.value, in)
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

// encodedCommand is the code that -EncodedCommand takes.
func (a *analysis) encodedCommand(c *shCall, rest []Word) shValue {
	if len(rest) == 0 {
		return nil
	}
	if text, known := rest[0].known(); known {
		if code, ok := winshell.Decode(text); ok {
			return a.dialectCode(c, "pwsh", shLiteral(code), a.childShell(c))
		}
	}
	a.codeEffect(c, shPart{text: rest[0].Text, kind: shAny, origin: shOrigin{kind: "decoded", from: c.name}})
	return nil
}

// dialectScript is a script of another shell: what was written before is read.
func (a *analysis) dialectScript(c *shCall, file Word) shValue {
	if v, ok := a.written(file, c.fr); ok {
		return a.dialectCode(c, c.name, v, a.childShell(c))
	}
	t := c.target("script")
	t.domain = DomainCode
	a.fileEffect(EffectExec, file, t)
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: file.Text})
}

// windowsPlace is where a path with a drive lies. Letter case does not count.
func (at At) windowsPlace(p string) Zone {
	if rest := winshell.OnDrive(p); rest != "" && (winshell.Drive(at.Root) || winshell.Drive(at.Home)) {
		there := At{Root: winshell.OnDrive(at.Root), Home: winshell.OnDrive(at.Home), Temp: winshell.OnDrive(at.Temp)}
		if zone := there.place(rest); zone != ZoneOther {
			return zone
		}
	}
	whole, below := wholeOf(winshell.OnDrive(p))
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
