// Package harm finds classes of harm that the effects of a command line do not name. What serves
// is changed, money is spent, others are written to, code of strangers runs, secrets are shown by a
// detour, something stays behind or is opened, a safeguard is taken off, source is lost.
package harm

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
)

// table is harm.txt, packed: its text has 110 kB. A line has a kind, the programs, ~, and a
// regular expression of the text of the command. One after & must match too, one after !~
// says what is harmless, and one after && is of the whole line. The text of a command is its
// variables, its words, what it reads where the line says that, and the other commands of its
// pipeline. A * means all programs but those of =quiet, which only read, write text, keep
// versions or have lines of their own. In place of programs stand $NAMES of variables, or write:, read:
// and delete: for files, with parts of paths, of which one must be in the path: its expression is
// of the path, with ~ for the home. {name} means a line that begins with =, and one that begins
// with ! says a kind's packs, what would happen, and what to do instead. What begins with two
// spaces goes on with the line before it.
//
//go:embed harm.txt.gz
var table string

// A Finding is one harm: its kind, the command, and what it is done to.
type Finding struct {
	Kind, Target string
	Command      int
}

// rule is a line of the table.
type rule struct {
	kind                  string
	parts                 []string
	want, also, not, line expression
}

// expression is a regular expression that is made when it is first needed. Its text is empty where there is no such.
type expression struct {
	text string
	once sync.Once
	made *losses.Expression
}

func (e *expression) in(text, lower string) bool {
	e.once.Do(func() { e.made = losses.NewExpression(parsed().names.Replace(e.text)) })
	return e.made.In(text, lower)
}

type rules struct {
	programs, files map[string][]*rule
	advice          map[string][3]string
	quiet           map[string]bool
	names           *strings.Replacer
}

// Advice is what there is to say of a kind: the packs that judge it, what would happen, and
// what to do instead.
func Advice(kind string) [3]string { return parsed().advice[kind] }

// parsed is the table, read when it is first looked at.
var parsed = lazy.Value(parse)

func parse() *rules {
	t := &rules{make(map[string][]*rule, 2048), map[string][]*rule{}, map[string][3]string{}, make(map[string]bool, 128), nil}
	lines := lines(packed.Text(table))
	names := []string{}
	for len(lines) > 0 && (lines[0] == "" || lines[0][0] == '=') { // before all that use them
		if name, text, ok := spell.Cut(strings.TrimPrefix(lines[0], "="), " "); ok {
			names = append(names, "{"+name+"}", strings.NewReplacer(names...).Replace(text))
		}
		lines = lines[1:]
	}
	t.names = strings.NewReplacer(names...)
	for _, name := range strings.Fields(t.names.Replace("{quiet}")) {
		t.quiet[name] = true
	}
	for _, line := range lines {
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '!':
			f := strings.Split(line[1:], "|")
			kind, packs, _ := spell.Cut(f[0], " ")
			t.advice[kind] = [3]string{packs, f[1], f[2]}
			continue
		}
		head, want, _ := spell.Cut(line, " ~ ")
		want, all, _ := spell.Cut(want, " && ")
		want, not, _ := spell.Cut(want, " !~ ")
		want, also, _ := spell.Cut(want, " & ")
		words := strings.Fields(t.names.Replace(head))
		r := &rule{kind: words[0]}
		r.want.text, r.also.text, r.not.text, r.line.text = want, also, not, all
		if kind, file := spell.CutSuffix(words[1], ":"); file {
			r.parts = words[2:]
			t.files[kind] = append(t.files[kind], r)
			continue
		}
		for _, name := range words[1:] {
			t.programs[name] = append(t.programs[name], r)
		}
	}
	return t
}

// lines are the lines of a text, those that begin with two spaces with the ones before them.
func lines(text string) (out []string) {
	for _, line := range strings.Split(text, "\n") {
		more := strings.TrimLeft(line, " ")
		switch {
		case len(line)-len(more) < 2:
			out = append(out, line)
		case more[0] == '|':
			out[len(out)-1] += more
		default:
			out[len(out)-1] += " " + more
		}
	}
	return out
}

// finder is the state of one Find. texts are the commands as text, made when they are needed.
type finder struct {
	s     *shell.Line
	at    shell.At
	texts []string
	all   string
	lower string
	found []Finding
}

// Find returns the harms of a command line.
func Find(s *shell.Line, at shell.At) []Finding {
	f := &finder{s: s, at: at}
	for i := range s.Commands[:min(len(s.Commands), 200)] {
		f.command(i)
	}
	for i := range s.Effects[:min(len(s.Effects), 400)] {
		f.effect(&s.Effects[i])
	}
	return f.found
}

