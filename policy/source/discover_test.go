package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/trust"
)

// places are the folders discovery looks into, fresh and empty.
type places struct{ managed, config, project string }

func freshPlaces(t *testing.T) places {
	t.Helper()
	p := places{t.TempDir(), t.TempDir(), t.TempDir()}
	t.Setenv("XDG_CONFIG_HOME", p.config)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(trust.Env, "")
	require.NoError(t, os.Mkdir(filepath.Join(p.project, ".git"), 0o755))
	return p
}

// asFound looks at projects whether they are trusted or not.
func (p places) asFound() DiscoverOptions {
	o := p.options()
	o.Trust = AsFound
	return o
}

func (p places) options() DiscoverOptions {
	return DiscoverOptions{Dir: p.project, Managed: p.managed}
}

// shown is the inputs with the folders replaced by their names.
func (p places) shown(inputs []Input) []string {
	var out []string
	for _, in := range inputs {
		path := strings.NewReplacer(p.managed, "MANAGED", p.config, "CONFIG", p.project, "PROJECT").Replace(in.Path)
		out = append(out, strings.TrimSpace(in.Tier.String()+" "+filepath.ToSlash(path)+" "+in.Format))
	}
	return out
}

// one is a hooks.yaml with one hook of the given name.
func one(name string) string { return "notify: [{name: " + name + ", command: \"true\"}]\n" }

// md is a HOOK.md of the given name.
func md(name string) string {
	return "---\nname: " + name + "\ndescription: d\ntrigger: pre-tool-call\n---\n"
}

func TestDiscoverEveryTierLowestFirst(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.managed, map[string]string{"hooks.yaml": one("m"), "m1/HOOK.md": md("m1"), "hooks/m2/HOOK.md": md("m2")})
	lay(t, p.config, map[string]string{"hookc/hooks.yaml": one("u"), "agents/hooks/u1/HOOK.md": md("u1")})
	lay(t, p.project, map[string]string{".hookc/hooks.yaml": one("p"), ".agents/hooks/p1/HOOK.md": md("p1"),
		".hookc/hooks.local.yaml": one("l"), "deep/er/x": ""})
	want := []string{"managed MANAGED/hooks.yaml", "managed MANAGED hookmd", "managed MANAGED/hooks hookmd",
		"user CONFIG/hookc/hooks.yaml", "user CONFIG/agents/hooks hookmd",
		"project PROJECT/.hookc/hooks.yaml", "project PROJECT/.agents/hooks hookmd", "local PROJECT/.hookc/hooks.local.yaml"}
	for _, dir := range []string{"", "deep", "deep/er"} {
		o := p.asFound()
		o.Dir = filepath.Join(p.project, dir)
		inputs, found := Discover(o)
		assert.Empty(t, found)
		assert.Equal(t, want, p.shown(inputs), "from %q", dir)
	}
	loaded, found := LoadDiscovered(p.asFound(), Options{})
	require.Empty(t, found.Render())
	var names []string
	for _, h := range loaded.Hooks {
		names = append(names, h.Tier.String()+" "+h.Name)
	}
	assert.Equal(t, []string{"managed m", "managed m1", "managed m2", "user u", "user u1", "project p", "project p1", "local l"}, names)
}

func TestDiscoverNothing(t *testing.T) {
	p := freshPlaces(t)
	require.NoError(t, os.MkdirAll(filepath.Join(p.project, ".agents", "hooks", "empty"), 0o755))
	lay(t, p.config, map[string]string{"agents": "a file in the place of the folder"})
	inputs, found := Discover(p.options())
	assert.Empty(t, inputs)
	assert.Empty(t, found)
	loaded, found := LoadDiscovered(p.options(), Options{})
	assert.Empty(t, found)
	assert.Empty(t, loaded.Hooks)
}

func TestDiscoverPolicyAtTheRoot(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.project, map[string]string{"hooks.yaml": one("p"), "hooks.yml": "of another tool"})
	inputs, found := Discover(p.asFound())
	assert.Empty(t, found)
	assert.Equal(t, []string{"project PROJECT/hooks.yaml"}, p.shown(inputs))
}

func TestDiscoverTwoProjectPolicies(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.project, map[string]string{"hooks.yaml": one("a"), ".hookc/hooks.yaml": one("b")})
	_, found := LoadDiscovered(p.asFound(), Options{Dir: p.project})
	require.Len(t, found, 1)
	assert.Equal(t, "hooks.yaml:1:1: error[HK061]: the project has two policies: .hookc/hooks.yaml and hooks.yaml", found[0].Error())
	_, found = LoadDiscovered(p.options(), Options{})
	assert.Equal(t, []string{"HK061 1:1"}, codesOf(found))
	assert.False(t, found.HasErrors(), "an untrusted project cannot stop the user's policy")
}

