//go:build linux

package bash

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// wrap are the ways to have a whole line run. They end the line with a newline,
// since it may end in a comment or a here-document. @L is the line, @Q the line
// as a word, @B its base64, @X its hex, @E its bytes as escapes, @R and @T the
// line reversed and rotated as words, @S the line as a string of Python,
// @O a program of Python that prints it, and
// @P, @I, @J, @M, @N programs of Python, node and perl that run it.
var wrap = []string{
	"bash -c @Q", "bash -lc @Q", "bash -euo pipefail -c @Q", "sh -c @Q", "env bash -c @Q", "sudo bash -c @Q", "sudo -u root -- sh -c @Q", "timeout 5 bash -c @Q",
	"nohup bash -c @Q", "nice -n 5 bash -c @Q", "stdbuf -oL bash -c @Q", "setsid -w bash -c @Q", "command bash -c @Q", "exec bash -c @Q", "env -u NOPE X=1 sh -c @Q",
	"busybox sh -c @Q", "ssh h @Q", "su - root -c @Q", "flock /tmp/lock bash -c @Q", "eval @Q", "command eval @Q", "builtin eval @Q", "X=@Q; eval \"$X\"", "X=@Q; bash -c \"$X\"",
	"export X=@Q; bash -c 'eval \"$X\"'", "eval eval @Q", "( @L\n)", "{ @L\n}", "true && { @L\n}", "false || { @L\n}", "if true; then @L\nfi", "if false; then :; else @L\nfi",
	"for i in 1; do @L\ndone", "while :; do @L\nbreak; done", "until false; do @L\nbreak; done", "case x in x) @L\n;; esac", "f() { @L\n}; f", "function g { @L\n}; g",
	"f() { eval \"$1\"; }; f @Q", "f() { \"$@\"; }; f bash -c @Q", "bash <<'EOX'\n@L\nEOX", "sh -s <<'EOX'\n@L\nEOX", "cat <<'EOX' | bash\n@L\nEOX", "bash <<< @Q", "printf '%s\\n' @Q | bash",
	"echo @B | base64 -d | bash", "echo @B | base64 --decode | sh", "base64 -d <<< @B | bash", "eval \"$(echo @B | base64 -d)\"", "bash -c \"$(echo @B | base64 -d)\"", "bash <(printf '%s\\n' @Q)",
	". <(printf '%s\\n' @Q)", "source /dev/stdin <<< @Q", "printf '%s\\n' @Q > /tmp/s.sh; bash /tmp/s.sh", "printf '%s\\n' @Q > /tmp/s.sh; . /tmp/s.sh", "cat > /tmp/t.sh <<'EOX'\n@L\nEOX\nsh /tmp/t.sh",
	"printf '%s' @Q | tee /tmp/u.sh >/dev/null; bash /tmp/u.sh", "echo \"$(@L\n)\"", "x=$(@L\n)", ": `eval @Q`", "cat <(@L\n)", "echo $(( $(@L\n) + 0 ))", ": \"${X:-$(@L\n)}\"", "[[ -n $(@L\n) ]]",
	"cat <<EOX\n$(@L\n)\nEOX", "trap @Q EXIT", "trap @Q EXIT; true", "{ @L\n} 2>/dev/null", "@L\n true", "set -e\n@L", "echo hi; @L", "echo hi\n@L", "! { @L\n}", "time { @L\n}", "{ @L\n} &\nwait",
	"true | { @L\n}", "@L\n: done", "find . -maxdepth 0 -exec bash -c @Q \\;", "find . -maxdepth 0 -exec sh -c @Q {} +", "printf '%s\\0' @Q | xargs -0 bash -c", "printf '%s\\0' @Q | xargs -0 -I{} bash -c {}",
	"echo x | xargs -I{} bash -c @Q", "python3 -c @P", "perl -e 'system(@ARGV)' bash -c @Q", "awk 'BEGIN{system(ARGV[1])}' @Q", "bash -c 'eval \"$1\"' _ @Q", "bash -c '\"$@\"' _ bash -c @Q",
	"set -- @Q; eval \"$1\"", "a=(bash -c @Q); \"${a[@]}\"", "cd /tmp && cd \"$OLDPWD\" && { @L\n}", "pushd /tmp >/dev/null; popd >/dev/null; @L", "IFS=,; eval @Q", "coproc { @L\n}; wait", "git -c alias.x=!@Q x",
	"bash -c \"$(printf %s @Q)\"", "bash -s <<< @Q", "bash /dev/stdin <<< @Q", "cat <<< @Q | tee /dev/null | bash", "tac <<< @Q | bash", "rev <<< @R | bash", "echo @X | xxd -r -p | bash",
	"echo @T | tr 'A-Za-z' 'N-ZA-Mn-za-m' | bash", "sed 's/^x//' <<< x@Q | bash", "printf '@E' | bash", "printf %b '@E' | sh", "echo -e '@E' | bash", "eval $'@E'", "bash -c $'@E'", "bash <<< $'@E'",
	"python3 -c @O | bash", "awk 'BEGIN{print ARGV[1]}' @Q | bash", "perl -e 'print shift' @Q | bash", "echo @Q | gzip | gunzip | bash", "echo @Q | openssl base64 | openssl base64 -d | bash",
	"node -e @J", "perl -e @M", "env -S 'bash -c' @Q", "ssh h bash -s <<< @Q", "ssh -t dev@h -- @Q", "docker exec -it web sh -c @Q", "exec 3<<< @Q; bash <&3", "bash 0<<< @Q", "exec 3<<< @Q; . /dev/fd/3",
	"while read -r c; do eval \"$c\"; done <<< @Q", "printf '%s\\n' @Q | while IFS= read -r c; do bash -c \"$c\"; done", "mapfile -t a <<< @Q; eval \"${a[0]}\"", "read -r x <<< @Q; eval \"$x\"",
	"printf -v x %s @Q; eval \"$x\"", "declare -A m=([k]=@Q); eval \"${m[k]}\"", "x=@Q y=x; eval \"${!y}\"", "f() { eval \"$*\"; }; f @Q", "f() { local c=\"$1\"; eval \"$c\"; }; f @Q",
	"f() { shift; eval \"$@\"; }; f skip @Q", "set -- a @Q; shift; eval \"$1\"", "shopt -s expand_aliases\nalias z=@Q\nz", "eval \"$(cat <<'EOX'\n@L\nEOX\n)\"", "trap @Q DEBUG; :", "trap @Q ERR; false",
	"trap @Q USR1; kill -USR1 $$", "f() { trap @Q RETURN; }; f", "printf '%s\\n' @Q > /tmp/e.sh; BASH_ENV=/tmp/e.sh bash -c :", "printf '%s\\n' @Q > /tmp/v.sh; bash < /tmp/v.sh",
	"echo @Q >> /tmp/w.sh && cat /tmp/w.sh | sh", "cd /tmp; printf '%s\\n' @Q > y.sh; cd \"$OLDPWD\"; sh /tmp/y.sh", "for ((i = 0; i < 1; i++)); do @L\ndone", "if ! false; then @L\nfi", "[ 1 = 1 ] && { @L\n}",
	"[[ a == a ]] && { @L\n}", "(( 1 )) && { @L\n}", "test -n x && ( @L\n)", "if true; then if true; then @L\nfi; fi", "while true; do case 1 in 1) @L\n;; esac; break; done", "{ @L\n} | cat", "{ @L\n} > >(cat)",
	"tee >(bash) <<< @Q >/dev/null", "cat < <(@L\n)", ": $(( a[$(@L\necho 0)] ))", ": \"${x:=$(@L\n)}\"", "case $(@L\n) in *) ;; esac", "for x in $(@L\n); do :; done", "cd \"$(@L\necho /tmp)\"",
	": > \"/tmp/$(@L\necho x)\"", "cat <<< \"$(@L\n)\"", "a=($(@L\n))", "X=$(@L\n) true", "export Y=$(@L\n)", "f() ( @L\n); f", "f() { g() { @L\n}; g; }; f", "ls() { @L\n}; ls",
	"command_not_found_handle() { @L\n}; nosuch", "n=0; while (( n++ < 1 )); do @L\ndone", "for c in @Q; do eval \"$c\"; done", "for c in bash; do $c -c @Q; done", "b=ba; s=sh; $b$s -c @Q",
	"${SHELL:-bash} -c @Q", "$SHELL -c @Q", "$0 -c @Q", "/bin/bash -c @Q", "/usr/bin/env bash -c @Q", "exec env bash -c @Q", "command -- bash -c @Q", "sudo -E -H -u dev bash -lc @Q",
	"sudo sh <<'EOX'\n@L\nEOX", "nice -n 19 ionice -c 3 bash -c @Q", "timeout --signal=KILL 9 nohup bash -c @Q", "script -qc @Q /dev/null", "bash +x -o errexit -c @Q", "bash --norc --noprofile -c @Q",
	"bash -c -- @Q", "sh -ec @Q", "bash -xc @Q 2>/dev/null", "cat > run <<'EOX'\n@L\nEOX\nbash ./run", "{ echo '#!/bin/bash'; printf '%s\\n' @Q; } > /tmp/z.sh; bash /tmp/z.sh",
	"python3 - <<'EOX'\nimport subprocess\nsubprocess.run(['bash', '-c', @S])\nEOX", "python3 -c @I", "perl -MPOSIX -e @N", "xargs -d '\\n' -n 1 bash -c <<< @Q", "find /tmp -maxdepth 0 -execdir bash -c @Q ';'",
	"coproc bash -c @Q; wait", "exec 2>/dev/null; @L", "set -x; @L", "true; : ; @L", "# comment\n@L", "declare -r z=1; @L",
}

// wrapped puts the line into a template.
func wrapped(template, line string) string {
	reversed := []byte(line)
	slices.Reverse(reversed)
	var escaped strings.Builder
	for _, c := range []byte(line) {
		fmt.Fprintf(&escaped, `\x%02x`, c)
	}
	text := strconv.QuoteToASCII(line)
	perl := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(line) + "'"
	return strings.NewReplacer("@L", line, "@Q", quote(line), "@B", base64.StdEncoding.EncodeToString([]byte(line)), "@X", hex.EncodeToString([]byte(line)),
		"@E", escaped.String(), "@R", quote(string(reversed)), "@T", quote(strings.Map(rotated, line)), "@S", text,
		"@O", quote("print("+text+")"), "@P", quote("import os; os.system("+text+")"), "@I", quote("import subprocess; subprocess.call("+text+", shell=True)"),
		"@J", quote("require('child_process').execSync("+text+")"), "@M", quote("system("+perl+")"), "@N", quote("exec 'bash', '-c', "+perl)).Replace(template)
}

// rotated is ROT13.
func rotated(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}
