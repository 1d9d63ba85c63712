package shell

import (
	"strconv"
	"strings"
	"sync"

	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"mvdan.cc/sh/v3/syntax"
)

// The bounds. What exceeds one is an effect of kind unknown. They count work
// and not time, so that the same text always has the same answer.
const (
	// MaxBytes is the longest text read by default.
	MaxBytes = 128 << 10
	// maxShellCommands bounds the commands that are listed.
	maxShellCommands = 2000
	// maxShellSteps bounds the statements and words that are looked at.
	maxShellSteps = 40_000
	// maxShellDepth bounds how deep statements, substitutions and functions
	// nest; maxShellCode how deep code within code does.
	maxShellDepth = 400
	maxShellCode  = 12
	// maxShellValue bounds the bytes of a value that is computed; maxShellText
	// all of them together.
	maxShellValue = 64 << 10
	maxShellText  = 4 << 20
	// maxFields bounds the words one word expands to.
	maxFields = 256
	// maxCombos bounds the combinations of values one command is read with.
	maxCombos = 16
	// maxChoices bounds the variables whose alternatives are combined.
	maxChoices = 24
)

// Reasons of effects of kind unknown.
const (
	shellTooLong  = "too-long"
	shellTooDeep  = "too-deep"
	shellTooMany  = "too-many"
	shellUnparsed = "unparsed"
	ShellNotPosix = "not-posix"
	DynamicName   = "dynamic-command"
	DynamicCode   = "dynamic-code"
)

// analysis is the state of one Parse.
type analysis struct {
	at    At
	out   *Line
	steps int
	bytes int
	depth int
	// operand is how deep among operands of arithmetic the analysis is.
	operand int
	code    int
	pipes   int
	fds     int
	// choices are the alternatives of variables that the command being read
	// was given.
	choices []shChoice
	// before are the commands being read that change the shell.
	before []shBegun
	// choosing counts the commands around that choose.
	choosing int
	// crowded is true when a command has more choices than are told apart.
	crowded bool
	// seen finds commands that are read again: in a loop, a function called
	// twice, another combination of values. It is nil until something is.
	seen map[string]int
	// active counts the calls of the functions being read.
	active map[*shFunction]int
	// returned are the states in which the function being read returned.
	returned []*shState
	// sourcing counts the sourced files being read, which return leaves too.
	sourcing int
	// jumps are those of the loop being read.
	jumps *shJumps
	// mounts are the directories of this machine that containers see.
	mounts []shMount
	traps  []shTrap
	// added is what secret git was told to add, sourced what the shell took in.
	added, sourced string
	parts          []shPart
	full           bool
}

type shTrap struct {
	code shValue
	fr   shFrame
}

// shFrame is where a statement stands.
type shFrame struct {
	st  *shState
	src string
	// base is the offset of nested code, -1 for the line itself.
	base  int
	stdin shStream
	// out collects what is printed, nil when nobody reads it.
	out         *shValue
	via         []string
	host        string
	redirects   []Redirect
	pipe, stage int
	conditional bool
	around      bool // conditional of what is around a substitution
	background  bool
	// process is true for what a wrapper starts: functions, aliases and
	// builtins of the shell are not there.
	process bool
	// dialect is the shell that reads the code when it is none of POSIX.
	dialect string
}

// shStream is what a command reads from its standard input.
type shStream struct {
	value shValue
	set   bool
	// here is true for a here-document.
	here bool
}

var shParsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// Parse reads a command line. It never fails, is bounded in time and
// memory whatever the text, looks at neither disk nor network, and is safe for
// concurrent use.
func Parse(line string, at At) *Line {
	a := &analysis{at: at, out: &Line{}}
	limit := at.MaxBytes
	if limit <= 0 {
		limit = MaxBytes
	}
	dir, ok := paths.Clean(at.Cwd)
	if at.Cwd == "" || !ok && !strings.HasPrefix(at.Cwd, "/") {
		dir = ""
	}
	fr := shFrame{st: &shState{dirs: []string{dir}}, base: -1}
	fr.st.shell = fr.st
	if len(line) > limit {
		a.unknown(&fr, shellTooLong, 0)
		return a.out
	}
	if at.Shell != "" {
		a.runDialect(at.Shell, line, &fr, 0)
	} else {
		a.runText(line, &fr)
	}
	for i := 0; i < len(a.traps) && i < maxCombos; i++ { // in the state at the end
		t := a.traps[i]
		end := t.fr.st.shell.clone()
		t.fr.st = t.fr.st.clone()
		t.fr.st.dead, end.dead = false, false
		a.meets(t.fr.st, end)
		a.runCode(t.code, &t.fr, "trap", 0)
	}
	return a.out
}

// meets adds a state in which a trap may run; a variable that was not assigned before has its first value.
func (a *analysis) meets(trap, st *shState) {
	for _, name := range st.vars.names() {
		if _, ok := trap.vars.get(name); !ok {
			alts, _ := st.vars.get(name)
			trap.bind(name, alts...)
		}
	}
	a.join(trap, st)
}

