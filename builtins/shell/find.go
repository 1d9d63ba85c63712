package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lists"
)

// find deletes or runs what it finds.
func (a *analysis) find(c *shCall) shValue {
	args := c.args()
	var paths []Word
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		n := 1
		switch text := args[0].Text; {
		case args[0].Is("-D") && len(args) > 1:
			n = 2
		case args[0].Is("-f") && len(args) > 1:
			n, paths = 2, append(paths, args[1])
		case text != "--" && text[1] != 'O' && strings.Trim(text[1:], "HLPEXxsd") != "":
			n = 0
		}
		if args = args[n:]; n == 0 {
			break
		}
	}
	for len(args) > 0 && !startsExpression(args[0]) {
		paths = append(paths, args[0])
		args = args[1:]
	}
	if len(paths) == 0 {
		paths = []Word{NewWord(".")}
	}
	e := shFind{c: c, paths: paths}
	for i := 0; i < len(args); i++ {
		i += a.findStep(&e, args[i], args[i+1:])
	}
	return e.output()
}

func startsExpression(w Word) bool {
	t := w.prefix()
	return t != "" && (t[0] == '-' && len(t) > 1 || t == "(" || t == "!" || t == ",")
}

// shFind is where a find expression stands.
type shFind struct {
	c     *shCall
	paths []Word
	// names are what the files that get this far are called; narrow is true
	// when another test leaves some of them out.
	names  []Word
	narrow bool
	// empty is true for what is empty.
	empty   bool
	negated bool
	depth   int
}

// findTests are tests that leave only some files.
const findTests = " -mtime -ctime -atime -mmin -cmin -amin -newer -anewer -cnewer -size -inum -samefile -regex -iregex -path -wholename -ipath -iwholename -lname "

const findValued = " -type -user -group -uid -gid -links -xtype -maxdepth -mindepth -perm -fstype -used -context -printf -newermt -newerat -regextype "

// findStep reads one word of the expression and returns how many more it took.
func (a *analysis) findStep(e *shFind, w Word, rest []Word) int {
	negated := e.negated
	e.negated = false
	one := min(1, len(rest))
	switch text := w.Text; {
	case w.Is("!", "-not"):
		e.negated = !negated
	case w.Is("("):
		e.depth++
		e.negated = negated
	case w.Is(")"):
		e.depth--
	case w.Is("-o", "-or", ","):
		if e.depth <= 0 {
			e.names, e.narrow = nil, false
		}
	case w.Is("-name", "-iname"):
		if one == 1 && !negated {
			e.names = append(e.names, rest[0])
		}
		return one
	case w.Is("-empty"):
		e.narrow, e.empty = !negated, !negated
	case strings.Contains(findTests, " "+text+" "):
		e.narrow = e.narrow || !negated
		return one
	case strings.Contains(findValued, " "+text+" "):
		return one
	case w.Is("-files0-from") && one == 1:
		e.paths = stdinItems(a.input(e.c, rest[:1]), "\n\x00")
		return one
	case w.Is("-fprint", "-fprint0", "-fls", "-fprintf"):
		if one == 1 {
			a.fileEffect(EffectWrite, rest[0], e.c.target("find-print"))
		}
		return one
	case w.Is("-delete"):
		t := e.c.target("find-delete")
		if t.recursive = !e.empty; e.empty {
			t.op = "rmdir"
		}
		a.files(EffectDelete, t, e.matches()...)
	case w.Is("-exec", "-execdir", "-ok", "-okdir"):
		return a.findExec(e, rest, w.Is("-execdir", "-okdir"))
	}
	return 0
}

// findExec reads what find starts for each file, in the file's directory when dirs is true.
func (a *analysis) findExec(e *shFind, rest []Word, dirs bool) int {
	n := 0
	for n < len(rest) && !rest[n].Is(";") && !(rest[n].Is("+") && n > 0 && rest[n-1].Is("{}")) {
		n++
	}
	fr := *e.c.fr
	fr.out = nil
	if dirs {
		fr = *fr.subshell()
		fr.st.dirs = []string{""} // that of the file, whichever it is
	}
	for _, m := range e.matches() {
		a.wrapped(e.c, replaceMark(rest[:n], "{}", m), &fr)
		a.repeat()
	}
	return min(n+1, len(rest))
}

// matches are words for what is found: below each path, what the tests leave.
func (e *shFind) matches() []Word {
	names := e.names
	if len(names) == 0 {
		last := NewWord("**")
		if e.narrow {
			last = NewWord("**/*{tests}") // some of them
		}
		names = []Word{last}
	}
	var out []Word
	for _, p := range e.paths {
		for _, name := range names {
			middle := "/**/"
			if len(e.names) == 0 {
				middle = "/"
			}
			v := shValue(lists.Concat(p.value(), shValue{{text: middle, kind: shMatch}}, found(name)))
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
		out = append(append(out, found(m)...), shPart{text: "\n"})
	}
	return out
}

// found is a word as what matches it.
func found(w Word) shValue {
	return w.value().mapped(func(p *shPart) {
		if p.known() {
			p.kind = shMatch
		}
	})
}

// fd finds files by a pattern and runs a command for them.
func (a *analysis) fd(c *shCall) shValue {
	args := c.args()
	run := slices.IndexFunc(args, func(w Word) bool { return w.Is("-x", "-X", "--exec", "--exec-batch") })
	if run < 0 {
		for i, w := range args {
			rest := strings.TrimPrefix(strings.TrimPrefix(w.Text, "--exec-batch="), "--exec=")
			if rest == w.Text && !strings.HasPrefix(w.Text, "--") {
				rest = strings.TrimPrefix(strings.TrimPrefix(w.Text, "-x"), "-X")
			}
			if rest != w.Text && strings.HasPrefix(w.Text, "-") { // -xrm
				return a.fd(&shCall{argv: lists.Concat(c.argv[:1], args[:i], args[i+1:], []Word{NewWord("-x"), NewWord(rest)}), fr: c.fr, name: c.name, index: c.index, offset: c.offset})
			}
		}
	}
	before := args
	if run >= 0 {
		before = args[:run]
	}
	o := options(before, "dtEeSjcoC", "--max-depth --type --exclude --extension --size --threads --base-directory --search-path --changed-within --changed-before", 0)
	dir, name := ".", "?*"
	if first := o.operand(0); first != "." && first != "" {
		if name = losses.NameGlob(first); o.exact("-g", "--glob") {
			name = first
		} else if name == "" {
			name = "*{some}"
		}
	} else if ext, ok := o.value("-e", "--extension"); ok {
		name = "*." + ext.Text
	} else {
		name = "*"
	}
	if len(o.operands) > 1 {
		dir = o.operand(1)
	} else if w, ok := o.value("--base-directory", "-C", "--search-path"); ok {
		dir = w.Text
	}
	match := shValue{{text: dir + "/**/" + name, kind: shMatch}}.word()
	if run < 0 {
		return append(match.value(), shPart{text: "\n"})
	}
	argv := replaceMark(args[run+1:], "{}", match)
	if len(argv) > 0 && !strings.Contains(strings.Join(WordTexts(args[run+1:]), " "), "{") {
		argv = append(argv[:len(argv):len(argv)], match)
	}
	return a.wrapped(c, argv, c.fr)
}
