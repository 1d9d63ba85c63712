// Package winshell rewrites what PowerShell and cmd would run as code of
// the POSIX shell that has the same effects, so that one reader judges them all.
package winshell

import (
	"strings"
)

// Dialect is a shell that Rewrite reads.
type Dialect string

// The dialects.
const (
	PowerShell Dialect = "powershell"
	Cmd        Dialect = "cmd"
)

// Of is the dialect of a program by its name, "" for any other.
func Of(program string) Dialect {
	switch strings.ToLower(program) {
	case "powershell", "pwsh", "powershell_ise", "powershell-preview", "pwsh-preview":
		return PowerShell
	case "cmd", "command.com":
		return Cmd
	}
	return ""
}

// Cmdlet reports whether a program is one that Rewrite knows by a name that only
// PowerShell has.
func Cmdlet(name string) bool {
	return strings.Contains(name, "-") && cmdlets()[strings.ToLower(name)] != nil && name != "invoke-expression"
}

// Rewrite gives code of the POSIX shell that does what text does, as far as
// effects go: paths have slashes, cmdlets are programs that do the same. whole is
// false when a part could not be read.
func Rewrite(d Dialect, text string) (code string, whole bool) {
	switch d {
	case PowerShell:
		r := reader{text: strings.ReplaceAll(text, "\r\n", "\n"), lists: map[string]bool{}, names: map[string]string{}, params: map[string][]string{}}
		code = r.statements(0)
		return code, !r.partly
	case Cmd:
		r := batch{text: strings.ReplaceAll(text, "\r\n", "\n")}
		return r.lines(0), !r.partly
	}
	return "", false
}

// maxSteps bounds the statements, words and operators of a text, and maxDepth how
// deep they nest. What exceeds them is not read.
const (
	maxSteps = 4000
	maxDepth = 100
)

// word is a value: code that gives it, and its text where that is known.
type word struct {
	code, lit string
	known     bool
	// block is the code of a script block, which has no other value.
	block   string
	isBlock bool
	// command is the code whose output the value is.
	command string
}

// unquoted are the bytes that mean themselves without quotes.
const unquoted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:,@%="

func quote(s string) string {
	if s != "" && strings.Trim(s, unquoted) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// literal is a text that is known. Backslashes of a path become slashes; those
// of an expression or of code stay.
func literal(s string) word {
	s = slashed(s)
	return word{code: quote(s), lit: s, known: true}
}

func slashed(s string) string {
	if !strings.Contains(s, `\`) || strings.ContainsAny(s, "^$|+{}()\n") {
		return s
	}
	return strings.ReplaceAll(s, `\`, "/")
}

// globbed is a text that stands without quotes: * and ? are wildcards, and ~ at
// its beginning is the home.
func globbed(s string) word {
	s = slashed(s)
	var b strings.Builder
	from := 0
	if s == "~" || strings.HasPrefix(s, "~/") {
		b.WriteString("~")
		from = 1
	}
	for from < len(s) {
		i := strings.IndexAny(s[from:], "*?[]")
		if i < 0 {
			b.WriteString(quote(s[from:]))
			break
		}
		if i > 0 {
			b.WriteString(quote(s[from : from+i]))
		}
		b.WriteByte(s[from+i])
		from += i + 1
	}
	if s == "" {
		b.WriteString("''")
	}
	return word{code: b.String(), lit: s, known: true}
}

// substituted is what code prints.
func substituted(code string) word {
	return word{code: `"$(` + strings.TrimSuffix(code, "\n") + `)"`, command: code}
}

// opaque is a value that is not known, of these: expr prints anything.
func opaque(list []word) word { return substituted("expr " + codes(list)) }

// joined is words one right after the other.
func joined(list []word) word {
	if len(list) == 1 {
		return list[0]
	}
	out := word{known: true}
	for _, w := range list {
		out.code += w.code
		out.lit += w.lit
		out.known = out.known && w.known
	}
	if out.code == "" {
		out.code = "''"
	}
	return out
}

func codes(list []word) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.code
	}
	return strings.Join(out, " ")
}

// text is the words as they are known, with blanks between.
func text(list []word) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.lit
	}
	return strings.Join(out, " ")
}

func group(block string) string { return "{ :\n" + block + "}" }

// environment are the variables of Windows that have another name here, or a
// fixed value.
var environment = map[string]string{
	"userprofile": `"$HOME"`, "home": `"$HOME"`, "homepath": `"$HOME"`, "temp": `"$TMPDIR"`, "tmp": `"$TMPDIR"`, "cd": `"$PWD"`, "pwd": `"$PWD"`,
	"appdata": `"$HOME"/AppData/Roaming`, "localappdata": `"$HOME"/AppData/Local`, "onedrive": `"$HOME"/OneDrive`, "homedrive": "''",
	"systemdrive": "C:", "systemroot": "C:/Windows", "windir": "C:/Windows", "programfiles": "'C:/Program Files'", "programdata": "C:/ProgramData",
	"programfiles(x86)": "'C:/Program Files (x86)'", "allusersprofile": "C:/ProgramData", "public": "C:/Users/Public", "comspec": "cmd",
}

// fromEnvironment is the value of a variable of the environment.
func fromEnvironment(name string) word {
	lower := strings.ToLower(name)
	if code, ok := environment[lower]; ok {
		known := !strings.Contains(code, "$")
		return word{code: code, lit: strings.Trim(code, "'"), known: known}
	}
	if strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || lower == "" || lower[0] <= '9' {
		return opaque(nil)
	}
	return word{code: `"$` + strings.ToUpper(name) + `"`}
}
