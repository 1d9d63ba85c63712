package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func TestPathGuard(t *testing.T) {
	g := mustGuard(t, "path-guard", map[string]any{
		"protect": []any{"src/gen", "/srv/**/live", "**/*.lock"}, "hide": []any{"**/.env"}, "allow": []any{"src/gen/mine.go", ".hookc/notes.md"}, "outside": "ask",
	})
	file := func(tool, p string) *policy.Context {
		return toolCall(tool, map[string]any{"file_path": p, "content": "x"})
	}
	patch := "*** Begin Patch\n*** Update File: .claude/settings.json\n@@\n-a\n+b\n*** End Patch\n"
	for name, tt := range map[string]struct {
		in   *policy.Context
		want policy.Verdict
	}{
		"settings":        {file("Write", ".claude/settings.json"), policy.Deny},
		"settings below":  {file("Write", "pkg/a/.gemini/settings.json"), policy.Deny},
		"written below":   {bashCall("cd pkg && mkdir .cursor && echo '{}' > .cursor/hooks.json"), policy.Deny},
		"named alike":     {file("Write", "pkg/x.claude/settings.json"), policy.None},
		"case":            {file("Write", "/home/dev/project/.Claude/Settings.JSON"), policy.Deny},
		"dots":            {file("edit_file", "src/../.hookc/hooks.yaml"), policy.Deny},
		"home":            {file("WriteFile", "~/.codex/config.toml"), policy.Deny},
		"read":            {file("Read", ".claude/settings.json"), policy.None},
		"hidden":          {file("Read", "app/.env"), policy.Deny},
		"not hidden":      {file("Read", "app/.env.example"), policy.None},
		"listed":          {toolCall("read_many_files", map[string]any{"paths": []any{"a", "b/.env"}}), policy.Deny},
		"generated":       {file("Write", "src/gen/a/b.go"), policy.Deny},
		"exception":       {file("Write", "src/gen/mine.go"), policy.None},
		"glob":            {file("Write", "/srv/a/b/live/x"), policy.Deny},
		"lock":            {file("Write", "packages/a/yarn.lock"), policy.Deny},
		"outside":         {file("Write", "/data/x"), policy.Ask},
		"temporary":       {file("Write", "/tmp/x"), policy.None},
		"inside":          {file("Write", "src/a.go"), policy.None},
		"climbs":          {file("Write", "~/../x"), policy.Ask},
		"patch":           {toolCall("apply_patch", map[string]any{"input": patch}), policy.Deny},
		"patch in shell":  {bashCall("apply_patch <<'EOF'\n" + patch + "EOF"), policy.Deny},
		"about a patch":   {toolCall("Write", map[string]any{"file_path": "doc.md", "content": patch}), policy.None},
		"mcp":             {toolCall("mcp__fs__write_file", map[string]any{"path": ".gemini/settings.json"}), policy.Deny},
		"mcp looks":       {toolCall("mcp__fs__read_file", map[string]any{"path": ".gemini/settings.json"}), policy.None},
		"mcp moves":       {toolCall("mcp__fs__move_file", map[string]any{"source": "a", "destination": ".claude/settings.json"}), policy.Deny},
		"redirect":        {bashCall("echo '{}' > .claude/settings.json"), policy.Deny},
		"sed":             {bashCall("cd .claude && sed -i s/a/b/ settings.json"), policy.Deny},
		"folder":          {bashCall("rm -rf .claude"), policy.Deny},
		"moved":           {bashCall("mv .hookc /tmp/x"), policy.Deny},
		"globbed":         {bashCall("rm -f .cl*/settings.json"), policy.Deny},
		"no dotfile":      {bashCall("rm -f *.json"), policy.None},
		"wrapped":         {bashCall("sudo bash -c 'tee ~/.claude/settings.json < x'"), policy.Deny},
		"python":          {bashCall(`python3 -c "open('.hookc/hooks.yaml','w').write('')"`), policy.Deny},
		"shell looks":     {bashCall("cat .claude/settings.json"), policy.None},
		"shell hidden":    {bashCall("grep KEY app/.env"), policy.Deny},
		"unknown folder":  {bashCall(`echo x > "$D/settings.json"`), policy.Ask},
		"unknown":         {bashCall("if then fi ("), policy.Ask},
		"in a container":  {bashCall("docker run --rm alpine rm -rf /etc/hookc"), policy.None},
		"another file":    {bashCall("echo x > settings.json"), policy.None},
		"shell exception": {bashCall("echo x > .hookc/notes.md"), policy.None},
	} {
		r := say(t, g, tt.in)
		assert.Equal(t, tt.want, r.Verdict, "%s: %v", name, r.Reasons)
	}
}