func TestDiscoverMisnamedFiles(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.project, map[string]string{".hookc/hooks.yml": one("a"), ".hookc/hooks.local.yml": one("b"), ".hookc/notes.yaml": ""})
	lay(t, p.config, map[string]string{"hookc/Hooks.yaml": one("c"), "agents/hooks/x/Hook.md": md("x")})
	inputs, found := Discover(p.asFound())
	var names []string
	for _, d := range found {
		names = append(names, d.Code.ID+" "+filepath.Base(d.Span.File()))
	}
	assert.Equal(t, []string{"HK059 Hooks.yaml", "HK059 hooks.yml", "HK059 hooks.local.yml"}, names)
	assert.Equal(t, []string{"user CONFIG/agents/hooks hookmd"}, p.shown(inputs))
	_, found = Load(Options{Inputs: inputs})
	assert.Equal(t, []string{"HK059 1:1"}, codesOf(found))
}

// TestDiscoverMissingGuardShows: a link that leads nowhere is no reason to go
// on as if there were no policy.
func TestDiscoverMissingGuardShows(t *testing.T) {
	p := freshPlaces(t)
	require.NoError(t, os.Symlink(filepath.Join(p.managed, "gone"), filepath.Join(p.managed, "hooks.yaml")))
	_, found := LoadDiscovered(p.options(), Options{})
	assert.Equal(t, []string{"HK001"}, codesOf(found))
	assert.True(t, found.HasErrors())
}

// TestDiscoverMissingFolderShows: neither is one above: a folder that was moved, or
// whose disk is not mounted, may have held a guard. A folder that leads to one
// without a policy is as if it stood there.
func TestDiscoverMissingFolderShows(t *testing.T) {
	for _, leads := range []bool{false, true} {
		for place, of := range map[string]func(p places) string{
			"managed":       func(p places) string { return p.managed },
			"configuration": func(p places) string { return p.config },
			"hookc":         func(p places) string { return filepath.Join(p.config, "hookc") },
			"agents":        func(p places) string { return filepath.Join(p.config, "agents") },
			"hooks":         func(p places) string { return filepath.Join(p.config, "agents", "hooks") },
		} {
			p := freshPlaces(t)
			path, to := of(p), filepath.Join(t.TempDir(), "moved")
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			if leads {
				require.NoError(t, os.Mkdir(to, 0o755))
			}
			require.NoError(t, os.Symlink(to, path))
			_, found := LoadDiscovered(p.options(), Options{})
			assert.Equal(t, !leads, found.HasErrors(), "%s: %v", place, found)
		}
	}
}

// TestDiscoverFileForFolderShows: a file in the place of a folder that holds a policy is
// no folder without one.
func TestDiscoverFileForFolderShows(t *testing.T) {
	for place, of := range map[string]func(p places) string{
		"managed": func(p places) string { return p.managed },
		"hookc":   func(p places) string { return filepath.Join(p.config, "hookc") },
	} {
		p := freshPlaces(t)
		require.NoError(t, os.RemoveAll(of(p)))
		lay(t, filepath.Dir(of(p)), map[string]string{filepath.Base(of(p)): ""})
		_, found := LoadDiscovered(p.options(), Options{})
		assert.True(t, found.HasErrors(), place)
	}
}

