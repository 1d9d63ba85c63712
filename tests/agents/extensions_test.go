package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fork is Gemini CLI or a program made from it: what its files are called.
type fork struct {
	agent               *realAgent
	event, dir, extends string
}

// says is settings, or an extension's hooks, with one hook that leaves a word.
func (f *fork) says(word, more string) string {
	return `{"hooks":{"` + f.event + `":[` + f.group("", "echo "+word+" >> $GEMINI_PROJECT_DIR/ran.txt") + `]}` + more + `}`
}

func (f *fork) group(matcher, command string) string {
	return `{"matcher":` + jsonText(matcher) + `,"hooks":[{"type":"command","command":` + jsonText(command) + `}]}`
}

// ran are the words that the hooks of a session left.
func (s *session) ran(t *testing.T) []string {
	words := strings.Fields(s.file(t, "ran.txt"))
	slices.Sort(words)
	require.NoError(t, os.RemoveAll(filepath.Join(s.project, "ran.txt")))
	return words
}

// alike lays files out and holds what hooks run in the program against what run under
// its profile.
func (f *fork) alike(t *testing.T, environ []string, files map[string]string) {
	t.Parallel()
	s := begin(t, f.agent)
	s.bare = true
	root := filepath.Dir(s.home)
	fill := strings.NewReplacer("$HERE", root)
	for path, text := range files {
		put(t, filepath.Join(root, strings.Replace(path, "home/EXT/", "home/"+f.dir+"/extensions/", 1)), fill.Replace(text))
	}
	for _, kv := range environ {
		s.environ = append(s.environ, fill.Replace(kv))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(s.project, ".git"), 0o755))
	run := exec.CommandContext(t.Context(), s.hookc, "run", f.event, "--profile", f.agent.id, "--json")
	s.model = &model{}
	run.Dir, run.Env = s.project, append(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "HOOKC_TRUST=all"}, f.agent.env(s)...), s.environ...)
	run.Stdin = strings.NewReader(`{"hook_event_name":"` + f.event + `","tool_name":"run_shell_command","tool_input":{"command":"true"},"cwd":"` + s.project + `"}`)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	profile := s.ran(t)
	s.play(t, func(*session) []turn { return []turn{f.agent.shell("true"), {text: "done"}} })
	program := s.ran(t)
	assert.Contains(t, program, "base", "the program runs hooks at all")
	assert.Equal(t, program, profile, "%s", out)
}

