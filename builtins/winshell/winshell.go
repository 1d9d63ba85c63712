// Package winshell rewrites what PowerShell and cmd would run as code of
// the POSIX shell that has the same effects, so that one reader judges them all.
package winshell

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"

	"github.com/hookc/hookc/builtins/quoting"
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
	r := reader{text: strings.ReplaceAll(text, "\r\n", "\n"), lists: map[string]bool{}, cmd: d == Cmd}
	if r.cmd {
		r.text = fromCmd(r.text)
	}
	code = r.statements(0) + r.aside
	return code, !r.partly
}

// maxSteps bounds the statements, words and operators of a text, maxDepth how
// deep they nest, and maxValue the bytes of a text that is put together. What
// exceeds them is not read.
const (
	maxSteps = 4000
	maxDepth = 100
	maxValue = 64 << 10
)

// word is a value: code that gives it, and its text where that is known.
type word struct {
	code, lit string
	// block is the code of a script block, which has no other value.
	block          string
	known, isBlock bool
	// command is the code whose output the value is.
	command string
}

// literal is a text that is known. Backslashes of a path become slashes; those
// of an expression or of code stay.
func literal(s string) word {
	if len(s) > maxValue {
		return opaque(nil)
	}
	s = slashed(s)
	return word{code: quoting.Quote(s), lit: s, known: true}
}

func slashed(s string) string {
	if strings.ContainsAny(s, "^$|+{}()\n") {
		return s
	}
	return strings.ReplaceAll(s, `\`, "/")
}

// globbed is a text that stands without quotes: * and ? are wildcards, and ~ at
// its beginning is the home.
func globbed(s string) word {
	w := literal(s)
	if !strings.ContainsAny(w.lit, "*?[]~") {
		return w
	}
	var b strings.Builder
	for i := range len(w.lit) {
		c := w.lit[i]
		if c < 0x80 && strings.IndexByte(quoting.Plain+"*?[]", c) < 0 && (c != '~' || i > 0 || len(w.lit) > 1 && w.lit[1] != '/') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	w.code = b.String()
	return w
}

// substituted is what code prints.
//
//go:noinline
func substituted(code string) word {
	return word{code: `"$(` + strings.TrimSuffix(code, "\n") + `)"`, command: code}
}

// opaque is a value that is not known, of these: expr prints anything. What comes
// from the network stays that.
//
//go:noinline
func opaque(words []word) word {
	code := codes(words)
	if strings.Contains(code, "$(curl ") {
		return changed(code)
	}
	return substituted("expr " + code)
}

// changed is a text that is made of these: whose it is stays known, not what it says.
//
//go:noinline
func changed(code string) word { return substituted("printf '%s\\n' " + code + ` | awk "$made"`) }

// joined is words one right after the other.
//
//go:noinline
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

//go:noinline
func group(block string) string { return "{ :\n" + block + "}" }

// environment are the variables of Windows that have another name here, or a
// fixed value.
var environment = map[string]string{
	"userprofile": `"$HOME"`, "home": `"$HOME"`, "homepath": `"$HOME"`, "temp": `"$TMPDIR"`, "tmp": `"$TMPDIR"`, "cd": `"$PWD"`, "pwd": `"$PWD"`,
	"appdata": `"$HOME"/AppData/Roaming`, "localappdata": `"$HOME"/AppData/Local`, "onedrive": `"$HOME"/OneDrive`, "homedrive": "''",
	"systemdrive": "C:", "systemroot": "C:/Windows", "windir": "C:/Windows", "programfiles": "'C:/Program Files'", "programdata": "C:/ProgramData",
	"programfiles(x86)": "'C:/Program Files (x86)'", "allusersprofile": "C:/ProgramData", "public": "C:/Users/Public", "comspec": "cmd",
	"profile": `"$HOME"/.config/powershell/profile.ps1`,
}

// fromEnvironment is the value of a variable of the environment.
func fromEnvironment(name string) word {
	lower := strings.ToLower(name)
	if code, ok := environment[lower]; ok {
		return word{code: code, lit: strings.Trim(code, "'"), known: !strings.Contains(code, "$")}
	}
	return variable(strings.ToUpper(name))
}

// variable is the value of a variable of the shell.
func variable(name string) word {
	if name == "" || name[0] <= '9' || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return opaque(nil)
	}
	return word{code: `"$` + name + `"`}
}

// Decode is the text of what -EncodedCommand takes: base64 of UTF-16, or of bytes.
func Decode(encoded string) (string, bool) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", false
	}
	if len(data) < 2 || len(data)%2 != 0 || data[1] != 0 {
		return string(data), true
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	return string(utf16.Decode(units)), true
}