// TestMissingProjectPolicyIsTold: a project's own folder of policies that is a link to
// nothing, or a file, is no project without a policy. Trusted or not, answers say so,
// and it stops nobody whose project nobody trusted.
func TestMissingProjectPolicyIsTold(t *testing.T) {
	for _, name := range []string{".hookc", ".agents", ".agents/hooks", "hooks.yaml", ".hookc/hooks.yaml"} {
		for _, file := range []bool{false, true} {
			if file && name != ".hookc" {
				continue
			}
			p := freshPlaces(t)
			path := filepath.Join(p.project, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			if file {
				require.NoError(t, os.WriteFile(path, nil, 0o644))
			} else {
				require.NoError(t, os.Symlink("gone", path))
			}
			loaded, found := LoadDiscovered(p.options(), Options{Dir: p.project})
			assert.False(t, found.HasErrors(), "%s: %v", name, found)
			require.NotEmpty(t, loaded.Sources, name)
			assert.Contains(t, loaded.Sources[0].Untrusted, "never trusted", name)
			_, found = LoadDiscovered(p.asFound(), Options{Dir: p.project})
			assert.True(t, found.HasErrors(), name)
		}
	}
}

// TestMisnamedPolicyIsTold: a policy of the user or the machine whose name is nearly
// right is said in each answer not to count.
func TestMisnamedPolicyIsTold(t *testing.T) {
	for _, name := range []string{"hooks.yml", "Hooks.yaml", "HOOKS.YML"} {
		p := freshPlaces(t)
		lay(t, p.managed, map[string]string{name: one("m")})
		lay(t, p.config, map[string]string{"hookc/" + name: one("u")})
		loaded, _ := LoadDiscovered(p.options(), Options{Dir: p.project})
		var told []string
		for _, s := range loaded.Sources {
			if s.Differs != "" {
				told = append(told, filepath.Base(s.Path)+" "+s.Tier.String())
			}
		}
		assert.Equal(t, []string{name + " managed", name + " user"}, told)
	}
}

func TestUntrustedUnreadableProjectStopsNobody(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.config, map[string]string{"hookc/hooks.yaml": one("u")})
	require.NoError(t, os.Mkdir(filepath.Join(p.project, ".hookc"), 0o755))
	require.NoError(t, os.Symlink("gone", filepath.Join(p.project, ".hookc", "hooks.yaml")))
	o := p.options()
	o.Trust = Inspect
	loaded, found := LoadDiscovered(o, Options{})
	assert.Equal(t, []string{"HK001"}, codesOf(found))
	assert.False(t, found.HasErrors())
	require.Len(t, loaded.Hooks, 1)
	_, parts := Parts(p.project, []DiscoverOptions{{}})
	assert.Equal(t, []string{"HK001"}, codesOf(parts))
}

// TestUserAndProjectOfOneName: both load; which of them runs is the
// compiler's to say.
func TestUserAndProjectOfOneName(t *testing.T) {
	p := freshPlaces(t)
	examples := filepath.Join("..", "..", "tests", "testdata", "hookmd")
	require.NoError(t, os.CopyFS(p.config, os.DirFS(filepath.Join(examples, "user"))))
	require.NoError(t, os.CopyFS(p.project, os.DirFS(filepath.Join(examples, "project"))))
	loaded, found := LoadDiscovered(p.asFound(), Options{})
	require.Empty(t, found.Render())
	var got []string
	for _, h := range loaded.Hooks {
		got = append(got, strings.Join([]string{h.Tier.String(), string(h.Event), h.Name}, " "))
		body, found := h.Body.Load()
		assert.Empty(t, found.Render())
		assert.NotEmpty(t, body.Args)
	}
	assert.Equal(t, []string{"user pre_tool_execution block-dangerous", "user session_start greeting", "project session_start greeting",
		"project pre_tool_execution python-only", "project stop tests-pass"}, got)
}

// TestTrustedProjectThatChanges goes through the real store of trust: what was
// trusted decides, whatever the files are by now, and its scripts run from
// where they were trusted.
func TestTrustedProjectThatChanges(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.config, map[string]string{"hookc/hooks.yaml": one("u")})
	files := map[string]string{
		".hookc/hooks.yaml":             "notify: [{name: p, command: ./check.sh}]\n",
		"check.sh*":                     "#!/bin/sh\n",
		".agents/hooks/g/HOOK.md":       md("g"),
		".agents/hooks/g/scripts/run*":  "#!/bin/sh\n",
		".agents/hooks/g/scripts/x.sh*": "#!/bin/sh\n",
	}
	lay(t, p.project, files)
	running := func() (names []string, command, entry, why string) {
		loaded, found := LoadDiscovered(p.options(), Options{Dir: p.project})
		require.Empty(t, found.Render())
		for _, h := range loaded.Hooks {
			names = append(names, h.Name)
			switch h.Name {
			case "p":
				command = h.Body.Line
			case "g":
				body, found := h.Body.Load()
				require.Empty(t, found.Render())
				entry = body.Args[0]
			}
		}
		for _, s := range loaded.Sources {
			why += s.Untrusted + s.Differs
		}
		return names, command, entry, why
	}
	const advice = "; look at it and run `hookc trust`"
	names, _, _, why := running()
	assert.Equal(t, []string{"u"}, names)
	assert.Contains(t, why, "this project was never trusted"+advice)
	parts, found := Parts(p.project, []DiscoverOptions{{}})
	require.Empty(t, found.Render())
	_, err := trust.Open(p.project).Trust(parts)
	require.NoError(t, err)
	fits := func() {
		t.Helper()
		names, command, entry, why := running()
		assert.Equal(t, []string{"u", "p", "g"}, names)
		assert.Equal(t, filepath.Join(p.project, "check.sh"), command)
		assert.Equal(t, filepath.Join(p.project, ".agents/hooks/g/scripts/run"), entry)
		assert.Empty(t, why)
	}
	fits()
	for file, content := range map[string]string{"check.sh*": "#!/bin/sh\nevil\n", ".agents/hooks/g/scripts/x.sh*": "evil\n",
		".agents/hooks/g/HOOK.md": md("g") + "evil\n", ".hookc/hooks.yaml": "notify: [{name: p, command: ./check.sh evil}]\n"} {
		lay(t, p.project, map[string]string{file: content})
		names, command, entry, why := running()
		assert.Equal(t, []string{"u", "p", "g"}, names, file)
		assert.Equal(t, strings.TrimSuffix(file, "*")+" changed since this project was trusted, and what was trusted then decides"+advice, why)
		for at, was := range map[string]string{command: files["check.sh*"], entry: files[".agents/hooks/g/scripts/run*"]} {
			assert.False(t, strings.HasPrefix(at, p.project), "a copy runs")
			text, err := os.ReadFile(at)
			require.NoError(t, err)
			assert.Equal(t, was, string(text))
		}
		lay(t, p.project, map[string]string{file: files[file]})
		fits()
	}
	lay(t, p.project, map[string]string{".hookc/hooks.local.yaml": one("l")})
	names, _, _, why = running()
	assert.Equal(t, []string{"u", "p", "g"}, names)
	assert.Contains(t, why, ".hookc/hooks.local.yaml changed since this project was trusted")
}