// TestPathGuardFollowsLinks: a link to a protected folder is no way around.
func TestPathGuardFollowsLinks(t *testing.T) {
	g := mustGuard(t, "path-guard", nil)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, ".claude"), 0o755))
	require.NoError(t, os.Symlink(".claude", filepath.Join(root, "x")))
	for _, in := range []*policy.Context{
		toolCall("Write", map[string]any{"file_path": "x/settings.json"}), bashCall("echo > x/settings.json"),
	} {
		in.Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root)
		assert.Equal(t, policy.Deny, say(t, g, in).Verdict)
	}
}

func TestMCPGuard(t *testing.T) {
	g := mustGuard(t, "mcp-guard", map[string]any{"servers": []any{"github", "docs-*"}, "tools": []any{"linear/list_*", "mcp_time_now"}, "deny": []any{"github/delete_*"}})
	for tool, want := range map[string]policy.Verdict{
		"mcp__github__list_issues":  policy.None,
		"mcp__github__delete_repo":  policy.Deny,
		"mcp__docs-go__search":      policy.None,
		"mcp__linear__list_issues":  policy.None,
		"mcp__linear__create_issue": policy.Deny,
		"mcp__github__x__y":         policy.Deny, // the server may be github__x
		"mcp__evil__github__list":   policy.Deny,
		"mcp__github":               policy.Deny,
		"@github/list":              policy.None,
		"mcp_github_list":           policy.Deny, // the server may be any prefix
		"mcp_time_now":              policy.None,
		"MCP:list":                  policy.Deny,
		"Bash":                      policy.None,
	} {
		r := say(t, g, toolCall(tool, nil))
		assert.Equal(t, want, r.Verdict, "%s: %v", tool, r.Reasons)
	}
	said := toolCall("mcp_github_list", nil).Set(policy.FieldMCP, map[string]any{"server_name": "github", "tool_name": "list"})
	assert.Equal(t, policy.None, say(t, g, said).Verdict)
	said.Set(policy.FieldMCP, map[string]any{"server_name": "evil", "tool_name": "list"})
	assert.Equal(t, policy.Deny, say(t, g, said).Verdict)
	for tool, args := range map[string]map[string]any{
		"ReadMcpResourceTool": {"server": "evil", "uri": "a://b"}, "read_mcp_resource": {"server": "evil", "uri": "a://b"}, "use_mcp_tool": {"server_name": "evil", "tool_name": "x"},
		"access_mcp_resource": {"server_name": "evil", "uri": "x"}, "list_mcp_resources": {"server": "evil"}, "ListMcpResourcesTool": {}, "evil__list": {}, "evil-list_issues": {}, "evil___list": {},
		"use_mcp_tool2": {"server_name": "github", "tool_name": "delete_repo"}, "CallMcpTool": {"serverName": "evil"},
	} {
		assert.Equal(t, policy.Deny, say(t, g, toolCall(tool, args)).Verdict, tool)
	}
	for tool, args := range map[string]map[string]any{
		"ReadMcpResourceTool": {"server": "github", "uri": "a://b"}, "use_mcp_tool": {"server_name": "linear", "tool_name": "list_issues"}, "github__list": {}, "TodoWrite": {}, "Skill": {},
	} {
		assert.Equal(t, policy.None, say(t, g, toolCall(tool, args)).Verdict, tool)
	}
	none := mustGuard(t, "mcp-guard", map[string]any{"otherwise": "ask"})
	assert.Equal(t, policy.Ask, say(t, none, toolCall("mcp__a__b", nil)).Verdict)
}

