package tests

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandsShown: each command line of hookc, hookcd, hookgate, go test and .ci that
// a page shows, in a span of code or in a block, has a command and flags that are there.
// What a command prints is for tests/scripts (TestPagesWithCommands).
func TestCommandsShown(t *testing.T) {
	seen := 0
	for _, p := range pages(t) {
		if !p.markdown || p.name == "CHANGELOG.md" { // it tells what was
			continue
		}
		for _, line := range commandLines(p.text) {
			seen++
			for _, wrong := range wrongCommand(line) {
				t.Errorf("%s: %q: %s", p.name, line, wrong)
			}
		}
	}
	assert.Greater(t, seen, 300)
}

// TestCommandsShownFinds: what is wrong with a command line is found wherever it is.
func TestCommandsShownFinds(t *testing.T) {
	for _, page := range []string{"`hookc frobnicate`", "`hookc run --nonsense`", "a `hookc log nonsense`", "```sh\nX=1 hookc test --nonsense  # it\n```", "```\nhookc nonsense\n```",
		"```console\n$ cd a && hookc check --nonsense | head\nout\n```", "`hookgate --nonsense`", "`hookcd --nonsense`", "```sh\ngo test ./nowhere\n```", "```sh\ngo test ./tests -run TestNowhere\n```",
		"```sh\ngo test ./tests -no.flag 3\n```", "`go test ./tests -run Nonsense`", "```sh\n.ci/nonsense x\n```", "`go build ./cmd/hookc ./cmd/hookgate`", "`go install ./cmd/nonsense`", "``hookc nonsense``", "`hookc run [EVENT] [-f PATH] [--nonsense]`"} {
		lines := commandLines(page)
		if assert.Len(t, lines, 1, page) {
			assert.Len(t, wrongCommand(lines[0]), 1, page)
		}
	}
	for _, page := range []string{"`hookc`", "hookc runs", "`hookc run --json`", "`hookc log key rotate`", "`hookc list dialect`", "```yaml\ncommand: x hookc\n```", "`hookc help HK081`",
		"```sh\ngo test ./... -run 'TestPlain|TestLinks$' -count 1\n```", "`hookc compile --explain=svg -o x`", "`hookc 0.4`"} {
		for _, line := range commandLines(page) {
			assert.Empty(t, wrongCommand(line), page)
		}
	}
}