func TestParseInput(t *testing.T) {
	for value, want := range map[string]Input{
		"hooks.yaml":        {Path: "hooks.yaml", Tier: policy.TierProject},
		"user=hooks.yaml":   {Path: "hooks.yaml", Tier: policy.TierUser},
		"managed=/x/a=b":    {Path: "/x/a=b", Tier: policy.TierManaged},
		"session=h":         {Path: "h", Tier: policy.TierSession},
		"usr=hooks.yaml":    {Path: "usr=hooks.yaml", Tier: policy.TierProject},
		"./user=hooks.yaml": {Path: "./user=hooks.yaml", Tier: policy.TierProject},
		"user":              {Path: "user", Tier: policy.TierProject},
	} {
		got, err := ParseInput(value)
		require.NoError(t, err)
		assert.Equal(t, want, got, value)
	}
	for _, value := range []string{"", "user=", "builtin=x.yaml"} {
		_, err := ParseInput(value)
		require.Error(t, err, "%q", value)
	}
}

func TestConfigHome(t *testing.T) {
	env := func(value string) func(string) string { return func(string) string { return value } }
	home := func() (string, error) { return "/home/u", nil }
	assert.Equal(t, "/c", configHome(env("/c"), home))
	assert.Equal(t, "/home/u/.config", filepath.ToSlash(configHome(env("relative"), home)))
	assert.Equal(t, "", configHome(env(""), func() (string, error) { return "", errors.New("no home") }))
	assert.Equal(t, "", configHome(env(""), func() (string, error) { return "relative", nil }))
}

// TestHookMDCodes runs the examples of the codes that hooks.yaml alone cannot
// show: every file is discovered, and the body of every hook loaded.
func TestHookMDCodes(t *testing.T) {
	codes := []*diag.Code{codeFrontmatter, codeHookMissing, codeHookTrigger, codeHookField, codeHookRegexp, codeHookValue,
		codeHookKey, codeHookFolder, codeHookEntry, codeNeverFound, codeByteOrderMark, codeTwoPolicies}
	report := func(t *testing.T, example string) []string {
		p := freshPlaces(t)
		files := map[string]string{}
		for _, f := range txtar.Parse([]byte(example)).Files {
			files[f.Name] = string(f.Data)
		}
		require.NotEmpty(t, files)
		lay(t, p.project, files)
		loaded, found := LoadDiscovered(p.asFound(), Options{})
		for _, h := range loaded.Hooks {
			if h.Body.Load != nil {
				_, more := h.Body.Load()
				found.Add(more...)
			}
		}
		var out []string
		for _, d := range found {
			out = append(out, d.Code.ID)
		}
		return out
	}
	for _, c := range codes {
		c := diag.Lookup(c.ID) // which has the texts
		t.Run(c.ID, func(t *testing.T) {
			assert.Equal(t, []string{c.ID}, report(t, c.Bad), "Bad")
			assert.Empty(t, report(t, c.Good), "Good")
		})
	}
}