func stopping(active, output any) *policy.Context {
	return policy.NewContext(policy.StopEvent).Set(policy.FieldSessionID, "s").Set(policy.FieldStopHookActive, active).Set(policy.FieldAssistantOutput, output)
}

func TestLoopGuard(t *testing.T) {
	made, codes := guardOf(t, policy.StopEvent, "loop-guard", map[string]any{"max_blocks": 2})
	require.Empty(t, codes)
	controls := func(list ...*policy.Context) []policy.Control {
		var out []policy.Control
		for _, in := range list {
			out = append(out, say(t, made.Runner, in).Control)
		}
		return out
	}
	first, again := stopping(false, nil), stopping(true, nil)
	assert.Equal(t, []policy.Control{policy.Go, policy.Go, policy.Halt, policy.Go}, controls(first, again, again, first))
	assert.Equal(t, []policy.Control{policy.Go, policy.Go, policy.Go, policy.Halt}, controls(first, first, again, again), "a new turn begins again")
	same, other := stopping(nil, "done"), stopping(nil, "better")
	assert.Equal(t, []policy.Control{policy.Go, policy.Go, policy.Go, policy.Go, policy.Halt}, controls(same, same, other, other, other), "the same answer again")
	elsewhere := stopping(true, nil).Set(policy.FieldSessionID, "t")
	assert.Equal(t, []policy.Control{policy.Go, policy.Go, policy.Go, policy.Halt}, controls(again, elsewhere, again, again), "sessions count apart")
	kept := &ownCounts{kept: map[string]string{}}
	ctx := WithCounts(t.Context(), kept)
	for range 2 {
		fresh, _ := guardOf(t, policy.StopEvent, "loop-guard", map[string]any{"max_blocks": 2})
		r, err := fresh.Runner.Run(ctx, again, 0)
		require.NoError(t, err)
		assert.Equal(t, policy.Result{}, r)
	}
	fresh, _ := guardOf(t, policy.StopEvent, "loop-guard", map[string]any{"max_blocks": 2})
	r, err := fresh.Runner.Run(ctx, again, 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Halt, r.Control, "counts that outlast the process")
	for i := range 2 * maxOwnCounts {
		kept.Count(strings.Repeat("k", i%7)+string(rune(i)), func(string) string { return "1" })
	}
	assert.LessOrEqual(t, len(kept.kept), maxOwnCounts)
}

