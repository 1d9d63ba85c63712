package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
)

const maxItems = 32

// xargs runs a command with words it reads.
func (a *analysis) xargs(c *shCall) shValue {
	args := lists.Copy(c.args())
	i := slices.IndexFunc(args, func(w Word) bool { return len(w.Text) > 2 && w.Text[:2] == "-i" || !strings.HasPrefix(w.Text, "-") })
	if i >= 0 && strings.HasPrefix(args[i].Text, "-i") {
		args[i] = NewWord("-I" + args[i].Text[2:])
	}
	o := options(args, "InLPsdEaR", "--max-args --max-procs --delimiter --arg-file --max-lines --max-chars --eof --process-slot-var", optStop)
	if len(o.operands) == 0 {
		return c.fr.stdin.value
	}
	in := a.input(c, o.values("-a", "--arg-file"))
	mark, replace := o.value("-I", "--replace")
	if o.exact("-i", "--replace") && !replace {
		mark, replace = NewWord("{}"), true
	}
	seps, byLine := " \t\n\x00", o.exact("-L", "-l", "--max-lines")
	switch {
	case o.exact("-0", "--null") && slices.ContainsFunc(in, func(p shPart) bool { return strings.Contains(p.text, "\x00") }):
		seps = "\x00" // what find and its like print is known as lines
	case replace || o.exact("-0", "--null", "-d", "--delimiter") || byLine:
		seps = "\n\x00"
	}
	if d, ok := o.value("-d", "--delimiter"); ok {
		text, _ := quoting.EchoEscapes(d.Text)
		seps += text
	}
	items := stdinItems(in, seps)
	fr := *c.fr
	fr.stdin = shStream{}
	var out shValue
	if !replace {
		size := len(items)
		if n, ok := o.value("-n", "--max-args", "-L", "--max-lines"); ok {
			v, known := posix.Number(n.Text)
			if known && v > 0 {
				size = int(min(v, int64(max(size, 1))))
			}
		}
		for start := 0; start < max(len(items), 1); start += max(size, 1) {
			group := items[min(start, len(items)):min(start+max(size, 1), len(items))]
			if byLine {
				group = stdinItems(joinWords(group), " \t\n\x00")
			}
			argv := append(o.operands[:len(o.operands):len(o.operands)], group...)
			out = append(out, a.wrapped(c, argv, &fr)...)
			a.repeat()
		}
		return out
	}
	for _, item := range items {
		item = item.after(len(item.prefix()) - len(strings.TrimLeft(item.prefix(), " \t")))
		out = append(out, a.wrapped(c, replaceMark(o.operands, mark.Text, item), &fr)...)
		a.repeat()
	}
	return out
}

// stdinItems are the words in what is read, between any of seps. Text that is not known is one word.
func stdinItems(v shValue, seps string) []Word {
	var out []Word
	var cur shValue
	end := func() {
		if len(cur) > 0 && len(out) == maxFields {
			cur = shUnknown("...", shOrigin{})
		}
		if len(cur) > 0 && len(out) <= maxFields {
			out = append(out, cur.word())
		}
		cur = nil
	}
	for _, p := range v {
		if !p.known() || p.kind == shMatch || p.kind == shGlob {
			p.kind = max(p.kind, shMatch)
			cur = append(cur, p)
			continue
		}
		text := p.text
		for text != "" {
			i := strings.IndexAny(text, seps)
			if i < 0 {
				cur = append(cur, shPart{text: text, quoted: true})
				break
			}
			if i > 0 {
				cur = append(cur, shPart{text: text[:i], quoted: true})
			}
			end()
			text = text[i+1:]
		}
	}
	end()
	if seps[0] == ' ' {
		for i, w := range out {
			if t := strings.Trim(w.Text, `'"`); !w.Dynamic && t != w.Text {
				out[i] = NewWord(t)
			}
		}
	}
	return out
}

// replaceMark puts item where mark stands in words.
func replaceMark(words []Word, mark string, item Word) []Word {
	if mark == "" {
		return words
	}
	out := make([]Word, len(words))
	for i, w := range words {
		if !strings.Contains(w.Text, mark) {
			out[i] = w
			continue
		}
		var v shValue
		for _, p := range w.value() {
			if !p.known() {
				v = append(v, p)
				continue
			}
			for j, text := range strings.Split(p.text, mark) {
				if j > 0 {
					v = append(v, item.value()...)
				}
				if text != "" {
					q := p
					q.text = text
					v = append(v, q)
				}
			}
		}
		out[i] = v.word()
	}
	return out
}

