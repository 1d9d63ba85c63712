package builtins

import (
	"strings"
)

func init() {
	programs((*analysis).xargs, "xargs gxargs")
	programs((*analysis).find, "find gfind")
	programs((*analysis).fd, "fd fdfind")
	programs((*analysis).parallel, "parallel sem")
	programs((*analysis).ssh, "ssh autossh mosh")
	programs((*analysis).env, "env genv")
	programs((*analysis).shellProgram, "sh bash zsh dash ksh ash mksh rbash fish ksh93 yash")
	programs((*analysis).eval, "eval")
	programs((*analysis).runLater, "at batch")
}

const maxItems = 32

// xargs runs a command with words it reads.
func (a *analysis) xargs(c *shCall) shValue {
	o := options(c.args(), "InLPsdEaR", "--replace --max-args --max-procs --delimiter --arg-file --max-lines --max-chars --eof --process-slot-var", optStop)
	if len(o.operands) == 0 {
		return c.fr.stdin.value
	}
	in := c.fr.stdin.value
	if file, ok := o.value("-a", "--arg-file"); ok {
		in = a.contents(file, c.fr)
	} else if !c.fr.stdin.set {
		in = shUnknown("$(stdin)", shOrigin{kind: "stdin"})
	}
	mark, replace := o.value("-I", "--replace")
	if o.exact("-i", "--replace") && !replace {
		mark, replace = shWord("{}"), true
	}
	items := stdinItems(in, replace || o.exact("-0", "--null", "-d", "--delimiter", "-L"))
	fr := *c.fr
	fr.stdin = shStream{}
	var out shValue
	if !replace {
		size := len(items)
		if n, ok := o.value("-n", "--max-args", "-L", "--max-lines"); ok {
			v, known := shellNumber(n.Text)
			if known && v > 0 {
				size = int(min(v, int64(max(size, 1))))
			}
		}
		for start := 0; start < max(len(items), 1); start += max(size, 1) {
			argv := append(o.operands[:len(o.operands):len(o.operands)], items[min(start, len(items)):min(start+max(size, 1), len(items))]...)
			out = append(out, a.wrapped(c, argv, &fr)...)
			a.repeat()
		}
		return out
	}
	for _, item := range items {
		out = append(out, a.wrapped(c, replaceMark(o.operands, mark.Text, item), &fr)...)
		a.repeat()
	}
	return out
}

