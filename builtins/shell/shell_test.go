package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shellEffectText is an effect in a line: kind, op, target, and what else
// there is to say.
func shellEffectText(e *Effect) string {
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
	s := Parse(`cd src && A=1 sudo -u bob g"i"t -C lib push --force=x -fu "$R" > log 2>&1 | tee out`, casePlace("/home/dev/project"))
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
	assert.Equal(t, map[string]any{"commands": []any{}, "effects": []any{}, "dynamic": false, "unknown": []any{}}, Parse(" # nothing", At{}).JSON())
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
		for _, c := range Parse(line, casePlace("/home/dev/project")).Commands {
			if c.Name == "rm" {
				assert.Equal(t, []string{"rm", "x"}, WordTexts(c.Argv), line)
				got, found = c.Via, true
			}
		}
		assert.True(t, found, line)
		assert.Equal(t, want, got, line)
	}
}

func TestShellPlaces(t *testing.T) {
	at := casePlace("/home/dev/project")
	for path, want := range map[string]Zone{
		"/": ZoneRoot, "/*": ZoneRoot, "/**": ZoneRoot, "/etc": ZoneSystem, "/etc/*": ZoneSystem, "/e*": ZoneSystem, "/usr/local/x": ZoneSystem, "/home": ZoneHome, "/home/*": ZoneHome,
		"/home/other": ZoneSystem, "/home/dev": ZoneHome, "/home/dev/*": ZoneHome, "/home/dev/*.md": ZoneUser, "/home/dev/Documents": ZoneUser, "/home/dev/.cache/pip": ZoneCache,
		"/home/dev/project": ZoneProjectRoot, "/home/dev/project/*": ZoneProjectRoot, "/home/dev/project/**": ZoneProjectRoot, "/home/dev/project/*.log": ZoneProject,
		"/home/dev/project/*/node_modules": ZoneProject, "/home/dev/project/dist/*": ZoneProject, "/home/dev/project/.git": ZoneGit, "/home/dev/project/.git/*": ZoneGit,
		"/home/dev/project/a/.git/config": ZoneGit, "/home/dev/project/.git/index.lock": ZoneProject, "/home/dev/project/.github": ZoneProject, "/home/dev/projects": ZoneUser,
		"/tmp": ZoneTempRoot, "/tmp/*": ZoneTempRoot, "/tmp/x*": ZoneTemp, "/tmp/a/b": ZoneTemp, "/var/tmp/x": ZoneTemp, "/var/tmp": ZoneTempRoot, "/dev/shm/x": ZoneTemp, "/dev/sda": ZoneDevice,
		"/data/x": ZoneOther, "relative": ZoneUnknown, "": ZoneUnknown,
	} {
		got, _ := at.ZoneOf(path)
		assert.Equal(t, want, got, path)
	}
	inner := At{Root: "/srv/work/app", Home: "/home/dev"}
	for path, want := range map[string]Zone{"/srv/work": ZoneAbove, "/srv/work/app": ZoneProjectRoot, "/srv/work/app/x": ZoneProject, "/srv/other": ZoneSystem} {
		got, _ := inner.ZoneOf(path)
		assert.Equal(t, want, got, path)
	}
	whole := At{Root: "/home/dev", Home: "/home/dev"}
	got, _ := whole.ZoneOf("/home/dev/Documents")
	assert.Equal(t, ZoneUser, got, "a home is no project")
}

func TestShellSecrets(t *testing.T) {
	at := casePlace("/home/dev/project")
	for path, want := range map[string]string{
		"/home/dev/.ssh/id_rsa": "ssh-key", "/home/dev/.ssh": "ssh-key", "/home/dev/.ssh/id_rsa.pub": "", "/home/dev/.ssh/known_hosts": "", "/home/dev/.ssh/config": "", "/root/.ssh/work": "ssh-key",
		"/home/dev/.aws/credentials": "cloud-credentials", "/home/dev/.aws/config": "", "/home/dev/.kube/config": "kubeconfig", "/home/dev/project/.env": "env-file",
		"/home/dev/project/.env.production": "env-file", "/home/dev/project/.env.example": "", "/etc/shadow": "password", "/proc/self/environ": "environment", "/home/dev/project/server.key": "key",
		"/home/dev/project/cert.pem": "", "/home/dev/project/private.pem": "key", "/home/dev/project/README.md": "", "/etc/passwd": "", "/home/dev/.gnupg/x": "gpg-key",
	} {
		_, got := at.ZoneOf(path)
		assert.Equal(t, want, got, path)
	}
}

// TestShellField: the field is there for shell calls, is computed once for a
// version of the context, and anew for the next.
func TestShellOptions(t *testing.T) {
	words := func(line string) []Word { return Parse("x "+line, At{}).Commands[0].Argv[1:] }
	o := options(words("-n5 -abo out --long=v --with w op -- -x"), "no", "--with", 0)
	assert.Equal(t, []string{"op", "-x"}, WordTexts(o.operands))
	var got []string
	for _, opt := range o.list {
		got = append(got, opt.name+"="+opt.value.Text)
	}
	assert.Equal(t, []string{"-n=5", "-a=", "-b=", "-o=out", "--long=v", "--with=w"}, got)
	stop := options(words("-a cmd -b"), "", "", optStop)
	assert.Equal(t, []string{"cmd", "-b"}, WordTexts(stop.operands))
	short := options(words("--rec --fo"), "", "", 0)
	assert.True(t, short.has("--recursive") && short.has("--force") && !short.exact("--force"))
	lease := options(words("--force-with-lease"), "", "", 0)
	assert.False(t, lease.has("--force"))
	assert.True(t, WordIn("a", "b a c") && !WordIn("a", "ab ba") && !WordIn("", "a"))
}