func TestBudgetGuard(t *testing.T) {
	kept := &ownCounts{kept: map[string]string{}}
	ctx := WithCounts(t.Context(), kept)
	call := func(session, id string) *policy.Context {
		return bashCall("ls").Set(policy.FieldSessionID, session).Set(policy.FieldToolUseID, id)
	}
	verdicts := func(per string, list ...*policy.Context) (out []policy.Verdict) {
		g := mustGuard(t, "budget-guard", map[string]any{"max_calls": 2, "per": per})
		for _, in := range list {
			r, err := g.Run(ctx, in, 0)
			require.NoError(t, err)
			out = append(out, r.Verdict)
		}
		return out
	}
	go1, go2, go3 := call("s", "1"), call("s", "2"), call("s", "3")
	assert.Equal(t, []policy.Verdict{policy.None, policy.None, policy.Deny, policy.None}, verdicts("session", go1, go2, go3, call("t", "4")), "sessions count apart")
	assert.Equal(t, []policy.Verdict{policy.Deny}, verdicts("session", go3), "counts that outlast the process")
	assert.Equal(t, []policy.Verdict{policy.None, policy.None, policy.None}, verdicts("session", call("u", "1"), call("u", "1"), call("u", "2")), "a call that is looked at twice counts once")
	assert.Equal(t, []policy.Verdict{policy.Deny}, verdicts("session", call("u", "3")))
	assert.Len(t, kept.kept, 3)
	assert.Equal(t, []policy.Verdict{policy.None, policy.None, policy.Deny}, verdicts("day", call("v", "1"), call("w", "1"), call("x", "1")), "calls of other sessions have the same ids")
	g := mustGuard(t, "budget-guard", map[string]any{"max_calls": 1})
	r, err := g.Run(WithCounts(t.Context(), lost{}), call("s", "9"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, r.Verdict, "what cannot be counted is denied")
}

// lost keeps nothing, as a state folder that cannot be used.
type lost struct{}

func (lost) Count(string, func(string) string) string { return "" }

// TestPathGuardFindsPaths: a protected path is found wherever it stands in the
// arguments of a tool that writes, and in every command that writes a file.
func TestPathGuardFindsPaths(t *testing.T) {
	g := mustGuard(t, "path-guard", map[string]any{"protect": []any{"infra/prod/**", "**/*.lock"}, "agents": false})
	for _, p := range []string{"infra/prod/main.tf", "/home/dev/project/infra/prod/x", "file:///home/dev/project/infra/prod/x", "./a/../yarn.lock", "src/infra/../../infra/prod/x"} {
		for _, wrap := range []func(v any) any{
			func(v any) any { return v },
			func(v any) any { return []any{"src/a.go", v} },
			func(v any) any { return map[string]any{"options": map[string]any{"anything": v}} },
			func(v any) any { return []any{map[string]any{"a": []any{[]any{v}}}} },
			func(v any) any { return `{"a": {"b": ["` + v.(string) + `"]}}` },
			func(v any) any { return "--output=" + v.(string) },
			func(v any) any { return map[string]any{v.(string): "its new text"} },
		} {
			for _, key := range []string{"path", "name", "q", "data", "input", "x-y"} {
				for _, tool := range []string{"mcp__fs__write_file", "mcp_fs_update", "MCP:put", "@fs/save", "mcp__x__run", "some_tool", "mcp__x__get_and_replace", "search_and_replace"} {
					r := say(t, g, toolCall(tool, map[string]any{"a": 1, key: wrap(p)}))
					assert.Equal(t, policy.Deny, r.Verdict, "%s %s %v", tool, key, wrap(p))
				}
			}
		}
		for tool, args := range map[string]map[string]any{
			"multi_replace_string_in_file": {"replacements": []any{map[string]any{"filePath": "src/a.go"}, map[string]any{"filePath": p}}},
			"MultiEdit":                    {"file_path": p, "edits": []any{}},
			"Write":                        {"file_path": []any{"a", p}},
			"edit_notebook":                {"uri": p},
		} {
			assert.Equal(t, policy.Deny, say(t, g, toolCall(tool, args)).Verdict, "%s %s", tool, p)
		}
		if strings.HasPrefix(p, "file:") {
			continue
		}
		for _, form := range []string{"git checkout HEAD~2 -- P", "git checkout -- P", "git restore P", "git restore --source=v1 P", "git rm P", "git mv P x", "prettier --write P", "npx prettier -w src/a.ts P", "yq -i '.a = 1' P",
			"gofmt -w P", "black P", "sed -i s/a/b/ P", "perl -pi -e s/a/b/ P", "tee P < x", "sponge P", "ruff format P", "eslint --fix P", "dos2unix P", "cp x P", "install -m 644 x P", "curl -o P https://example.com",
			"jq . x > P", "touch P", "pwsh -c 'Set-Content P x'", "cmd /c 'echo x > P'", "python3 -c \"open('P','w')\"", "git -C . checkout main -- P"} {
			assert.Equal(t, policy.Deny, say(t, g, bashCall(strings.ReplaceAll(form, "P", p))).Verdict, "%s %s", form, p)
		}
	}
	for _, command := range []string{"git checkout main -- infra", "git restore -s v1 infra"} {
		assert.Equal(t, policy.Deny, say(t, g, bashCall(command)).Verdict, command)
	}
	for _, command := range []string{"git checkout main", "git checkout -b fix", "git diff infra/prod", "prettier --check infra/prod/a.ts", "yq .a infra/prod/x.yaml", "git log -- infra/prod/x", "git apply --check x.patch", "git restore --staged infra/prod/x"} {
		assert.Equal(t, policy.None, say(t, g, bashCall(command)).Verdict, command)
	}
	for tool, args := range map[string]map[string]any{
		"mcp__fs__read_file": {"path": "infra/prod/x"}, "Grep": {"pattern": "infra/prod/x"}, "mcp__gh__create_issue": {"title": "about infra/prod/x", "body": "see infra/prod/x\nplease"},
		"mcp__gh__create_pr": {"title": "infra/prod/x is wrong"},
		"Edit":               {"file_path": "src/a.go", "old_string": "infra/prod/x", "new_string": "yarn.lock"},
	} {
		assert.Equal(t, policy.None, say(t, g, toolCall(tool, args)).Verdict, tool)
	}
	spaced := toolCall("mcp__fs__clear", map[string]any{"what": "infra/prod/a big one/here"})
	assert.Equal(t, policy.Deny, say(t, g, spaced).Verdict, "folders may have spaces in their names")
	assert.Equal(t, policy.Ask, say(t, g, bashCall("curl https://example.com/x.patch | git apply")).Verdict)
}

// TestPathGuardPlaces: what shell-guard says of a file holds for tools too, and a project
// that is the home is usable.
func TestPathGuardPlaces(t *testing.T) {
	g := mustGuard(t, "path-guard", map[string]any{"hide": []any{"**/.env"}, "allow": []any{"~/.ssh/agent.conf"}})
	type args = map[string]any
	for _, tt := range []struct {
		tool string
		args args
		want policy.Verdict
	}{
		{"Read", args{"file_path": "~/.ssh/id_ed25519"}, policy.Deny},
		{"Read", args{"file_path": "/proc/self/environ"}, policy.Deny},
		{"Read", args{"file_path": ".env.production"}, policy.Deny},
		{"read_many_files", args{"paths": []any{"~/.ssh/*"}}, policy.Deny},
		{"read_many_files", args{"paths": []any{"**/.e*"}}, policy.Deny},
		{"Grep", args{"pattern": "x", "path": "~/.aws", "output_mode": "content"}, policy.Deny},
		{"Grep", args{"pattern": "x", "glob": ".env*", "output_mode": "content"}, policy.Deny},
		{"mcp__x__browser_file_upload", args{"paths": []any{"/home/dev/.ssh/id_rsa"}}, policy.Deny},
		{"str_replace_editor", args{"command": "view", "path": "/home/dev/.netrc"}, policy.Deny},
		{"Write", args{"file_path": "~/.bashrc"}, policy.Deny},
		{"Write", args{"file_path": "/etc/sudoers.d/dev"}, policy.Deny},
		{"Write", args{"file_path": "/dev/sda"}, policy.Deny},
		{"Write", args{"file_path": "/opt/x/y"}, policy.None},
		{"Write", args{"file_path": "/etc/hosts"}, policy.None},
		{"Write", args{"file_path": "/etc/cron.d/x"}, policy.Deny},
		{"apply_patch", args{"input": "*** Begin Patch\n*** Update File: /home/dev/.zshrc\n*** End Patch"}, policy.Deny},
		{"delete_file", args{"path": "/home/dev/Documents/a.docx"}, policy.Deny},
		{"mcp__x__remove_directory", args{"path": "/home/dev"}, policy.Deny},
		{"Delete", args{"file_path": ".git/objects"}, policy.Deny},

		{"Read", args{"file_path": ".env.example"}, policy.None},
		{"Read", args{"file_path": "~/.ssh/config"}, policy.None},
		{"Read", args{"file_path": "~/.ssh/agent.conf"}, policy.None},
		{"Read", args{"file_path": "/etc/hosts"}, policy.None},
		{"Read", args{"file_path": "app/[id]/page.tsx"}, policy.None},
		{"LS", args{"path": "~/.ssh"}, policy.None},
		{"Grep", args{"pattern": "x", "glob": "**/*", "output_mode": "content"}, policy.None},
		{"Grep", args{"pattern": "x", "glob": ".env"}, policy.None},
		{"Write", args{"file_path": ".env.local"}, policy.None},
		{"Write", args{"file_path": "~/notes.txt"}, policy.None},
		{"Write", args{"file_path": ".git/info/exclude"}, policy.None},
		{"mcp__x__ssh_connect", args{"privateKey": "/home/dev/.ssh/id_rsa"}, policy.None},
		{"mcp__x__browser_navigate", args{"url": "file:///usr/share/doc/x.html"}, policy.None},
		{"mcp__x__list_directory", args{"path": "/home/dev/.ssh"}, policy.None},
	} {
		r := say(t, g, toolCall(tt.tool, tt.args))
		assert.Equal(t, tt.want, r.Verdict, "%s %v: %v", tt.tool, tt.args, r.Reasons)
	}
	asks := mustGuard(t, "path-guard", map[string]any{"outside": "ask"})
	assert.Equal(t, policy.Ask, say(t, asks, toolCall("Write", args{"file_path": "/etc/hosts"})).Verdict, "outside says what becomes of it")
	assert.Equal(t, policy.Deny, say(t, asks, toolCall("Write", args{"file_path": "~/.bashrc"})).Verdict)
	assert.Equal(t, policy.Deny, say(t, asks, toolCall("Read", args{"file_path": "/etc/shadow"})).Verdict)
	home := mustGuard(t, "path-guard", map[string]any{"agents": false, "protect": []any{"x"}})
	for tool, p := range map[string]string{"Write": "/home/dev/notes.txt", "Read": "/home/dev/a", "delete_file": "/home/dev/Documents/a", "Edit": "/home/dev/.claude/settings.json"} {
		in := toolCall(tool, args{"file_path": p}).Set(policy.FieldCwd, "/home/dev").Set(policy.FieldProjectRoot, "/home/dev")
		assert.Equal(t, policy.None, say(t, home, in).Verdict, "%s %s", tool, p)
	}
}

// TestPathGuardLines: ways to a protected folder, and what only looks like one.
func TestPathGuardLines(t *testing.T) {
	g := mustGuard(t, "path-guard", map[string]any{"protect": []any{"infra/prod/**", "migrations/**", "**/main.tf"}, "hide": []any{"**/.env"}})
	for _, line := range strings.Split(linesStopped, "\n") {
		assert.NotEqual(t, policy.None, say(t, g, bashCall(strings.ReplaceAll(line, `\n`, "\n"))).Verdict, line)
	}
	for _, line := range strings.Split(linesPassed, "\n") {
		r := say(t, g, bashCall(strings.ReplaceAll(line, `\n`, "\n")))
		assert.Equal(t, policy.None, r.Verdict, "%s: %v", line, r.Reasons)
	}
}

// TestPathGuardBranch: a name that is no file of the project is that of a branch.
func TestPathGuardBranch(t *testing.T) {
	g := mustGuard(t, "path-guard", map[string]any{"protect": []any{"migrations/**"}})
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "migrations", "old"), 0o755))
	for line, want := range map[string]policy.Verdict{
		"git checkout migrations/add-users": policy.None, "git checkout migrations/old": policy.Deny, "git checkout -- migrations/new": policy.Deny, "git checkout migrations/a.sql": policy.Deny,
	} {
		in := bashCall(line).Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root)
		assert.Equal(t, want, say(t, g, in).Verdict, line)
	}
}