//go:noinline
func (f *finder) add(kind string, command int, target string) {
	f.found = append(f.found, Finding{kind, target, command})
}

// command asks the table about one command.
func (f *finder) command(i int) {
	c := &f.s.Commands[i]
	if len(c.Argv) == 0 || strings.HasPrefix(c.Host, "image:") || lists.Has(c.Flags, "--help") || Dry(c) {
		return
	}
	for _, e := range c.Env {
		for _, r := range parsed().programs["$"+losses.Family(e.Name)] {
			if text := e.Name + "=" + e.Value.Text; r.matches(text, strings.ToLower(text)) {
				f.add(r.kind, i, text)
			}
		}
	}
	rules := parsed().programs[c.Name]
	if len(rules) == 0 {
		rules = parsed().programs[shell.Versionless(c.Name)]
	}
	var all []*rule
	if !parsed().quiet[c.Name] {
		all = parsed().programs["*"]
	}
	if len(rules)+len(all) == 0 || calls(f.s.Commands[i:]) {
		return
	}
	for k, list := range [...][]*rule{rules, all} {
		if len(list) == 0 {
			continue
		}
		text := f.text(i)
		if k == 0 { // what another program of the pipeline is told says nothing of this one under *
			text = f.pipeline(i)
		}
		lower := strings.ToLower(text)
		for _, r := range list {
			if !r.matches(text, lower) || r.kind == "live" && strings.HasPrefix(c.Host, "container:") && composed(f.s, c) || r.kind == "reveal" && (Given(f.s, i) || NamesOnly(f.s, &shell.Effect{Command: i})) {
				continue
			}
			if r.line.text == "" || f.whole(&r.line) && (r.not.text == "" || !f.whole(&r.not)) {
				f.add(r.kind, i, text)
				return
			}
		}
	}
}

// dryShort are short options with which a program only says what it would do.
var dryShort = map[string]string{"rsync": "-n", "make": "-n", "act": "-n", "git": "-h", "apt-get": "-s", "rake": "-n -D -T", "http": "--offline", "https": "--offline"}

