package builtins

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// shellEffectText is an effect in a line: kind, op, target, and what else
// there is to say.
func shellEffectText(e *ShellEffect) string {
	parts := []string{string(e.Kind), e.Op, e.Target}
	if e.Place != "" {
		parts = append(parts, string(e.Place))
	}
	if e.Certainty != CertainKnown {
		parts = append(parts, string(e.Certainty))
	}
	if e.Recursive {
		parts = append(parts, "recursive")
	}
	if e.Secret != "" {
		parts = append(parts, "secret="+e.Secret)
	}
	if e.Host != "" {
		parts = append(parts, "host="+e.Host)
	}
	return strings.Join(parts, " ")
}

// TestShellCommand: everything a command shows.
func TestShellCommand(t *testing.T) {
	s := ParseShell(`cd src && A=1 sudo -u bob g"i"t -C lib push --force=x -fu "$R" > log 2>&1 | tee out`, casePlace("/home/dev/project"))
	assert.Equal(t, map[string]any{
		"name": "git", "argv": []any{"git", "-C", "lib", "push", "--force=x", "-fu", "$R"}, "args": []any{"-C", "lib", "push", "--force=x", "-fu", "$R"},
		"flags": []any{"-C", "--force", "-fu", "-f", "-u"}, "env": map[string]any{"A": "1"}, "dir": "/home/dev/project/src", "via": []any{"sudo"}, "host": "",
		"redirects": []any{map[string]any{"op": ">", "fd": "", "target": "log"}, map[string]any{"op": ">&", "fd": "2", "target": "1"}},
		"pipe":      1, "stage": 0, "conditional": true, "dynamic": true, "offset": 10,
	}, s.Commands[2].json())
	assert.Equal(t, map[string]any{
		"kind": "write", "domain": "file", "op": "tee", "target": "/home/dev/project/src/out", "certainty": "known", "place": "project", "secret": "",
		"recursive": false, "host": "", "command": 3, "offset": 76,
	}, s.Effects[len(s.Effects)-1].json())
	assert.True(t, s.Dynamic)
	assert.Equal(t, map[string]any{"commands": []any{}, "effects": []any{}, "dynamic": false, "unknown": []any{}}, ParseShell(" # nothing", ShellAt{}).JSON())
}

func TestShellVia(t *testing.T) {
	for line, want := range map[string][]string{
		"rm x":                           nil,
		"sudo env timeout 5 rm x":        {"sudo", "env", "timeout"},
		"echo $(rm x)":                   {"substitution"},
		"bash -c 'sh -c \"rm x\"'":       {"bash", "sh"},
		"echo 'rm x' | sh":               {"stdin"},
		"sh <<E\nrm x\nE":                {"heredoc"},
		"find . -exec rm x \\;":          {"find"},
		"f() { rm x; }; f":               {"function"},
		"trap 'rm x' EXIT":               {"trap"},
		"ssh h rm x":                     {"ssh"},
		"echo 'rm x' > s; sh s":          {"script"},
		"eval rm x":                      {"eval"},
		"alias r='rm x'; r":              {"alias r"},
		"( rm x":                         {"unparsed"},
		"git -c alias.r='!rm x' r":       {"git alias r"},
		`python -c "os.system('rm x')"`:  {"python"},
		"echo x | xargs rm":              {"xargs"},
		"flock l -c 'rm x'":              {"flock"},
		"nohup sudo -s <<< 'rm x'":       {"nohup", "stdin"},
		"docker exec c sh -c 'rm x'":     {"docker", "sh"},
		"kubectl exec p -- env A=1 rm x": {"kubectl", "env"},
	} {
		var got []string
		found := false
		for _, c := range ParseShell(line, casePlace("/home/dev/project")).Commands {
			if c.Name == "rm" {
				assert.Equal(t, []string{"rm", "x"}, wordTexts(c.Argv), line)
				got, found = c.Via, true
			}
		}
		assert.True(t, found, line)
		assert.Equal(t, want, got, line)
	}
}

func TestShellPlaces(t *testing.T) {
	at := casePlace("/home/dev/project")
	for path, want := range map[string]Place{
		"/": PlaceRoot, "/*": PlaceRoot, "/**": PlaceRoot, "/etc": PlaceSystem, "/etc/*": PlaceSystem, "/e*": PlaceSystem, "/usr/local/x": PlaceSystem, "/home": PlaceHome, "/home/*": PlaceHome,
		"/home/other": PlaceSystem, "/home/dev": PlaceHome, "/home/dev/*": PlaceHome, "/home/dev/*.md": PlaceUser, "/home/dev/Documents": PlaceUser, "/home/dev/.cache/pip": PlaceCache,
		"/home/dev/project": PlaceProjectRoot, "/home/dev/project/*": PlaceProjectRoot, "/home/dev/project/**": PlaceProjectRoot, "/home/dev/project/*.log": PlaceProject,
		"/home/dev/project/*/node_modules": PlaceProject, "/home/dev/project/dist/*": PlaceProject, "/home/dev/project/.git": PlaceGit, "/home/dev/project/.git/*": PlaceGit,
		"/home/dev/project/a/.git/config": PlaceGit, "/home/dev/project/.git/index.lock": PlaceProject, "/home/dev/project/.github": PlaceProject, "/home/dev/projects": PlaceUser,
		"/tmp": PlaceTempRoot, "/tmp/*": PlaceTempRoot, "/tmp/x*": PlaceTemp, "/tmp/a/b": PlaceTemp, "/var/tmp/x": PlaceTemp, "/var/tmp": PlaceTempRoot, "/dev/shm/x": PlaceTemp, "/dev/sda": PlaceDevice,
		"/data/x": PlaceOther, "relative": PlaceUnknown, "": PlaceUnknown,
	} {
		got, _ := at.PlaceOf(path)
		assert.Equal(t, want, got, path)
	}
	inner := ShellAt{Root: "/srv/work/app", Home: "/home/dev"}
	for path, want := range map[string]Place{"/srv/work": PlaceAbove, "/srv/work/app": PlaceProjectRoot, "/srv/work/app/x": PlaceProject, "/srv/other": PlaceSystem} {
		got, _ := inner.PlaceOf(path)
		assert.Equal(t, want, got, path)
	}
	whole := ShellAt{Root: "/home/dev", Home: "/home/dev"}
	got, _ := whole.PlaceOf("/home/dev/Documents")
	assert.Equal(t, PlaceUser, got, "a home is no project")
}