const linesStopped = `cp base.yaml infra/*/app.yaml
for d in infra/*; do cp base.yaml $d/app.yaml; done
for d in infra/*/; do cp base.yaml "${d}app.yaml"; done
grep -rl foo . | xargs sed -i s/foo/bar/
grep -rl foo infra | xargs sed -i s/foo/bar/
grep -rlZ foo infra/ | xargs -0 sed -i s/foo/bar/
rg -l foo | xargs sed -i s/foo/bar/
sed -i s/a/b/ $(grep -rl foo infra)
sed -i s/a/b/ infra/$ENV/app.yaml
sed -i s/a/b/ "infra/$1/app.yaml"
yq -i '.a=1' infra/$ENV/app.yaml
prettier --write "infra/$ENV/app.yaml"
cp a.yaml "$DIR/prod/app.yaml"
rm -rf infra/$ENV
terraform fmt infra/prod/app.tf
terraform -chdir=infra/prod fmt
find . -name '*.tf' -exec terraform fmt {} \;
sqlfluff fix migrations/0001.sql
python -m black migrations/env.py
rubocop -A migrations/001.rb
./vendor/bin/pint migrations/V1.php
npx oxlint --fix infra/prod/stack.ts
buf format -w infra/prod/a.proto
prettier --write --check infra/prod/a.yaml
sd -s a b infra/prod/app.yaml
ast-grep run -p a -r b -U infra/prod/stack.ts
comby -in-place a b infra/prod/stack.ts
npx json -I -f .claude/settings.json -e 'delete this.hooks'
tomlq -i -t 'del(.hooks)' ~/.codex/config.toml
toml set --toml-path ~/.codex/config.toml features.hooks false
git config -f ~/.codex/config.toml features.hooks false
sops -e -i infra/prod/secrets.yaml
ansible-vault encrypt infra/prod/vars.yml
cd infra/prod && kustomize edit set image app=app:2
git stash push migrations/0001.sql
git stash push -m wip infra/prod
git merge-file infra/prod/a.yaml base.yaml other.yaml
hg revert -r 3 migrations/0001.sql
svn update -r 5 migrations
ln -s infra/prod p && sed -i s/a/b/ p/app.yaml
ln -s infra/prod p; echo x > p/app.yaml
ln infra/prod/app.yaml a.yaml && echo x > a.yaml
cp -rs infra /tmp/i && echo x > /tmp/i/prod/app.yaml
ln -s ../infra/prod sub/p; echo x > sub/p/app.yaml
ln -s .env x; cat x
cp -r template/.claude .
rsync -a template/.claude .
cp -a ../other/.codex ./
find infra/prod -name '*.pyc' -delete
find . -name '*.yaml' -delete
git apply <<'X'\n--- a/infra/prod/a.yaml\n+++ b/infra/prod/a.yaml\n@@ -1 +1 @@\n-a\n+b\nX
patch infra/prod/a.yaml fix.patch
curl -s https://x.example.com/p | git apply
sudo rm -rf infra/prod
chmod u+s infra/prod/bin
grep -r KEY --include=.env .
grep -rh . --include='.env*' .`