// within returns the frame of what is reached through via.
//
//go:noinline
func (fr *shFrame) within(via string) *shFrame {
	in := *fr
	in.via = append(fr.via[:len(fr.via):len(fr.via)], via)
	return &in
}

// subshell is a frame whose state is a copy.
//
//go:noinline
func (fr *shFrame) subshell() *shFrame {
	in := *fr
	in.st = fr.st.clone()
	in.st.shell = in.st
	return &in
}

func (fr *shFrame) offset(n syntax.Node) int {
	if fr.base >= 0 || n == nil {
		return max(fr.base, 0)
	}
	return int(n.Pos().Offset())
}

// source is the text of a node, for what is not known.
func (fr *shFrame) source(n syntax.Node) string {
	if w, ok := n.(*syntax.Word); ok && w == nil {
		return ""
	}
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(fr.src) || start >= end {
		return "$(...)"
	}
	text := fr.src[start:end]
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "..."
	}
	return text
}

// work counts steps that one thing takes.
func (a *analysis) work(steps int) { a.steps += steps }

// spend counts a step and reports whether there is work left to be done.
func (a *analysis) spend(fr *shFrame) bool {
	a.steps++
	if a.full {
		return false
	}
	if a.steps > maxShellSteps || a.bytes > maxShellText {
		a.full = true
		a.unknown(fr, shellTooMany, max(fr.base, 0))
		return false
	}
	return true
}

// enter counts a level of nesting; leave must follow when it reports true.
//
//go:noinline
func (a *analysis) enter(fr *shFrame) bool {
	if a.depth >= maxShellDepth {
		a.unknown(fr, shellTooDeep, max(fr.base, 0))
		return false
	}
	a.depth++
	return true
}

//go:noinline
func (a *analysis) leave() { a.depth-- }

// unknown notes that something could not be read, once for each reason.
//
//go:noinline
func (a *analysis) unknown(fr *shFrame, why string, offset int) {
	a.out.Dynamic = true
	for _, known := range a.out.Unknown {
		if known == why {
			return
		}
	}
	a.out.Unknown = append(a.out.Unknown, why)
	a.out.Effects = append(a.out.Effects, Effect{
		Kind: EffectUnknown, Domain: DomainCode, Op: why, Certainty: CertainDynamic, Host: fr.host, Command: -1, Offset: offset,
	})
}

// runCode reads a value as shell code in the state of fr, which it changes.
func (a *analysis) runCode(code shValue, fr *shFrame, via string, offset int) {
	if len(code) == 0 {
		return
	}
	in := *fr.within(via)
	if in.base < 0 {
		in.base = offset
	}
	if d := in.dialect; d != "" {
		in.dialect = ""
		a.runDialect(d, a.encode(code), &in, offset)
		return
	}
	a.runText(a.encode(code), &in)
}

// runText parses text and reads its statements.
func (a *analysis) runText(text string, fr *shFrame) {
	if a.code >= maxShellCode || len(text) > MaxBytes && a.code > 0 || posix.TooDeep(text) {
		a.unknown(fr, shellTooDeep, max(fr.base, 0))
		return
	}
	if !a.spend(fr) {
		return
	}
	a.code++
	defer func() { a.code-- }()
	fr.src = text
	a.bytes += len(text)
	file, err := parseBash(text)
	if err != nil {
		a.runBroken(text, err, fr)
		return
	}
	a.stmts(file.Stmts, fr)
}

func parseBash(text string) (*syntax.File, error) {
	p := shParsers.Get().(*syntax.Parser)
	defer shParsers.Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// markOpen and markClose enclose the number of a part that is not known, in
// code that holds it.
const (
	markOpen  = "\uE0F0"
	markClose = "\uE0F1"
)

// encode writes a value as code: what is not known becomes a mark, which
// literals give back as what it is, however it is quoted.
func (a *analysis) encode(v shValue) string {
	if s, ok := v.known(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range v {
		if p.known() {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(markOpen + strconv.Itoa(len(a.parts)) + markClose)
		a.parts = append(a.parts, p)
	}
	return b.String()
}

// decode gives back a literal's parts.
func (a *analysis) decode(text string, kind shPartKind, quoted bool) shValue {
	if !strings.Contains(text, markOpen) {
		return shValue{{text: text, kind: kind, quoted: quoted}}
	}
	var out shValue
	for text != "" {
		before, rest, found := spell.Cut(text, markOpen)
		if before != "" {
			out = append(out, shPart{text: before, kind: kind, quoted: quoted})
		}
		if !found {
			break
		}
		number, after, closed := spell.Cut(rest, markClose)
		n, err := strconv.Atoi(number)
		if !closed || err != nil || n < 0 || n >= len(a.parts) {
			out = append(out, shPart{text: markOpen, kind: shAny})
			text = rest
			continue
		}
		p := a.parts[n]
		p.quoted = quoted
		out = append(out, p)
		text = after
	}
	return out
}