// helps are commands that say what another does, or would.
var helps = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\w-]+ help [a-z]|-invocation-type DryRun |^lftp -e \S.*--dry-run`)
})

// Dry reports whether an option says that nothing happens. Code may not look at one, nor may what
// another program runs.
func Dry(c *shell.Command) bool {
	words := shell.WordTexts(c.Argv)
	if losses.Languages()[c.Name] || losses.In(shell.Versionless(c.Name), "sh bash zsh dash ksh fish ssh eval python node deno bun ruby perl php npx bunx uvx") || slices.ContainsFunc(words, func(w string) bool { return losses.In(w, "run run-script exec x dlx") }) {
		return false
	}
	says := c.Name == "lftp" || len(words) > 2 && lists.Has(words[1:3], "help") || lists.Has(words, "DryRun")
	if len(words) > 2 && words[len(words)-1] == "-h" || says && helps().MatchString(strings.TrimPrefix(strings.Join(words, " "), "xcrun ")+" ") {
		return true
	}
	return slices.ContainsFunc(c.Flags, func(flag string) bool {
		return losses.In(flag, "--dry-run --dryrun --preview-only --print-sql --dump-sql --list-tasks --list-hosts --list-tags --syntax-check -help --validate-only --only-names -output-policy -output-curl-string "+dryShort[c.Name])
	}) && !slices.ContainsFunc(words, func(w string) bool {
		name, value, _ := spell.Cut(w, "=")
		return losses.In(name, "--dry-run --dryrun") && losses.In(value, "false none no 0 off")
	})
}

// calls reports whether the first of some commands is a function of the line, whose body comes next.
func calls(commands []shell.Command) bool {
	functions := func(c *shell.Command) (n int) {
		for _, via := range c.Via {
			if via == "function" {
				n++
			}
		}
		return n
	}
	return len(commands) > 1 && functions(&commands[1]) > functions(&commands[0])
}

//go:noinline
func (r *rule) matches(text, lower string) bool {
	return r.want.in(text, lower) && (r.also.text == "" || r.also.in(text, lower)) && (r.not.text == "" || !r.not.in(text, lower))
}

// maxText bounds how much text of a command is looked at.
const maxText = 2 << 10

// text is a command with its variables and what it is given to read.
//
//go:noinline
func (f *finder) text(i int) string {
	if f.texts == nil {
		f.texts = make([]string, len(f.s.Commands))
	}
	if f.texts[i] != "" {
		return f.texts[i]
	}
	c := &f.s.Commands[i]
	parts := environment(c)
	if parts = append(parts, c.Name); len(c.Argv) > 0 {
		parts = append(parts, shell.WordTexts(c.Argv[1:])...)
	}
	for _, r := range c.Redirects {
		if parts = append(parts, r.Op, r.Target.Text); r.Op[0] == '<' {
			parts = append(parts, r.Here())
		}
	}
	text := strings.Join(parts, " ")
	f.texts[i] = text[:min(len(text), maxText)] + " "
	return f.texts[i]
}

// environment are the variables before a command.
//
//go:noinline
func environment(c *shell.Command) (out []string) {
	for _, e := range c.Env {
		out = append(out, e.Name+"="+e.Value.Text)
	}
	return out
}

// pipeline is the text of a command, with that of the others of its pipeline.
//
//go:noinline
func (f *finder) pipeline(i int) string {
	c := &f.s.Commands[i]
	if c.Pipe == 0 {
		return f.text(i)
	}
	all := ""
	for j := range f.s.Commands {
		if f.s.Commands[j].Pipe == c.Pipe && len(all) < maxText {
			all += f.text(j) + "| "
		}
	}
	return all
}

// whole is the text of all commands.
//
//go:noinline
func (f *finder) whole(e *expression) bool {
	if f.all == "" {
		for i := range f.s.Commands {
			if f.all += f.text(i) + "; "; len(f.all) > 4*maxText {
				break
			}
		}
		f.lower = strings.ToLower(f.all)
	}
	return e.in(f.all, f.lower)
}

// short is a path with ~ for the home and without the project.
//
//go:noinline
func (f *finder) short(p string) (rel string, project bool) {
	if rest, ok := spell.CutPrefix(p, f.at.Root+"/"); ok && f.at.Root != "" {
		return rest, true
	}
	if rest, ok := spell.CutPrefix(p, f.at.Home+"/"); ok && f.at.Home != "" {
		return "~/" + rest, false
	}
	return p, false
}

// effect asks the table about a file, and judges the loss of source.
func (f *finder) effect(e *shell.Effect) {
	if e.Domain != shell.DomainFile || e.Kind == shell.EffectUnknown || e.Command < 0 || strings.HasPrefix(e.Host, "image:") {
		return
	}
	rel, project := f.short(e.Target)
	if e.Kind == shell.EffectDelete && e.Recursive && f.mounted(e) {
		f.add("lost", e.Command, rel)
		return
	}
	if e.Kind == shell.EffectDelete && project && e.Place != shell.ZoneProjectRoot && f.source(e, rel) {
		f.add("source", e.Command, rel)
		return
	}
	for _, r := range parsed().files[string(e.Kind)] {
		if losses.HoldsAny(rel, r.parts) && !(r.kind == "reveal" && Given(f.s, e.Command)) && r.matches(rel, strings.ToLower(rel)) && (r.line.text == "" || f.whole(&r.line)) {
			f.add(r.kind, e.Command, rel)
			return
		}
	}
	if c := &f.s.Commands[e.Command]; e.Kind == shell.EffectWrite && e.Op == "redirect" && project && c.Name == "git" && len(c.Argv) > 2 && strings.HasSuffix(c.Argv[len(c.Argv)-1].Text, ":"+rel) {
		f.add("source", e.Command, rel) // git show HEAD:x > x
	}
}

// mounted reports whether the line put something else below a folder that it deletes.
//
//go:noinline
func (f *finder) mounted(e *shell.Effect) bool {
	return shell.AnyEffect(f.s.Effects, func(m *shell.Effect) bool {
		return m.Op == "mount" && m.Command < e.Command && losses.IsUnder(e.Target, m.Target)
	}) && !shell.AnyCommand(f.s.Commands[:e.Command], func(c *shell.Command) bool { return losses.In(c.Name, "umount fusermount fusermount3") })
}

// source reports whether a loss takes away a folder of source, what a glob names in it, or
// all that a source file holds.
//
//go:noinline
func (f *finder) source(e *shell.Effect, rel string) bool {
	if e.Op == "move" {
		return f.movedAway(e, rel)
	}
	c := &f.s.Commands[e.Command]
	elixir := losses.In(c.Name, "elixir mix iex")
	switch {
	case e.Op == "self-empty":
		return !inMade(strings.Split(rel, "/"))
	case e.Op == "truncate":
		if len(c.Argv) == 0 && len(c.Redirects) > 1 {
			return false // <name> of a text that shows how
		}
		return Source(rel) && !losses.In(path.Base(rel), "__init__.py py.typed")
	case e.Recursive && e.Certainty == shell.CertainKnown, strings.HasSuffix(rel, "/*"), strings.HasSuffix(rel, "/**"):
		return folder(strings.TrimRight(rel, "/*"), elixir)
	case e.Certainty == shell.CertainPattern && e.Recursive && !strings.Contains(rel, "/"):
		return slices.ContainsFunc([]string{"src", "app", "packages", "internal"}, func(name string) bool { return losses.GlobMatch(strings.TrimSuffix(rel, "{few}"), name) })
	case e.Certainty == shell.CertainPattern:
		return glob(rel) || e.Recursive && folder(strings.ReplaceAll(rel, "**/", ""), false)
	}
	return false
}

// movedAway reports whether source is moved out of the project, or many files onto one.
//
//go:noinline
func (f *finder) movedAway(e *shell.Effect, rel string) bool {
	many := e.Certainty == shell.CertainPattern && glob(rel)
	if !many && !folder(rel, false) {
		return false
	}
	for i := range f.s.Effects {
		if w := &f.s.Effects[i]; w.Kind == shell.EffectWrite && w.Op == "move" && w.Command == e.Command {
			to, project := f.short(w.Target)
			return f.goneWith(e, w) || !project && w.Place != shell.ZoneProjectRoot || many && Source(to) && w.Certainty == shell.CertainKnown
		}
	}
	return false
}

// goneWith reports whether the folder to which something was moved is deleted later.
//
//go:noinline
func (f *finder) goneWith(from, to *shell.Effect) bool {
	return shell.AnyEffect(f.s.Effects, func(e *shell.Effect) bool {
		return e.Kind == shell.EffectDelete && e.Op != "move" && e.Recursive && e.Command > to.Command && (losses.IsUnder(e.Target, to.Target) || e.Target == path.Join(to.Target, path.Base(from.Target)))
	})
}

// Folders are names of folders of source, holders those whose folders have source of their own.
var (
	folders = losses.Words(`src source sources app apps packages internal cmd backend frontend server servers client clients migrations controllers services crates modules
		api core domain features infra terraform helm manifests prisma tests spec __tests__ workspaces checkpoints datasets notebooks contracts proto protos include Sources Tests .github alembic migrate routes handlers models views Assets ProjectSettings Content`)
	holders = losses.Words("packages apps services crates modules backend frontend server client libs workspaces projects internal app web db examples plugins")
	made    = losses.Words(`dist build out target bin vendor node_modules pkg coverage tmp temp public generated gen __generated__ __pycache__ .venv venv env .next .nuxt .cache cache logs log obj .tox site _site _build
		storybook-static .terraform htmlcov reports artifacts output outputs fixtures snapshots __snapshots__ results scratch sandbox demo playground`)
)

// folder reports whether a path in the project is a whole folder of source.
//
//go:noinline
func folder(rel string, elixir bool) bool {
	parts := strings.Split(rel, "/")
	last := parts[len(parts)-1]
	if len(parts) > 3 || !folders()[last] && !(elixir && last == "lib") {
		return false
	}
	if len(parts) > 1 && losses.In(last, "tests spec __tests__ models views routes handlers features core api services modules include infra domain") {
		return false // a part of one
	}
	for i, part := range parts[:len(parts)-1] {
		if made()[part] || i == 0 && !holders()[part] {
			return false
		}
	}
	return true
}

// glob reports whether a pattern means all source files of a language: src/*.py, **/*.rs.
//
//go:noinline
func glob(rel string) bool {
	base := path.Base(rel)
	parts := strings.Split(rel, "/")
	if inMade(parts) || strings.Contains(rel, "{tests}") {
		return false
	}
	name, extension, ok := spell.Cut(base, ".")
	if !ok || strings.Trim(name, "*") != "" || strings.Contains(extension, ".") {
		return false
	}
	if strings.Contains(rel, "**") && losses.In(extension, "js css sql html md json yaml yml toml") {
		return false // as often what a compiler made
	}
	return losses.SourceExtensions()[extension] && (len(parts) > 1 || !losses.In(extension, "js sql json md css sh h"))
}

// inMade reports whether a folder of a path, not its last part, is made again.
//
//go:noinline
func inMade(parts []string) bool {
	return slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return made()[p] })
}

// Source reports whether a path in the project is that of a source file.
//
//go:noinline
func Source(rel string) bool {
	parts := strings.Split(rel, "/")
	if inMade(parts) {
		return false
	}
	base := parts[len(parts)-1]
	return losses.SourceExtensions()[strings.TrimPrefix(path.Ext(base), ".")] || losses.In(base, "package.json go.mod Cargo.toml Makefile Dockerfile README.md pyproject.toml pom.xml build.gradle Gemfile composer.json tsconfig.json CMakeLists.txt setup.py mix.exs docker-compose.yml")
}
