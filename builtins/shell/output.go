package shell

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
)

func (a *analysis) echo(c *shCall) shValue {
	args := c.args()
	newline, escapes := true, false
	for len(args) > 0 && args[0].Is("-n", "-e", "-E", "-ne", "-en", "-nE") {
		newline = newline && !strings.Contains(args[0].Text, "n")
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	v := joinWords(args)
	if escapes {
		v = v.mapped(func(p *shPart) {
			if p.known() {
				p.text, _ = quoting.EchoEscapes(p.text)
			}
		})
	}
	if newline {
		v = append(v[:len(v):len(v)], shPart{text: "\n"})
	}
	return a.bounded(v, c.fr)
}

// printfValue is what printf prints for its arguments. The format is used
// again while there are arguments left.
func printfValue(args []Word) shValue {
	if len(args) == 0 {
		return nil
	}
	format, ok := args[0].known()
	if !ok || len(format) > 4096 {
		return joinWords(args)
	}
	format, more := quoting.EchoEscapes(format)
	rest := args[1:]
	var out shValue
	for pass := 0; pass == 0 || len(rest) > 0 && pass < maxFields; pass++ {
		before := len(rest)
		var v shValue
		v, rest = printfOnce(format, rest)
		out = append(out, v...)
		if len(rest) == before || !more {
			break
		}
	}
	return out
}

// printfVerbs is text of a format, and the verb after it.
var printfVerbs = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^([^%]*)(%[-+ #0-9.*lhqjzt]*(.?))?`) })

func printfOnce(format string, args []Word) (shValue, []Word) {
	var out shValue
	for format != "" {
		m := printfVerbs().FindStringSubmatch(format)
		format = format[len(m[0]):]
		if m[1] != "" {
			out = append(out, shPart{text: m[1]})
		}
		switch {
		case m[3] == "%":
			out = append(out, shPart{text: "%"})
		case m[3] != "":
			var w Word
			if len(args) > 0 {
				w, args = args[0], args[1:]
			}
			out = append(out, printfVerb(m[3], w)...)
		}
	}
	return out, args
}

func printfVerb(verb string, w Word) shValue {
	switch base := map[string]int{"d": 10, "i": 10, "u": 10, "x": 16, "X": 16, "o": 8}[verb]; {
	case w.Dynamic || w.Pattern:
		return matched(w)
	case base > 0:
		n, ok := posix.Number(w.Text)
		if !ok && len(w.Text) > 1 && (w.Text[0] == '\'' || w.Text[0] == '"') {
			n = int64([]rune(w.Text[1:])[0])
		}
		return shLiteral(strconv.FormatInt(n, base))
	case verb == "b":
		text, _ := quoting.EchoEscapes(w.Text)
		return shLiteral(text)
	case verb == "c":
		return shLiteral(w.Text[:min(1, len(w.Text))])
	case verb == "(":
		return shValue{{text: "$(date)", kind: shPlain}}
	case verb == "q":
		return shLiteral(quoting.Quote(w.Text))
	}
	return shLiteral(w.Text)
}

func (a *analysis) pwd(c *shCall) shValue {
	if dir := a.dir(c.fr.st); dir != "" {
		return shLiteral(dir + "\n")
	}
	return shUnknown("$(pwd)", shOrigin{kind: "output", from: "pwd"})
}

// cat is every program that prints files, or what it reads.
func (a *analysis) cat(c *shCall) shValue {
	o := options(c.args(), losses.ValueLetters(c.name), "--lines --bytes --language --style --theme --range --number", 0)
	if o.exact("--help", "--version") {
		return printsText(a, c)
	}
	if len(o.operands) == 0 {
		return a.partial(c, a.input(c, nil))
	}
	return a.partial(c, a.bounded(a.input(c, o.operands), c.fr))
}

// partial is what a program prints that may leave out some of what it reads.
// Any of a few known lines may be the one that is left.
func (a *analysis) partial(c *shCall, v shValue) shValue {
	if c.name == "head" || c.name == "tail" {
		if v.origin().kind == "process" && !HasFlag(c.args(), "-n", "+2") {
			return printsText(a, c)
		}
		n := len(stdinItems(v, "\n"))
		count, bytes := posix.LineCount(WordTexts(c.args()))
		switch _, known := v.known(); {
		case c.fr.out == nil || !known || n == 0 || int64(n) <= count && !bytes:
			return someOf(v, "few")
		case bytes || n > maxAlternatives:
			return printsText(a, c)
		}
		line := a.turned(c, v)
		return someOf(line[:slices.IndexFunc(line, func(p shPart) bool { return p.text == "\n" })+1], "few")
	}
	if text, ok := v.known(); ok && c.name == "tac" {
		lines := strings.SplitAfter(text, "\n")
		slices.Reverse(lines)
		return v.made(strings.Join(lines, ""))
	}
	return v
}

// turned is a few known lines in an order that is not known: each of them may be the first.
func (a *analysis) turned(c *shCall, v shValue) shValue {
	lines := stdinItems(v, "\n")
	if _, ok := v.known(); !ok || c.fr.out == nil || len(lines) < 2 || len(lines) > maxAlternatives {
		return v
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].Text < lines[j].Text }) // turned again, they are the same
	i := a.choose("\x00first"+joinWords(lines).text(), len(lines))
	var out shValue
	for _, w := range append(lines[i:len(lines):len(lines)], lines[:i]...) {
		out = append(append(out, w.value()...), shPart{text: "\n"})
	}
	return out
}

// someOf is a value of which only some lines are left: of all names in a
// directory, some, or a few that go by their place.
func someOf(v shValue, which string) shValue {
	return v.mapped(func(p *shPart) {
		if p.kind == shMatch && strings.HasSuffix(p.text, "*") {
			p.text += "{" + which + "}"
		}
	})
}

// ls prints names: those its operands match, else any.
func (a *analysis) ls(c *shCall) shValue {
	o := options(c.args(), "IwT", "--ignore --hide --color --format --sort --time --width", 0)
	var out shValue
	for _, w := range o.operands {
		switch {
		case w.Pattern:
			out = append(append(out, matched(w)...), shPart{text: "\n"})
		case o.exact("-d"):
			out = append(append(out, w.value()...), shPart{text: "\n"})
		}
	}
	if len(out) == 0 && !o.exact("-l") {
		out = shValue{{text: "*", kind: shMatch}, {text: "\n"}}
	}
	if len(out) == 0 {
		return printsText(a, c)
	}
	return a.turned(c, out)
}

// input is what a filter reads: its file operands, else standard input.
func (a *analysis) input(c *shCall, files []Word) shValue {
	if len(files) == 0 {
		if !c.fr.stdin.set {
			return shUnknown("$(stdin)", shOrigin{kind: "stdin"})
		}
		return c.fr.stdin.value
	}
	var out shValue
	for _, w := range files {
		if !w.Is("-") {
			a.fileEffect(EffectRead, w, c.target("read"))
		}
		out = append(out, a.contents(w, c.fr)...)
	}
	return out
}

// mktemp makes a file or directory with a name that is not known, in a known place.
func (a *analysis) mktemp(c *shCall) shValue {
	o := options(c.args(), "p", "--tmpdir --suffix", 0)
	dir := a.at.Temp
	if b, ok := a.lookup(c.fr.st, "TMPDIR"); ok && !b.open {
		if t, known := b.value().known(); known && t != "" {
			dir = t
		}
	}
	if dir == "" {
		dir = "/tmp"
	}
	name := Word{Text: "tmp.XXXXXXXXXX"}
	if len(o.operands) > 0 {
		name = o.operands[0]
	}
	v := name.value()
	if p, ok := o.value("-p", "--tmpdir"); ok {
		v = append(append(p.value()[:len(p.value()):len(p.value())], shPart{text: "/"}), v...)
	} else if len(o.operands) == 0 || o.exact("-t", "--tmpdir") {
		v = append(shLiteral(dir+"/"), v...)
	}
	return append(v[:len(v):len(v)], shPart{text: "\n"})
}

func (a *analysis) dirname(c *shCall) shValue {
	o := options(c.args(), "s", "--suffix", 0)
	if len(o.operands) == 0 {
		return nil
	}
	text, ok := o.operands[0].known()
	switch {
	case ok && c.name == "basename":
		suffix := o.operand(1)
		base := path.Base(text)
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		return o.operands[0].value().made(base + "\n")
	case ok && o.operands[0].Pattern:
		return append(matched(shValue{{text: path.Dir(text), kind: shGlob}}.word()), shPart{text: "\n"})
	case ok:
		return shLiteral(path.Dir(text) + "\n")
	case c.name == "basename":
		return printsPlain(a, c)
	}
	return shUnknown("$(dirname)", shOrigin{kind: "output", from: c.name})
}

func (a *analysis) realpath(c *shCall) shValue {
	o := options(c.args(), "", "--relative-to --relative-base", 0)
	if len(o.operands) == 1 && !o.exact("--relative-to") && (strings.HasSuffix(c.name, "realpath") || o.exact("-f", "-e", "-m", "--canonicalize")) {
		p := a.resolve(o.operands[0], c.fr)
		if p.certainty == CertainPattern {
			return append(o.operands[0].value(), shPart{text: "\n"})
		}
		if text, ok := p.known(); ok {
			return shLiteral(text + "\n")
		}
	}
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// environ is printenv, which prints the environment.
func (a *analysis) environ(c *shCall) shValue {
	if len(c.args()) > 0 {
		name := "$" + c.args()[0].Text
		if losses.SecretVariable(name[1:]) {
			return shUnknown(name, shOrigin{credential, name})
		}
		return shUnknown(name, shOrigin{})
	}
	return shUnknown("$(printenv)", shOrigin{"environment", "printenv"})
}

// processes prints the numbers of the processes of a program.
func (a *analysis) processes(c *shCall) shValue {
	o := options(c.args(), "uUgGPst", "", 0)
	name, _, _ := spell.Cut(o.operand(0), " ")
	if c.name == "ps" && strings.Contains(o.operand(0), "e") && o.operand(0) != "" && len(o.operand(0)) < 6 || c.name == "ps" && len(o.operands) > 1 && o.operands[1].Is("e") {
		return shUnknown("$(ps)", shOrigin{"environment", "ps"})
	}
	if strings.Trim(name, ".*^$") == "" || c.name == "ps" && !o.exact("-p", "-C", "-q", "--pid", "--ppid") && strings.ContainsAny(strings.Join(WordTexts(c.args()), ""), "eAx") {
		name = "*"
	}
	return shValue{{text: "$(" + c.name + ")", kind: shPlain, origin: shOrigin{"process", name}}}
}

// whereIs is where the programs among words are, as a pattern.
func whereIs(words []Word) shValue {
	var out shValue
	for _, w := range words {
		switch {
		case strings.HasPrefix(w.Text, "-"):
		case w.Dynamic || strings.Contains(w.Text, "/"):
			out = append(append(out, w.value()...), shPart{text: "\n"})
		default:
			out = append(out, shPart{text: "/**/" + w.Text, kind: shMatch}, shPart{text: "\n"})
		}
	}
	return out
}