func TestShellSecrets(t *testing.T) {
	at := casePlace("/home/dev/project")
	for path, want := range map[string]string{
		"/home/dev/.ssh/id_rsa": "ssh-key", "/home/dev/.ssh": "ssh-key", "/home/dev/.ssh/id_rsa.pub": "", "/home/dev/.ssh/known_hosts": "", "/home/dev/.ssh/config": "", "/root/.ssh/work": "ssh-key",
		"/home/dev/.aws/credentials": "cloud-credentials", "/home/dev/.aws/config": "", "/home/dev/.kube/config": "kubeconfig", "/home/dev/project/.env": "env-file",
		"/home/dev/project/.env.production": "env-file", "/home/dev/project/.env.example": "", "/etc/shadow": "password", "/proc/self/environ": "environment", "/home/dev/project/server.key": "key",
		"/home/dev/project/cert.pem": "", "/home/dev/project/private.pem": "key", "/home/dev/project/README.md": "", "/etc/passwd": "", "/home/dev/.gnupg/x": "gpg-key",
	} {
		_, got := at.PlaceOf(path)
		assert.Equal(t, want, got, path)
	}
}

func TestSQLLosses(t *testing.T) {
	for text, want := range map[string][]sqlLoss{
		"drop table if exists a.b;":                                  {{"drop-table", "a.b"}},
		"select 'drop table a'; -- drop table b\n/* drop table c */": nil,
		"DELETE FROM a": {{"delete-rows", "a"}}, "delete from a where id = 1": nil, "delete from a where 1=1": {{"delete-rows", "a"}}, "delete from a where true": {{"delete-rows", "a"}},
		"update a set b = 1": {{"update-rows", "a"}}, "update a set b = 1 where c": nil, "alter table a drop column b": {{"drop-column", "B"}}, "truncate a, b": {{"truncate-table", "a"}},
		"with x as (select 1) delete from a": {{"delete-rows", "a"}}, "drop index i; drop view v": nil, `drop schema "S" cascade`: {{"drop-schema", "s"}}, "select 'it''s'; drop database d": {{"drop-database", "d"}},
		"": nil, "'": nil, "/*": nil, "drop": nil,
	} {
		assert.Equal(t, want, sqlLosses(text), text)
	}
}

// TestShellField: the field is there for shell calls, is computed once for a
// version of the context, and anew for the next.
func TestShellField(t *testing.T) {
	c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldCwd, "/repo/src").Set(policy.FieldProjectRoot, "/repo").
		Set(policy.FieldToolInput, map[string]any{"command": "rm x"})
	first, ok := ShellOf(c)
	require.True(t, ok)
	again, _ := ShellOf(c)
	assert.Same(t, first, again)
	value, _ := c.Get(policy.FieldShell)
	assert.Equal(t, first.JSON(), value)
	assert.Equal(t, "/repo/src/x", first.Effects[0].Target)
	assert.Equal(t, PlaceProject, first.Effects[0].Place)
	seen, _ := ShellOf(c.Project(policy.FieldPaths(policy.FieldShell)))
	assert.Same(t, first, seen)
	rewritten, _ := ShellOf(c.With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"command": "rm y"})))
	assert.Equal(t, "/repo/src/y", rewritten.Effects[0].Target)
	_, ok = ShellOf(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Read").Set(policy.FieldToolInput, map[string]any{"command": "rm x"}))
	assert.False(t, ok)
	assert.False(t, policy.NewContext(policy.PreToolExecution).Has(policy.FieldShell))
	power, _ := ShellOf(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "PowerShell").Set(policy.FieldToolInput, map[string]any{"command": "rm x"}))
	assert.Equal(t, []string{shellNotPosix}, power.Unknown)
	assert.Equal(t, policy.FieldPaths(policy.FieldShell).Names(), []string{"cwd", "project_root", "tool_name", "tool_input", "shell"})
}

func TestShellOptions(t *testing.T) {
	words := func(line string) []ShellWord { return ParseShell("x "+line, ShellAt{}).Commands[0].Argv[1:] }
	o := options(words("-n5 -abo out --long=v --with w op -- -x"), "no", "--with", 0)
	assert.Equal(t, []string{"op", "-x"}, wordTexts(o.operands))
	var got []string
	for _, opt := range o.list {
		got = append(got, opt.name+"="+opt.value.Text)
	}
	assert.Equal(t, []string{"-n=5", "-a=", "-b=", "-o=out", "--long=v", "--with=w"}, got)
	stop := options(words("-a cmd -b"), "", "", optStop)
	assert.Equal(t, []string{"cmd", "-b"}, wordTexts(stop.operands))
	short := options(words("--rec --fo"), "", "", 0)
	assert.True(t, short.has("--recursive") && short.has("--force") && !short.exact("--force"))
	lease := options(words("--force-with-lease"), "", "", 0)
	assert.False(t, lease.has("--force"))
	assert.True(t, wordIn("a", "b a c") && !wordIn("a", "ab ba") && !wordIn("", "a"))
}