var (
	anyFence  = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```")
	anySpan   = regexp.MustCompile("(?s)``([^`].*?)``|`([^`]*?)`")
	isCommand = regexp.MustCompile(`^(?:hookc|hookcd|hookgate|go (?:test|build|install)|\.ci/[a-z-]+)(?:\s|$)`)
	assigned  = regexp.MustCompile(`^(?:[A-Z_]+=\S*\s+)+`)
	separates = regexp.MustCompile(`\s(?:\||&&?|\|\||;)\s|[{(]\s|;\s|\$\(`)
)

// commandLines are the commands that a page shows: spans of code, and lines of blocks
// that a shell reads.
func commandLines(text string) []string {
	var parts []string
	for _, m := range anyFence.FindAllStringSubmatch(text, -1) {
		if !slices.Contains([]string{"", "sh", "console"}, m[1]) {
			continue
		}
		for _, line := range strings.Split(m[2], "\n") {
			prompt := strings.HasPrefix(line, "$ ")
			if prompt || m[1] != "console" {
				line, _, _ = strings.Cut(strings.TrimPrefix(line, "$ "), " # ")
				parts = append(parts, separates.Split(line, -1)...)
			}
		}
	}
	for _, m := range anySpan.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		parts = append(parts, separates.Split(m[1]+m[2], -1)...)
	}
	var out []string
	for _, part := range parts {
		part = strings.ReplaceAll(assigned.ReplaceAllString(strings.TrimSpace(part), ""), `\|`, "|")
		part = strings.Join(strings.Fields(strings.TrimPrefix(part, "./")), " ")
		if isCommand.MatchString(part) {
			out = append(out, part)
		}
	}
	return out
}

var (
	flagShown = regexp.MustCompile(`(?:^|[\s\[|(])(--?[a-zA-Z][a-zA-Z.-]*)`)
	isWord    = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// wrongCommand is what is wrong with a command line.
func wrongCommand(line string) []string {
	program, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(program, ".ci/"):
		if _, err := os.Stat(filepath.Join("..", program)); err != nil {
			return []string{"there is no such script"}
		}
		return nil
	case program == "go":
		if tests, ok := strings.CutPrefix(rest, "test"); ok {
			return wrongGoTest(tests)
		}
		return wrongGoBuild(rest)
	case program != "hookc":
		dir := map[string]string{"hookcd": "fleet/cmd/hookcd", "hookgate": "cmd/hookgate"}[program]
		return wrongFlags(rest, func(flag string) bool { return flagNamed(dir, strings.TrimLeft(flag, "-")) })
	}
	words := strings.Fields(rest)
	if len(words) == 0 || !isWord.MatchString(words[0]) {
		return nil // what is said of the program, and of its flags
	}
	help, err := os.ReadFile(filepath.Join("testdata", "golden", "help", words[0]+".text"))
	if err != nil {
		return []string{fmt.Sprintf("hookc has no command %s", words[0])}
	}
	if len(words) > 1 && slices.Contains([]string{"log", "bundle", "approvals", "hooks", "serve"}, words[0]) {
		for _, sub := range strings.Split(words[1], "|") {
			if isWord.MatchString(sub) && !regexp.MustCompile(`(?m)(^  |\b)`+sub+`\b`).Match(help) {
				return []string{fmt.Sprintf("hookc %s has no command %s", words[0], sub)}
			}
		}
	}
	return wrongFlags(rest, func(flag string) bool {
		return regexp.MustCompile(`(^|[\s,])`+regexp.QuoteMeta(flag)+`\b`).Match(help) || subFlag(words, strings.TrimLeft(flag, "-"))
	})
}

// subFlag: commands below a command have no page of help among the goldens; their flags
// are names in the source.
func subFlag(words []string, flag string) bool {
	dir := map[string]string{"log": "cmd/hookc/logs", "bundle": "cmd/hookc/bundles", "approvals": "cmd/hookc/approvals"}[words[0]]
	return dir != "" && flagNamed(dir, flag)
}

// flagNamed reports whether a string of a program's source is the name of a flag.
func flagNamed(dir, flag string) bool {
	files, _ := filepath.Glob(filepath.Join("..", dir, "*.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && regexp.MustCompile(`"-{0,2}`+regexp.QuoteMeta(flag)+`[="]`).Match(text) {
			return true
		}
	}
	return flag == "h" || flag == "help"
}

func wrongFlags(rest string, known func(string) bool) (out []string) {
	rest = regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(rest, "TEXT")
	for _, m := range flagShown.FindAllStringSubmatch(rest, -1) {
		if !known(m[1]) {
			out = append(out, "it has no flag "+m[1])
		}
	}
	return out
}

// goFlags are go test's own flags that pages show.
var goFlags = strings.Fields("exec run bench benchmem benchtime count short v timeout race tags cpuprofile memprofile fuzz fuzztime json args")

// wrongGoTest: the packages are there, -run finds a test in them, and other flags are
// defined in them.
func wrongGoTest(rest string) (out []string) {
	var dirs []string
	run, tests := "", ""
	words := strings.Fields(rest)
	for i, w := range words {
		switch {
		case i > 0 && words[i-1] == "-run":
			run = strings.Trim(w, "'\"")
		case i > 0 && words[i-1] == "-exec":
		case w == "." || strings.HasPrefix(w, "./"):
			dir := path.Clean(strings.TrimSuffix(w, "/..."))
			if _, err := os.Stat(filepath.Join("..", dir)); err != nil {
				dir = path.Join("fleet", dir) // a module of its own, where its commands are given
			}
			if _, err := os.Stat(filepath.Join("..", dir)); err != nil {
				out = append(out, "there is no package "+w)
			}
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		pattern := "*_test.go"
		files, _ := filepath.Glob(filepath.Join("..", dir, pattern))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			tests += string(text)
		}
	}
	if len(out) > 0 || strings.Contains(rest, "/...") || len(dirs) == 0 {
		return out
	}
	if want, err := regexp.Compile(run); run != "" && !strings.EqualFold(run, "xxx") && run != "^$" && err == nil {
		found := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)`).FindAllStringSubmatch(tests, -1)
		if !slices.ContainsFunc(found, func(m []string) bool { return want.MatchString(m[1]) }) {
			out = append(out, "no test is called "+run)
		}
	}
	return append(out, wrongFlags(rest, func(flag string) bool {
		name := strings.TrimLeft(flag, "-")
		return slices.Contains(goFlags, name) || strings.Contains(tests, `"`+name+`"`)
	})...)
}

// wrongGoBuild: the packages are there. `go build` of several keeps none of them, unless
// it is told where.
func wrongGoBuild(rest string) (out []string) {
	packages := 0
	for _, w := range strings.Fields(rest) {
		if strings.HasPrefix(w, "./") && !strings.HasSuffix(w, "/") {
			packages++
			dir := filepath.Join("..", strings.TrimSuffix(w, "/..."))
			if strings.Contains(rest, "-C fleet ") {
				dir = filepath.Join("..", "fleet", w)
			}
			if _, err := os.Stat(dir); err != nil {
				out = append(out, "there is no package "+w)
			}
		}
	}
	if packages > 1 && strings.HasPrefix(rest, "build") && !strings.Contains(rest, " -o ") {
		out = append(out, "it writes no program")
	}
	return out
}

// TestBlocksAreHeld: each block of each page is of a language that a test reads, and a
// block of a shell's session is on a page that is played.
func TestBlocksAreHeld(t *testing.T) {
	held := map[string]string{
		"console": `^(README|docs/guide/[a-z]+|docs/rego)\.md$`, // tests/scripts plays them
		"go":      `^(README|docs/guide/[a-z]+|docs/semantics)\.md$`,
		"sh":      `^(README|CONTRIBUTING|docs/benchmarks|docs/fleet|docs/guide/fleet|docs/reference/dialects/.*)\.md$`, // TestCommandsShown
		"":        `^docs/`,
		"text":    `^docs/reference/diagnostics\.md$`, "yaml": `^(README|docs/.*)\.md$`, "json": `^(docs|tests/vectors)/`, "rego": `^docs/`, "expr": `^docs/reference/shell\.md$`,
		"ini": `^docs/reference/cli\.md$`, "toml": `^docs/reference/dialects/`, "lua": `^docs/reference/editors\.md$`,
	}
	blocks := 0
	for _, p := range pages(t) {
		if !p.markdown {
			continue
		}
		for _, m := range anyFence.FindAllStringSubmatch(p.text, -1) {
			blocks++
			where, ok := held[m[1]]
			assert.True(t, ok && regexp.MustCompile(where).MatchString(p.name), "%s has a block of %q, which no test reads", p.name, m[1])
		}
		assert.Equal(t, strings.Count("\n"+p.text, "\n```"), 2*len(regexp.MustCompile("(?ms)^```.*?^```[ \t]*$").FindAllString(p.text, -1)), "%s: a block has no end", p.name)
	}
	require.Greater(t, blocks, 300)
}
