package runner

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnstartable = diag.Define("HK090", diag.Warning, "command cannot be started")
var codeNotExecutable = diag.Define("HK091", diag.Warning, "script is not executable")
var codeExit2 = diag.Define("HK120", diag.Warning, "exit 2 is a failure here, not a deny").Guarding()

func notExecutable(at diag.Span, hook, path string) diag.Diagnostic {
	return codeNotExecutable.Report(at, "%s is not executable", path).WithHook(hook).
		WithHint("run chmod +x %s, or name its interpreter in the command", path)
}

func executable(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0
}

// lintCommand reports a command whose program, or the script that its interpreter
// is given, is a path to nothing, and a program that cannot be executed.
func lintCommand(h *policy.Hook, body *policy.Body) diag.List {
	words := firstWords(body.Command.Value)
	if len(words) == 0 {
		return nil
	}
	w, program := words[0], true
	if script := scriptOf(words); script >= 0 {
		w, program = words[script], false
	} else if !strings.Contains(w.text, "/") {
		return nil
	}
	at := body.Command.At(w.start, w.end)
	path, known := whereFound(h, w.text)
	if !known {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir():
		d := codeUnstartable.Report(at, "%s does not exist", w.text).WithHook(h.Name)
		if !filepath.IsAbs(w.text) && !strings.HasPrefix(w.text, "$") && !strings.HasPrefix(w.text, "~") {
			d = d.WithHint(`a relative command is looked for in %s: the project's root, or the folder of a user's or managed policy; a script beside the policy is "$HOOKC_POLICY_DIR/%s"`,
				filepath.Dir(path), strings.TrimPrefix(w.text, "./"))
		}
		return diag.List{d}
	case program && !executable(info):
		return diag.List{notExecutable(at, h.Name, path)}
	}
	return nil
}

// scriptFirst are interpreters whose first word that is no option is a script.
var scriptFirst = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*/)?(?:bash|dash|ksh|sh|zsh|node|perl|php|python|ruby|lua)[0-9.]*$`)
})

// scriptOf is which word is the script that an interpreter is given, or -1. What
// follows an option may be its value, so it is not looked at.
func scriptOf(words []word) int {
	if len(words) < 2 || !scriptFirst().MatchString(words[0].text) {
		return -1
	}
	i := 1
	for ; i < len(words) && (words[i].text == "-u" || words[i].text == "-B" || words[i].text == "-x" && strings.HasSuffix(words[0].text, "sh")); i++ {
	}
	if i == len(words) || words[i].text == "" || strings.ContainsAny(words[i].text[:1], "-+=") {
		return -1
	}
	return i
}

// whereFound is where a word that is a path is found, as it is when the hook runs
// (semantics.md §2.8). It is not known for a word that the shell would expand in
// another way.
func whereFound(h *policy.Hook, word string) (string, bool) {
	base, root := h.Body.Base, h.Body.Root
	if base == "" { // nobody looked for its programs: it was not loaded
		base = lists.First(h.Body.WorkDir, h.Dir)
	}
	for _, name := range []string{"HOOKC_POLICY_DIR", "HOOKC_PROJECT_ROOT", "CLAUDE_PROJECT_DIR"} {
		to := root
		if name == "HOOKC_POLICY_DIR" {
			to = h.Dir
		}
		if to != "" {
			word = strings.NewReplacer("${"+name+"}", to, "$"+name, to).Replace(word)
		}
	}
	if rest, ok := spell.CutPrefix(word, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			word = filepath.Join(home, rest)
		}
	}
	switch {
	case word == "" || strings.ContainsAny(word, "$`*?[~"):
		return "", false
	case filepath.IsAbs(word):
		return word, true
	}
	return filepath.Join(base, word), base != ""
}

// word is a word of a command, its quotes removed, and where it is written.
type word struct {
	text       string
	start, end int
}

var (
	plainWord = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:"([^"\\` + "`" + `]*)"|'([^']*)'|([^\s"'\\;|&<>()` + "`" + `#]+))+`)
	})
	assignment = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })
)

// firstWords are the words of a command up to the first thing that is not a
// plain word: what the shell will start, and its arguments. Assignments
// before the command are left out.
func firstWords(command string) []word {
	var out []word
	for at := 0; at < len(command); {
		if c := command[at]; c == ' ' || c == '\t' || c == '\n' && len(out) == 0 {
			at++
			continue
		}
		text := plainWord().FindString(command[at:])
		if text == "" {
			break
		}
		if len(out) > 0 || !assignment().MatchString(text) {
			out = append(out, word{strings.NewReplacer(`"`, "", "'", "").Replace(text), at, at + len(text)})
		}
		at += len(text)
	}
	return out
}

var exit2 = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\bexit\s*\(?\s*2\b`) })

// maxScript bounds the scripts that are read to look for exit 2.
const maxScript = 1 << 20

// lintExit2 reports a command, or the script it starts, that means to block
// with status 2 under the protocol in which 2 is a failure.
func lintExit2(h *policy.Hook, body *policy.Body) diag.List {
	if !h.Event.Spec().Powers.Has(policy.MayDeny) {
		return nil
	}
	text := body.Command
	at, end, found := findExit2(text.Value)
	where := "the command"
	if !found {
		at, end = 0, len(text.Value)
		where, found = scriptExit2(h, body)
	}
	if !found {
		return nil
	}
	span := text.At(at, end)
	if span.IsZero() {
		span = h.Span
	}
	return diag.List{codeExit2.Report(span, "%s exits with 2, which under protocol jcli is a failure and denies nothing", where).
		WithHook(h.Name).WithHint("did you mean protocol: claude? Otherwise on_error decides")}
}

// findExit2 finds `exit 2` in a script, comments aside.
func findExit2(script string) (start, end int, found bool) {
	at := 0
	for _, line := range strings.SplitAfter(script, "\n") {
		if m := exit2().FindStringIndex(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return at + m[0], at + m[1], true
		}
		at += len(line)
	}
	return 0, 0, false
}

// scriptExit2 looks into the files a command starts with.
func scriptExit2(h *policy.Hook, body *policy.Body) (string, bool) {
	words := firstWords(body.Command.Value)
	for _, w := range words[:min(3, len(words))] {
		if !strings.Contains(w.text, "/") {
			continue
		}
		path, _ := whereFound(h, w.text)
		script, ok := scriptText(h, path)
		if !ok {
			continue
		}
		if _, _, found := findExit2(script); found {
			return w.text, true
		}
	}
	return "", false
}

// scriptText is what a script holds that may be read for a hook: a small regular
// file of text, in its project where nobody trusted that.
func scriptText(h *policy.Hook, path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return "", false
	}
	if h.File != nil && h.File.Within != "" {
		root, err := filepath.EvalSymlinks(h.File.Within)
		if err != nil {
			return "", false
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", false
		}
		if rel, err := filepath.Rel(root, path); err != nil || !filepath.IsLocal(rel) {
			return "", false
		}
	}
	script, err := os.ReadFile(path)
	return string(script), err == nil && bytes.IndexByte(script, 0) < 0
}