// TestExtensionsAlike: of extensions the same hooks run under the profile as in the program:
// enablement by rules, links, what settings allow, and broken ones. One session has many.
func TestExtensionsAlike(t *testing.T) {
	for _, f := range []*fork{{gemini, "BeforeTool", ".gemini", "gemini-extension"}, {qwen, "PreToolUse", ".qwen", "qwen-extension"}} {
		const rules = "home/EXT/extension-enablement.json"
		user, manifest, from := "home/"+f.dir+"/settings.json", "/"+f.extends+".json", "/."+f.extends+"-install.json"
		echo := func(text string) string {
			return `{"hooks":{"` + f.event + `":[` + f.group("", "echo "+text+" >> $GEMINI_PROJECT_DIR/ran.txt") + `]}}`
		}
		many, overrides := map[string]string{user: f.says("base", "")}, []string{`"another":{"overrides":["!/*"]}`}
		add := func(name string, more ...string) {
			at := "home/EXT/" + name
			many[at+manifest], many[at+"/hooks/hooks.json"] = `{"name":"`+name+`","version":"1"}`, f.says(name, "")
			for i := 0; i < len(more); i += 2 {
				many[at+more[i]] = more[i+1]
			}
		}
		for name, rule := range map[string]string{
			"none": ``, "everywhere": `"!/*"`, "here": `"!$HERE/project/"`, "no-slash": `"!$HERE/project"`, "above": `"!$HERE/"`, "below": `"!$HERE/*"`, "last-on": `"!/*","$HERE/*"`,
			"last-off": `"$HERE/project/*","!$HERE/*"`, "star": `"!$HERE/p*"`, "dot": `"!$HERE/projec./"`, "other": `"!/*"`,
		} {
			add(name)
			overrides = append(overrides, `"`+name+`":{"overrides":[`+rule+`]}`)
		}
		many[rules] = "{" + strings.Join(overrides, ",") + "}"
		add("renamed", manifest, `{"name":"another","version":"1"}`)
		add("no-version", manifest, `{"name":"no-version"}`)
		add("no-name", manifest, `{"version":"1"}`)
		add("blank", manifest, `{"name":"a b","version":"1"}`)
		add("dotted", manifest, `{"name":"a.b","version":"1"}`)
		add("broken", manifest, `{`)
		add("nothing", from, `{"type":"link","source":"$HERE/nothing"}`)
		add("link", from, `{"type":"link","source":"$HERE/linked"}`)
		many["linked"+manifest], many["linked/hooks/hooks.json"] = `{"name":"link","version":"1"}`, f.says("linked", "")
		add("inline", manifest, strings.TrimSuffix(f.says("inlined", ""), "}")+`,"name":"inline","version":"1"}`)
		add("named", manifest, `{"name":"named","version":"1","hooks":"./more.json"}`, "/more.json", f.says("more", ""))
		add("named-none", manifest, `{"name":"named-none","version":"1","hooks":"./none.json"}`)
		add("top", "/hooks/hooks.json", `{"`+f.event+`":[`+f.group("", "echo at-top >> $GEMINI_PROJECT_DIR/ran.txt")+`]}`)
		add("folder", "/hooks/hooks.json", echo(`${extensionPath}${/}1`))
		add("root", "/hooks/hooks.json", echo(`'${CLAUDE_PLUGIN_ROOT}'`))
		add("variables", "/hooks/hooks.json", echo(`'${workspacePath}' '${HOME}' '$HOME'`))
		add("set", manifest, `{"name":"set","version":"1","settings":[{"name":"A","description":"a","envVar":"X_WORD"}]}`,
			"/.env", "X_WORD=\"set by user\"\nOTHER=other # a note\n", "/hooks/hooks.json", echo(`"${X_WORD}" "$X_WORD" "${OTHER}" "$OTHER"`))
		few := func(more ...string) map[string]string {
			files := map[string]string{user: f.says("base", "")}
			for _, name := range []string{"x", "y"} {
				files["home/EXT/"+name+manifest], files["home/EXT/"+name+"/hooks/hooks.json"] = `{"name":"`+name+`","version":"1"}`, f.says(name, "")
				files["home/EXT/"+name+from] = `{"type":"git","source":"https://github.com/a/` + name + `"}`
			}
			for i := 0; i < len(more); i += 2 {
				files[more[i]] = more[i+1]
			}
			return files
		}
		for name, files := range map[string]map[string]string{
			"many": many, "one wrong rule": few(rules, `{"x":{"overrides":["!/*"]},"y":{"overrides":1}}`),
			"allowed": few(user, f.says("base", `,"security":{"allowedExtensions":["^$HERE/ok","hub.*/x$"],"blockGitExtensions":true}`)),
			"blocked": few(user, f.says("base", `,"security":{"blockGitExtensions":true}`), "home/EXT/y"+from, `{"type":"local","source":"/y"}`),
		} {
			t.Run(f.agent.id+" "+name, func(t *testing.T) { f.alike(t, nil, files) })
		}
	}
}

// TestReferencesAlike: what stands for variables in settings means the same under the
// profile as in the program.
func TestReferencesAlike(t *testing.T) {
	for _, f := range []*fork{{gemini, "BeforeTool", ".gemini", ""}, {qwen, "PreToolUse", ".qwen", ""}} {
		groups := []string{f.group("", "echo base >> $GEMINI_PROJECT_DIR/ran.txt")}
		for _, text := range []string{
			"$A_WORD", "${A_WORD}", "${A_WORD}x", "$A_WORDx", "'$A_WORD'", "'${A_WORD:-none}'", "'${NO_WORD:-none}'", "'${NO_WORD:-}.'", "'$NO_WORD'", "'${NO_WORD}'",
			"'$EMPTY.'", "'${EMPTY:-full}.'", "'${EMPTY}.'", "'$A_WORD$TWO'", "$TWO", "'${:-x}'", "'${A_WORD:-x:-y}'", "'${NO_WORD:-x:-y}'", "'$$A_WORD'", "'${A_WORD'",
		} {
			groups = append(groups, f.group("", "echo "+text+" >> $GEMINI_PROJECT_DIR/ran.txt"))
		}
		groups = append(groups, f.group("$MATCHED", "echo matched >> $GEMINI_PROJECT_DIR/ran.txt"), f.group("^(${OTHERS:-write_file})$", "echo missed >> $GEMINI_PROJECT_DIR/ran.txt"),
			`{"hooks":[{"type":"command","name":"n $A_WORD","command":"echo off >> $GEMINI_PROJECT_DIR/ran.txt"},{"type":"command","command":"echo $IN_ENV >> $GEMINI_PROJECT_DIR/ran.txt","env":{"IN_ENV":"${A_WORD}!"}}]}`,
			`{"hooks":[{"type":"$KIND","command":"echo kind >> $GEMINI_PROJECT_DIR/ran.txt"}]}`)
		t.Run(f.agent.id, func(t *testing.T) {
			f.alike(t, []string{"A_WORD=one", "TWO=2 and $A_WORD", "EMPTY=", "MATCHED=run_shell", "KIND=command"}, map[string]string{
				"home/" + f.dir + "/settings.json": `{"hooks":{"` + f.event + `":[` + strings.Join(groups, ",") + `]},"hooksConfig":{"enabled":true,"disabled":["n ${A_WORD}"]}}`,
			})
		})
	}
}
