package winshell

import (
	"regexp"
	"strings"
)

// What cmd has of its own at the beginning of a command.
var (
	remOf   = pattern(`(?i)^(?:rem\b|::)[^\n]*`)
	dropOf  = pattern(`(?i)^(?:@+|(?:else|do|call)\b|start(?:\s+/\w+)*(?:\s+"[^"]*")?(?:\s+/\w+)*\s)\s*`)
	ifOf    = withWords(`(?i)^if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+W|W\s*==\s*W|W\s+(?:equ|neq|lss|leq|gtr|geq)\s+W)\s*`)
	forOf   = withWords(`(?i)^for((?:\s+/\w)*)(?:\s+W)?\s+%%?(\w)\s+in\s*\(((?:"[^"\n]*"|'[^'\n]*'|[^)])*)\)\s*do\s*`)
	setOf   = pattern(`(?i)^set\s+"?(\w+)=([^&|"\n]*)"?`)
	gluedOf = pattern(`(?i)^(del|erase|rd|rmdir|cd|dir|md|echo)[/\\.:]`)
	itemOf  = pattern(`"[^"\n]*"|[^\s,;"]+`)
	// A variable, a part of one, or that of a loop or of the script.
	namedOf  = pattern(`^[%!](\w[\w()]*)(:[^%!\n]*)?[%!]`)
	letterOf = pattern(`^%%?~?[a-z]*([A-Za-z0-9*])`)
)

// withWords is a pattern in which W is a word.
func withWords(text string) func() *regexp.Regexp {
	return pattern(strings.ReplaceAll(text, "W", `(?:"[^"\n]*"|[^\s"=(]+)+`))
}

// cmdText writes code of cmd as PowerShell has it.
type cmdText struct {
	reader
	out strings.Builder
	// open are the groups and loops around, a byte for each.
	open string
	// starts is true where a command may begin, quoted in a text.
	starts, quoted bool
}

// fromCmd is code of cmd as PowerShell has it: programs are called with &,
// variables are those of the environment, groups are blocks.
func fromCmd(text string) string {
	c := cmdText{reader: reader{text: text}, starts: true}
	for !c.done() {
		if c.starts && !c.is(" \t\n;,=()&|<>") {
			c.starts = c.command()
			continue
		}
		c.next()
	}
	c.close('l')
	return c.out.String()
}

//go:noinline
func (c *cmdText) write(s string) { c.out.WriteString(s) }

// close ends the loops that are open, up to a group.
//
//go:noinline
func (c *cmdText) close(kind byte) {
	for c.open != "" && c.open[len(c.open)-1] == kind {
		c.write(" }")
		c.open = c.open[:len(c.open)-1]
	}
}

// command reads what begins a command; it reports whether one still has to begin.
func (c *cmdText) command() bool {
	if c.match(remOf) != nil || c.match(ifOf) != nil {
		return true
	}
	if m := c.match(dropOf); m != nil {
		c.write("\n")
		return true
	}
	if m := c.match(forOf); m != nil {
		items := itemOf().FindAllString(m[3], -1)
		flag, list := strings.ToLower(strings.TrimSpace(m[1])), strings.TrimSpace(m[3])
		for i, item := range items {
			if items[i] = `"` + inner(strings.Trim(item, `"`)) + `"`; strings.ContainsAny(item, "*?") {
				list := "dir " + strings.Replace(flag, "/r", "/s ", 1)
				if strings.HasPrefix(flag, "/d") {
					list = "echo "
				}
				items[i] = "$(& " + list + items[i] + ")"
			}
		}
		switch {
		case flag == "/l":
			items = []string{"$(expr)"} // numbers
		case flag != "/f" || list == "":
		case list[0] == '\'' || list[0] == '`': // lines of a command
			items = []string{"$(\n" + fromCmd(strings.ReplaceAll(strings.Trim(list, "'`"), "^", "")) + "\nexpr)"}
		case list[0] != '"' || strings.Contains(strings.ToLower(m[0]), "usebackq"):
			items = []string{"$(& type " + strings.Join(items, " ") + ")"}
		}
		c.write("foreach ($for_" + m[2] + " in " + strings.Join(items, ",") + ") {")
		c.open += "l"
		return true
	}
	if m := c.match(setOf); m != nil {
		c.write("$env:" + m[1] + `="` + inner(strings.TrimSpace(m[2])) + `"`)
		return false
	}
	c.write("& ")
	if m := gluedOf().FindStringSubmatch(c.text[c.at:]); m != nil {
		c.write(m[1] + " ")
		c.at += len(m[1])
	}
	return false
}

// inner is text of cmd inside of double quotes of PowerShell.
func inner(text string) string {
	c := cmdText{reader: reader{text: text}, quoted: true}
	for !c.done() {
		c.next()
	}
	return c.out.String()
}

// next writes the next character, or the variable or operator that begins there.
func (c *cmdText) next() {
	b := c.here()
	if b == '%' || b == '!' {
		if m := c.match(namedOf); m != nil {
			name := "env:" + m[1]
			if m[2] != "" {
				name = "part_of_" + m[1]
			}
			c.write("${" + name + "}")
			return
		}
		if m := c.match(letterOf); m != nil {
			c.write("${for_" + strings.ReplaceAll(m[1], "*", "all") + "}")
			return
		}
	}
	c.at++
	if b == '"' {
		c.quoted = !c.quoted
	}
	if c.quoted && b != '\n' || b == '"' {
		if b == '$' || b == '`' {
			c.write("`")
		}
		c.out.WriteByte(b)
		return
	}
	switch {
	case b == '^' && !c.done():
		if b = c.here(); b != '\n' {
			c.write("`" + string(b))
		}
		c.at++
	case b == '&' || b == '|':
		if c.starts = true; c.is(string(b)) {
			c.at++
			c.write(string(b))
		} else if b == '&' {
			b = '\n'
		}
		c.out.WriteByte(b)
	case b == '\n':
		c.close('l')
		c.out.WriteByte(b)
		c.starts, c.quoted = true, false
	case b == '(' && c.starts:
		c.write("& {")
		c.open += "g"
	case b == ')' && strings.Contains(c.open, "g"):
		c.close('l')
		c.write(" }")
		c.open = c.open[:len(c.open)-1]
		c.starts = !strings.HasPrefix(strings.TrimLeft(c.text[c.at:], " 12"), ">")
	case strings.IndexByte("$'`{}#@(),;=", b) >= 0 && !(c.starts && strings.IndexByte(";,=", b) >= 0):
		c.write("`" + string(b))
	default:
		c.out.WriteByte(b)
	}
}