// stdinItems are the words in what is read: by lines when lines is true, else
// by blanks. Text that is not known is one word.
func stdinItems(v shValue, lines bool) []ShellWord {
	var out []ShellWord
	var cur shValue
	end := func() {
		if len(cur) > 0 && len(out) < maxItems {
			out = append(out, cur.word())
		}
		cur = nil
	}
	seps := " \t\n\x00"
	if lines {
		seps = "\n\x00"
	}
	for _, p := range v {
		if !p.known() || p.kind == shMatch {
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
	if !lines {
		for i, w := range out {
			if t := strings.Trim(w.Text, `'"`); !w.Dynamic && t != w.Text {
				out[i] = shWord(t)
			}
		}
	}
	return out
}

// replaceMark puts item where mark stands in words.
func replaceMark(words []ShellWord, mark string, item ShellWord) []ShellWord {
	if mark == "" {
		return words
	}
	out := make([]ShellWord, len(words))
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

// find deletes or runs what it finds.
func (a *analysis) find(c *shCall) shValue {
	args := c.args()
	for len(args) > 0 && args[0].is("-H", "-L", "-P", "-E", "-X", "-x", "-s", "-d") {
		args = args[1:]
	}
	var paths []ShellWord
	for len(args) > 0 && !startsExpression(args[0]) {
		paths = append(paths, args[0])
		args = args[1:]
	}
	if len(paths) == 0 {
		paths = []ShellWord{shWord(".")}
	}
	e := shFind{c: c, paths: paths}
	for i := 0; i < len(args); i++ {
		i += a.findStep(&e, args[i], args[i+1:])
	}
	return e.output()
}

func startsExpression(w ShellWord) bool {
	t := w.prefix()
	return t != "" && (t[0] == '-' && len(t) > 1 || t == "(" || t == "!" || t == ",")
}

// shFind is where a find expression stands.
type shFind struct {
	c     *shCall
	paths []ShellWord
	// names are what the files that get this far are called; narrow is true
	// when another test leaves some of them out.
	names   []ShellWord
	narrow  bool
	negated bool
	depth   int
}

// findTests are tests that leave only some files.
const findTests = " -mtime -ctime -atime -mmin -cmin -amin -newer -anewer -cnewer -size -inum -samefile -regex -iregex -path -wholename -ipath -iwholename -lname "

const findValued = " -type -user -group -uid -gid -links -xtype -maxdepth -mindepth -perm -fstype -used -context -printf -fprint0 -newermt -newerat -regextype -D -files0-from "

// findStep reads one word of the expression and returns how many more it took.
func (a *analysis) findStep(e *shFind, w ShellWord, rest []ShellWord) int {
	negated := e.negated
	e.negated = false
	one := min(1, len(rest))
	switch text := w.Text; {
	case w.is("!", "-not"):
		e.negated = !negated
	case w.is("("):
		e.depth++
		e.negated = negated
	case w.is(")"):
		e.depth--
	case w.is("-o", "-or", ","):
		if e.depth <= 0 {
			e.names, e.narrow = nil, false
		}
	case w.is("-name", "-iname"):
		if one == 1 && !negated {
			e.names = append(e.names, rest[0])
		}
		return one
	case w.is("-empty"):
		e.narrow = !negated
	case strings.Contains(findTests, " "+text+" "):
		e.narrow = e.narrow || !negated
		return one
	case strings.Contains(findValued, " "+text+" "):
		return one
	case w.is("-fprint", "-fls", "-fprintf"):
		if one == 1 {
			a.fileEffect(EffectWrite, rest[0], e.c.target("find-print"))
		}
		return one
	case w.is("-delete"):
		t := e.c.target("find-delete")
		t.recursive = true
		for _, m := range e.matches() {
			a.fileEffect(EffectDelete, m, t)
		}
	case w.is("-exec", "-execdir", "-ok", "-okdir"):
		return a.findExec(e, rest)
	}
	return 0
}

func (a *analysis) findExec(e *shFind, rest []ShellWord) int {
	n := 0
	for n < len(rest) && !rest[n].is(";") && !(rest[n].is("+") && n > 0 && rest[n-1].is("{}")) {
		n++
	}
	fr := *e.c.fr
	fr.out = nil
	for _, m := range e.matches() {
		a.wrapped(e.c, replaceMark(rest[:n], "{}", m), &fr)
		a.repeat()
	}
	return min(n+1, len(rest))
}

// matches are words for what is found: below each path, what the tests leave.
func (e *shFind) matches() []ShellWord {
	names := e.names
	if len(names) == 0 {
		last := shWord("**")
		if e.narrow {
			last = shWord("**/*{tests}") // some of them
		}
		names = []ShellWord{last}
	}
	var out []ShellWord
	for _, p := range e.paths {
		for _, name := range names {
			var v shValue
			v = append(v, p.value()...)
			middle := "/**/"
			if len(e.names) == 0 {
				middle = "/"
			}
			v = append(v, shPart{text: middle, kind: shMatch})
			for _, part := range name.value() {
				if part.known() {
					part.kind = shMatch
				}
				v = append(v, part)
			}
			if len(out) < maxItems {
				out = append(out, v.word())
			}
		}
	}
	return out
}

func (e *shFind) output() shValue {
	var out shValue
	for _, m := range e.matches() {
		for _, p := range m.value() {
			if p.known() {
				p.kind = shMatch
			}
			out = append(out, p)
		}
		out = append(out, shPart{text: "\n"})
	}
	return out
}

// fd finds files by a pattern and runs a command for them.
func (a *analysis) fd(c *shCall) shValue {
	args := c.args()
	run := -1
	for i, w := range args {
		if w.is("-x", "-X", "--exec", "--exec-batch") {
			run = i
			break
		}
	}
	found := args
	if run >= 0 {
		found = args[:run]
	}
	o := options(found, "dtEeSjcgo", "--max-depth --type --exclude --extension --size --threads --base-directory", 0)
	dir, name := ".", "?*"
	if len(o.operands) > 0 && o.operand(0) != "." && o.operand(0) != "" {
		name = "*" + o.operand(0) + "*"
	} else if ext, ok := o.value("-e", "--extension"); ok {
		name = "*." + ext.Text
	} else {
		name = "*"
	}
	if len(o.operands) > 1 {
		dir = o.operand(1)
	}
	match := shValue{{text: dir + "/**/" + name, kind: shMatch}}.word()
	if run < 0 {
		return append(match.value(), shPart{text: "\n"})
	}
	argv := replaceMark(args[run+1:], "{}", match)
	if len(argv) > 0 && !strings.Contains(strings.Join(wordTexts(args[run+1:]), " "), "{") {
		argv = append(argv[:len(argv):len(argv)], match)
	}
	return a.wrapped(c, argv, c.fr)
}

// parallel runs a command line for each of its arguments or input lines.
func (a *analysis) parallel(c *shCall) shValue {
	args := c.args()
	cut := len(args)
	for i, w := range args {
		if w.is(":::", ":::+", "::::") {
			cut = i
			break
		}
	}
	o := options(args[:cut], "jINnLSXPaE", "--jobs --max-args --delay --timeout --retries --joblog --colsep --arg-file --results --sshlogin", optStop)
	items := args[min(cut+1, len(args)):]
	if cut == len(args) && c.fr.stdin.set {
		items = stdinItems(c.fr.stdin.value, true)
	}
	if len(items) == 0 {
		items = []ShellWord{shUnknown("$(stdin)", shOrigin{kind: "stdin"}).word()}
	}
	fr := *c.fr
	fr.stdin = shStream{}
	in := a.childShell(&shCall{fr: &fr, env: c.env})
	for i, item := range items {
		if i >= maxItems {
			break
		}
		line := o.operands
		switch {
		case len(line) == 0:
			line = []ShellWord{item}
		case strings.Contains(strings.Join(wordTexts(line), " "), "{}"):
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
	o := options(c.args(), "bcDEeFIiJLlmOopQRSWwB", "--ssh", optStop)
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	target := o.operand(0)
	a.effect(c, ShellEffect{Kind: EffectConnect, Domain: DomainNetwork, Op: "ssh", Target: hostOf(target), Secret: a.secretOf(c.fr.stdin.value)})
	for _, v := range o.values("-o") {
		if name, code, ok := v.cut("="); ok && (strings.EqualFold(name, "ProxyCommand") || strings.EqualFold(name, "LocalCommand")) {
			a.interpret(c, code.value(), a.childShell(c), c.name)
		}
	}
	in := a.elsewhere(c, "ssh:"+target)
	rest := o.operands[1:]
	if len(rest) > 0 && rest[0].is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return a.interpretStdin(c, in)
	}
	return a.interpret(c, joinWords(rest), in, c.name)
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

// runLater is at and batch, which read code for later.
func (a *analysis) runLater(c *shCall) shValue {
	return a.interpretStdin(c, a.childShell(c))
}

// hostOf is the host in user@host:path.
func hostOf(target string) string {
	_, after, ok := strings.Cut(target, "@")
	if ok {
		target = after
	}
	host, _, _ := strings.Cut(target, ":")
	return host
}