// parallelMark is where parallel puts a part of an argument, or the one with a number.
var parallelMark = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\{[0-9./]+\}`) })

// marked is an argument as a mark has it.
func marked(mark string, item Word) Word {
	if text, ok := posix.NamePart(mark, item.Text); ok && !item.Dynamic {
		return item.value().made(text).word()
	}
	return shUnknown(mark, shOrigin{}).word()
}

// parallel runs a command line for each of its arguments or input lines.
func (a *analysis) parallel(c *shCall) shValue {
	args := c.args()
	cut := slices.IndexFunc(args, func(w Word) bool { return w.Is(":::", ":::+", "::::", "::::+") })
	if cut < 0 {
		cut = len(args)
	}
	o := options(args[:cut], "jINnLSPaE", "--jobs --max-args --delay --timeout --retries --joblog --colsep --arg-file --results --sshlogin --wd --workdir --tmpdir --halt --load --memfree --env", optStop)
	var items []Word
	files, named := o.values("-a", "--arg-file"), false
	for _, w := range args[cut:] {
		switch {
		case w.Is(":::", ":::+", "::::", "::::+"):
			named = strings.HasPrefix(w.Text, "::::")
		case named:
			files = append(files, w)
		default:
			items = append(items, w)
		}
	}
	if o.dry() {
		return printsText(a, c)
	}
	if len(files) > 0 {
		items = append(items, stdinItems(a.input(c, files), "\n\x00")...)
	} else if cut == len(args) && c.fr.stdin.set {
		items = stdinItems(c.fr.stdin.value, "\n\x00")
	}
	if len(items) == 0 {
		items = []Word{shUnknown("$(stdin)", shOrigin{kind: "stdin"}).word()}
	}
	fr := *c.fr
	fr.stdin = shStream{}
	in := a.childShell(&shCall{fr: &fr, env: c.env})
	if dir, ok := o.value("--wd", "--workdir"); ok {
		a.moveTo(dir, in)
	}
	for _, item := range items {
		line := o.operands
		text := strings.Join(WordTexts(line), " ")
		for _, mark := range parallelMark().FindAllString(text, -1) {
			line = replaceMark(line, mark, marked(mark, item))
		}
		switch {
		case len(line) == 0:
			line = []Word{item}
		case parallelMark().MatchString(text) && !strings.Contains(text, "{}"):
		case strings.Contains(strings.Join(WordTexts(line), " "), "{}"):
			line = replaceMark(line, "{}", item)
		default:
			line = append(line[:len(line):len(line)], item)
		}
		a.interpret(c, joinWords(line), in.subshell(), c.name)
		a.repeat()
	}
	return shUnknown("$(parallel)", shOrigin{kind: "output", from: c.name})
}

// ssh runs its operands as code on another machine.
func (a *analysis) ssh(c *shCall) shValue {
	o := options(c.args(), map[bool]string{true: "M"}[c.name == "autossh"]+"bcDEeFIiJLlmOopQRSWwB", "--ssh", optStop)
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	target := o.operand(0)
	a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "ssh", Target: losses.HostOf(target), Secret: a.secretOf(c.fr.stdin.value)})
	for _, v := range o.values("-R") {
		if strings.HasSuffix(v.Text, ":22") {
			a.does(c, EffectPrivilege, DomainSystem, "lets-in", target)
		}
	}
	in := a.elsewhere(c, "ssh:"+target)
	a.sshOptions(c, o.values("-o"), in)
	rest := o.operands[1:]
	if len(rest) > 0 && rest[0].Is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return a.interpretStdin(c, in)
	}
	v := a.interpret(c, joinWords(rest), in, c.name)
	if v.origin().kind == "file" && a.secretOf(v) == "" {
		v = shUnknown("$(ssh)", shOrigin{"remote", target})
	}
	return v
}

// sshOptions runs the commands in options of ssh, here or there.
func (a *analysis) sshOptions(c *shCall, given []Word, there *shFrame) {
	for _, v := range given {
		text := v.prefix()
		i := strings.IndexAny(text, "= ")
		if i < 0 {
			continue
		}
		code := v.after(len(text) - len(strings.TrimLeft(text[i:], "= "))).value()
		switch strings.ToLower(text[:i]) {
		case "proxycommand", "localcommand", "knownhostscommand":
			a.interpret(c, code, a.childShell(c), c.name)
		case "remotecommand":
			a.interpret(c, code, there, c.name)
		}
	}
}

// elsewhere is the frame of a shell on another machine.
func (a *analysis) elsewhere(c *shCall, host string) *shFrame {
	in := a.childShell(c)
	in.host = host
	in.st.vars = nil
	in.st.dirs = []string{""}
	in.st.files = nil
	return in
}
