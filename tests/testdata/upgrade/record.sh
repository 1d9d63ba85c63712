#!/bin/sh
# Records what an older hookc leaves on a disk, for TestUpgrade.
# usage: record.sh FOLDER-WITH-THE-OLD-hookc-AND-hookgate OUTPUT
# It was run once, with the programs of commit ef5782a; see README.txt.
set -eu
old=$1 out=$2
root=/tmp/hookc-upgrade # the recorded files name this folder
rm -rf "$root"; mkdir -p "$root/bin" "$root/home/.config/hookc" "$root/project/.hookc/scripts" "$root/project/.git"
cp "$old/hookc" "$old/hookgate" "$root/bin/"
export HOME="$root/home" XDG_STATE_HOME="$root/state" XDG_CONFIG_HOME="$root/home/.config" PATH="$root/bin:$PATH"
cat > "$HOME/.config/hookc/hooks.yaml" <<'YAML'
pre_tool_execution:
  - {name: user-guard, locked: true, deny: 'command contains "user-denies"', reason: the user denies it}
  - {name: user-script, filter: {tool_matcher: Write}, command: sh scripts/user.sh, protocol: claude, on_error: deny}
YAML
mkdir "$root/project/scripts" # where the event is about: there an older hookc looked for it
echo 'exit 0' > "$root/project/scripts/user.sh"
cat > "$root/project/.hookc/hooks.yaml" <<'YAML'
pre_tool_execution:
  - {name: project-guard, deny: 'command contains "project-denies"', reason: the project denies it}
  - {name: rego-guard, file: guard.rego}
  - {name: script-guard, filter: {tool_matcher: Bash}, command: sh .hookc/scripts/check.sh, protocol: claude}
stop:
  - {name: gate, deny: 'assistant_output contains "failed"', reason: the tests fail}
YAML
cat > "$root/project/.hookc/guard.rego" <<'REGO'
package guard

deny contains "rego denies it" if contains(input.tool_input.command, "rego-denies")
REGO
cat > "$root/project/.hookc/scripts/check.sh" <<'SH'
#!/bin/sh
if grep -q script-denies; then echo "the script denies it" >&2; exit 2; fi
SH
cd "$root/project"
hookc trust
bash() { printf '{"event":"pre_tool_execution","session_id":"s","tool_name":"Bash","tool_input":{"command":"%s"},"cwd":"%s"}' "$1" "$root/project"; }
for word in ls user-denies project-denies rego-denies script-denies; do
  bash "$word" | hookc run || true # the exit code is the answer
done
for _ in 1 2 3; do # three consecutive refusals, which the state counts
  printf '{"event":"stop","session_id":"s","assistant_output":"failed","cwd":"%s"}' "$root/project" | hookc run || true
done
printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"%s"}' "$root/project" |
  hookc run PreToolUse --dialect claude
hookc compile -o "$root/project/policy.hookc"
hookc install claude
hookc install gemini --gate
hookc install codex --scope user -f "$HOME/.config/hookc/hooks.yaml"
hookc install agenthooks
cd "$root"
rm -r bin
mkdir -p "$out"
rm -rf "$out/tree"
mkdir "$out/tree"
find . -type f ! -name '*.lock' | sort | while read -r f; do
  to=$(echo "$f" | sed 's,/\.,/dot.,g; s,^dot\.,.,') # a leading dot would hide the file from some tools
  mkdir -p "$out/tree/$(dirname "$to")"
  cp "$f" "$out/tree/$to"
done