const linesPassed = `sudo true
doas ls
echo x | sudo tee /tmp/x
find . -name '*.pyc' -delete
find . -name .DS_Store -delete
find . -name node_modules -type d -prune -exec rm -rf {} +
find . -name '*.orig' -o -name '*.rej' | xargs rm -f
fd -e pyc -x rm
sed -i s/a/b/ src/*.ts
for d in packages/*; do cp base.json $d/tsconfig.json; done
sed -i s/a/b/ infra/dev*/app.yaml
grep -rl foo src | xargs sed -i s/foo/bar/
grep -l foo src/*.ts | xargs sed -i s/a/b/
grep -rl foo . | xargs wc -l
echo x > build/$NAME/app.yaml
cp a "$OUT/app.yaml"
prettier --write "$f"
terraform fmt
terraform fmt -check infra/prod
black --check migrations
ruff format --check migrations/env.py
taplo fmt --check infra/prod/a.toml
sd -p a b infra/prod/app.yaml
rename -n s/a/b/ migrations/*.sql
gzip -dc infra/prod/a.gz
yq -I 4 . infra/prod/app.yaml
eslint --format json infra/prod/stack.ts
svn update
git stash list -- migrations
git stash push -m "migrations/x wip"
git merge-file -p infra/prod/a.yaml base.yaml other.yaml
git config -f infra/prod/x.cfg --get a.b
git checkout-index --temp migrations/a.sql
ln -s infra/dev p && sed -i s/a/b/ p/app.yaml
ln -s infra/prod p; rm p
ln -sf infra/prod/a.yaml a; ln -sf infra/dev/a.yaml a
cp -r template/.github .
cp -r .claude /tmp/backup
git apply <<'X'\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\nX
grep -rl KEY --include=.env .
grep -rn foo --include='*.ts' src`
