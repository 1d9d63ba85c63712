package builtins

import (
	"strings"
)

func init() {
	programs((*analysis).rm, "rm grm rmdir unlink srm wipe trash trash-put rimraf del")
	programs((*analysis).shred, "shred gshred")
	programs((*analysis).tee, "tee gtee sponge")
	programs((*analysis).touch, "touch gtouch mkdir gmkdir mkfifo mknod")
	programs((*analysis).truncate, "truncate gtruncate fallocate")
	programs((*analysis).copy, "cp gcp install ginstall")
	programs((*analysis).move, "mv gmv")
	programs((*analysis).link, "ln gln")
	programs((*analysis).dd, "dd gdd")
	programs((*analysis).chmod, "chmod gchmod chown gchown chgrp setfacl chattr")
	programs((*analysis).readers, "grep egrep fgrep zgrep rg ag ack sort gsort uniq cut paste comm diff cmp join fold column strings od hexdump "+
		"sum b2sum file stat look pr fmt expand unexpand split csplit jq yq source-highlight pygmentize glow")
	programs((*analysis).archive, "tar gtar bsdtar")
	programs((*analysis).zip, "zip 7z 7za gzip bzip2 xz zstd")
	programs((*analysis).unzip, "unzip unrar")
	programs((*analysis).sed, "sed gsed")
	programs((*analysis).editor, "vim vi nvim ex ed emacs")
}

// rm deletes its operands.
func (a *analysis) rm(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	if o.exact("--help", "--version") {
		return nil
	}
	t := c.target("rm")
	switch c.name {
	case "trash", "trash-put":
		return nil // what is there can be brought back
	case "rmdir", "unlink":
		t.op = c.name
	case "rimraf":
		t.recursive = true
	}
	t.recursive = t.recursive || o.dynamic || o.has("-r", "-R", "--recursive")
	for _, w := range o.operands {
		a.fileEffect(EffectDelete, w, t)
		a.forgetFile(w, c.fr)
	}
	return nil
}

func (a *analysis) forgetFile(w ShellWord, fr *shFrame) {
	if _, written := a.written(w, fr); written {
		fr.st.files = fr.st.files.put(a.fileKey(w, fr), shUnknown("$(< "+w.Text+")", shOrigin{"file", w.Text}))
	}
}

func (a *analysis) shred(c *shCall) shValue {
	o := options(c.args(), "ns", "--iterations --size --random-source", 0)
	for _, w := range o.operands {
		t := c.target("shred")
		if strings.HasPrefix(w.prefix(), "/dev/") {
			a.fileEffect(EffectWrite, w, t)
			continue
		}
		a.fileEffect(EffectDelete, w, t)
	}
	return nil
}

func (a *analysis) tee(c *shCall) shValue {
	o := options(c.args(), "", "--output-error", 0)
	v := c.fr.stdin.value
	if !c.fr.stdin.set {
		v = shUnknown("$(stdin)", shOrigin{kind: "stdin"})
	}
	op := "tee"
	if o.has("-a", "--append") {
		op = "append"
	}
	for _, w := range o.operands {
		a.fileEffect(EffectWrite, w, c.target(op))
		if key := a.fileKey(w, c.fr); !isStream(key) {
			c.fr.st.files = c.fr.st.files.put(key, v)
		}
	}
	return v
}

func (a *analysis) touch(c *shCall) shValue {
	o := options(c.args(), "rdtm", "--reference --date --mode --time", 0)
	for _, w := range o.operands {
		a.fileEffect(EffectWrite, w, c.target("create"))
	}
	return nil
}

func (a *analysis) truncate(c *shCall) shValue {
	o := options(c.args(), "srlo", "--size --reference --length --offset", 0)
	for _, w := range o.operands {
		a.fileEffect(EffectWrite, w, c.target("truncate"))
	}
	return nil
}

// targets splits operands into sources and the destination.
func copyOperands(o *shOpts) (from []ShellWord, to ShellWord, into bool) {
	if dir, ok := o.value("-t", "--target-directory"); ok {
		return o.operands, dir, true
	}
	if len(o.operands) < 2 {
		return o.operands, ShellWord{}, false
	}
	last := len(o.operands) - 1
	to = o.operands[last]
	return o.operands[:last], to, strings.HasSuffix(to.Text, "/") || last > 1
}

func (a *analysis) copy(c *shCall) shValue {
	short, long := "tS", "--target-directory --suffix"
	if strings.HasSuffix(c.name, "install") {
		short, long = "tSgmo", long+" --group --mode --owner"
	}
	o := options(c.args(), short, long, 0)
	from, to, _ := copyOperands(&o)
	if o.exact("-d", "--directory") && strings.HasSuffix(c.name, "install") {
		from, to = nil, ShellWord{}
		for _, w := range o.operands {
			a.fileEffect(EffectWrite, w, c.target("create"))
		}
	}
	for _, w := range from {
		a.fileEffect(EffectRead, w, c.target("copy"))
	}
	a.fileEffect(EffectWrite, to, c.target("copy"))
	a.into(from, to, c, "copy")
	if v, ok := a.written1(from, c.fr); ok {
		c.fr.st.files = c.fr.st.files.put(a.fileKey(to, c.fr), v)
	}
	if mode, ok := o.value("-m", "--mode"); ok {
		a.modeEffect(c, mode.Text, to, false)
	}
	return nil
}

// written1 is the content of the one source of a copy, if it is known.
func (a *analysis) written1(from []ShellWord, fr *shFrame) (shValue, bool) {
	if len(from) != 1 {
		return nil, false
	}
	return a.written(from[0], fr)
}

// into adds the files that a copy makes in a directory, when they are told by
// name: cp sudoers /etc/.
func (a *analysis) into(from []ShellWord, to ShellWord, c *shCall, op string) {
	if to.Text == "" || to.Dynamic {
		return
	}
	for i, w := range from {
		if i >= maxItems || w.Dynamic || w.Pattern || w.Text == "" {
			continue
		}
		base := w.Text[strings.LastIndexByte(strings.TrimRight(w.Text, "/"), '/')+1:]
		if !strings.HasSuffix(to.Text, "/") && len(from) < 2 {
			continue
		}
		a.fileEffect(EffectWrite, shWord(strings.TrimRight(to.Text, "/")+"/"+base), c.target(op))
	}
}

// move takes its sources away from where they are.
func (a *analysis) move(c *shCall) shValue {
	o := options(c.args(), "tS", "--target-directory --suffix", 0)
	from, to, _ := copyOperands(&o)
	t := c.target("move")
	t.recursive = true
	for _, w := range from {
		a.fileEffect(EffectDelete, w, t)
	}
	a.fileEffect(EffectWrite, to, c.target("move"))
	a.into(from, to, c, "move")
	if v, ok := a.written1(from, c.fr); ok {
		c.fr.st.files = c.fr.st.files.put(a.fileKey(to, c.fr), v)
	}
	return nil
}

func (a *analysis) link(c *shCall) shValue {
	o := options(c.args(), "tS", "--target-directory --suffix", 0)
	if len(o.operands) == 1 {
		return nil
	}
	from, to, _ := copyOperands(&o)
	op := "link"
	if o.has("-f", "--force") {
		op = "link-force"
	}
	a.fileEffect(EffectWrite, to, c.target(op))
	a.into(from, to, c, op)
	return nil
}

func (a *analysis) dd(c *shCall) shValue {
	printed := true
	in := c.fr.stdin.value
	for _, w := range c.args() {
		name, value, ok := w.cut("=")
		switch {
		case ok && name == "if":
			a.fileEffect(EffectRead, value, c.target("dd"))
			in = a.contents(value, c.fr)
		case ok && name == "of":
			a.fileEffect(EffectWrite, value, c.target("dd"))
			printed = false
		}
	}
	if printed {
		return in
	}
	return nil
}

// chmod changes rights. The mode is the first operand, or a reference.
func (a *analysis) chmod(c *shCall) shValue {
	args, mode := c.args(), ""
	var kept []ShellWord
	for _, w := range args { // -x and -rw are modes, not options
		if c.name == "chmod" && len(w.Text) > 1 && w.Text[0] == '-' && strings.Trim(w.Text[1:], "rwxXst") == "" && mode == "" {
			mode = w.Text
			continue
		}
		kept = append(kept, w)
	}
	o := options(kept, "mxM", "--reference --from --modify --remove", 0)
	operands := o.operands
	if mode == "" && !o.exact("--reference") && !o.exact("-m", "-x") && len(operands) > 0 {
		mode, operands = operands[0].Text, operands[1:]
	}
	recursive := o.has("-R", "--recursive")
	if strings.HasPrefix(c.name, "ch") && c.name != "chmod" {
		for _, w := range operands {
			a.ownerEffect(c, w, recursive)
		}
		return nil
	}
	for _, w := range operands {
		a.modeEffect(c, mode, w, recursive)
	}
	return nil
}

func (a *analysis) ownerEffect(c *shCall, w ShellWord, recursive bool) {
	t := c.target(strings.TrimPrefix(c.name, "g"))
	t.domain, t.recursive = DomainPermission, recursive
	a.fileEffect(EffectWrite, w, t)
}

// modeEffect says what a mode does to a file: setuid is a privilege, everybody
// may write is open-mode, nobody may read is lock-mode.
func (a *analysis) modeEffect(c *shCall, mode string, w ShellWord, recursive bool) {
	t := c.target("chmod")
	t.domain, t.recursive = DomainPermission, recursive
	kind := EffectWrite
	switch {
	case setsID(mode):
		t.op, kind = "setuid", EffectPrivilege
	case opensToAll(mode):
		t.op = "open-mode"
	case locksAll(mode):
		t.op = "lock-mode"
	}
	a.fileEffect(kind, w, t)
}

func octalMode(mode string) (string, bool) {
	if mode == "" || strings.Trim(mode, "01234567") != "" {
		return "", false
	}
	return strings.Repeat("0", max(4-len(mode), 0)) + mode, true
}

func setsID(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return octal[len(octal)-4] >= '2'
	}
	for part := range strings.SplitSeq(mode, ",") {
		if who, what, ok := strings.Cut(part, "+"); ok && strings.Contains(what, "s") && strings.Trim(who, "ugoa") == "" {
			return true
		}
		if _, what, ok := strings.Cut(part, "="); ok && strings.Contains(what, "s") {
			return true
		}
	}
	return false
}

func opensToAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return strings.IndexByte("2367", octal[len(octal)-1]) >= 0
	}
	for part := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(part, "+=")
		if i < 0 || !strings.Contains(part[i:], "w") {
			continue
		}
		if who := part[:i]; strings.ContainsAny(who, "oa") {
			return true
		}
	}
	return false
}

func locksAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return octal[len(octal)-3] < '4'
	}
	return mode == "a=" || mode == "u=" || mode == "a-rwx" || mode == "u-rwx" || mode == "-rwx" || mode == "a-r" || mode == "u-r"
}

// patternFirst are readers whose first operand is a pattern or a program.
var patternFirst = map[string]bool{
	"grep": true, "egrep": true, "fgrep": true, "zgrep": true, "rg": true, "ag": true, "ack": true, "jq": true, "yq": true,
}

// readers read their operands and print some of what is in them.
func (a *analysis) readers(c *shCall) shValue {
	o := options(c.args(), "efmABCdDtkSTo", "--regexp --file --max-count --context --after-context --before-context --include --exclude --exclude-dir "+
		"--glob --type --pre --arg --argjson --slurpfile --rawfile --indent --key --field-separator --output --hostname-bin", 0)
	operands := o.operands
	if patternFirst[c.name] && !o.exact("-e", "-f", "--regexp", "--file", "--files") && len(operands) > 0 {
		operands = operands[1:]
	}
	if pre, ok := o.value("--pre", "--hostname-bin"); ok && c.name == "rg" {
		a.wrapped(c, []ShellWord{pre, shWord("FILE")}, c.fr)
	}
	if out, ok := o.value("-o", "--output"); ok && strings.HasSuffix(c.name, "sort") {
		a.fileEffect(EffectWrite, out, c.target("write"))
	}
	if c.name == "stat" || c.name == "file" || len(operands) > 0 && c.name == "split" {
		return printsText(a, c)
	}
	v := a.input(c, operands)
	if text, ok := v.known(); ok && (c.name == "sort" || c.name == "uniq") {
		return shLiteral(text)
	}
	if _, ok := v.known(); ok {
		// Some of what is known, which nobody can say.
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
	}
	if v.origin().kind == "" {
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
	}
	return v
}

// archive is tar.
func (a *analysis) archive(c *shCall) shValue {
	args := c.args()
	if len(args) > 0 && !args[0].Dynamic && args[0].Text != "" && args[0].Text[0] != '-' {
		args = append([]ShellWord{shWord("-" + args[0].Text)}, args[1:]...)
	}
	o := options(args, "fCTXbgIKFLHNV", "--file --directory --exclude --files-from --use-compress-program --to-command --checkpoint-action --transform --exclude-from --rmt-command --info-script --new-volume-script --owner --group --mode", 0)
	fr := c.fr
	if dir, ok := o.value("-C", "--directory"); ok {
		fr = fr.subshell()
		a.moveTo(dir, fr)
	}
	for _, name := range []string{"-I", "--use-compress-program", "--to-command", "--rmt-command", "--info-script", "--new-volume-script", "-F"} {
		if v, ok := o.value(name); ok {
			a.interpret(c, v.value(), a.childShell(c), c.name)
		}
	}
	for _, v := range o.values("--checkpoint-action") {
		if name, code, ok := v.cut("="); ok && name == "exec" {
			a.interpret(c, code.value(), a.childShell(c), c.name)
		}
	}
	return a.archiveEffects(c, &o, fr)
}

func (a *analysis) archiveEffects(c *shCall, o *shOpts, fr *shFrame) shValue {
	file, named := o.value("-f", "--file")
	toFile := named && !file.is("-")
	in := c.target("archive")
	in.fr = fr
	switch {
	case o.has("-c", "-r", "-u", "-A", "--create", "--append", "--update"):
		out := shValue{}
		for _, w := range o.operands {
			a.fileEffect(EffectRead, w, in)
			if o.exact("--remove-files") {
				in.recursive = true
				a.fileEffect(EffectDelete, w, in)
			}
			out = append(out, shPart{text: "$(tar)", kind: shAny, origin: shOrigin{"file", a.resolve(w, fr).text}})
		}
		if toFile {
			a.fileEffect(EffectWrite, file, c.target("archive"))
			return nil
		}
		return out
	case o.has("-x", "--extract", "--get"):
		if toFile {
			a.fileEffect(EffectRead, file, c.target("archive"))
		}
		in.op = "extract"
		a.fileEffect(EffectWrite, shWord("."), in)
		if o.has("-O", "--to-stdout") {
			return decoded(c, a.input(c, nil))
		}
		return nil
	}
	return printsText(a, c)
}

// zip writes archives; with some options the originals go.
func (a *analysis) zip(c *shCall) shValue {
	o := options(c.args(), "TnbtxioSd", "--unzip-command --exclude", 0)
	if tt, ok := o.value("-TT", "--unzip-command"); ok {
		a.interpret(c, tt.value(), a.childShell(c), c.name)
	}
	if o.exact("-d", "--decompress") && len(o.operands) == 0 {
		return decoded(c, a.input(c, nil))
	}
	v := shValue{}
	for i, w := range o.operands {
		if c.name == "zip" && i == 0 && !w.is("-") {
			a.fileEffect(EffectWrite, w, c.target("archive"))
			continue
		}
		a.fileEffect(EffectRead, w, c.target("archive"))
		v = append(v, shPart{text: "$(" + c.name + ")", kind: shAny, origin: shOrigin{"file", a.resolve(w, c.fr).text}})
	}
	if len(o.operands) == 0 && c.fr.stdin.set {
		return shUnknown("$("+c.name+")", c.fr.stdin.value.origin())
	}
	return v
}

func (a *analysis) unzip(c *shCall) shValue {
	o := options(c.args(), "dPx", "", 0)
	if len(o.operands) > 0 {
		a.fileEffect(EffectRead, o.operands[0], c.target("archive"))
	}
	if o.exact("-p") {
		return shUnknown("$(unzip)", shOrigin{"decoded", o.operand(0)})
	}
	dir, ok := o.value("-d")
	if !ok {
		dir = shWord(".")
	}
	if !o.exact("-l", "-t", "-v", "-Z") {
		a.fileEffect(EffectWrite, dir, c.target("extract"))
	}
	return nil
}

// sed edits files in place, and runs commands with e.
func (a *analysis) sed(c *shCall) shValue {
	o := options(c.args(), "efl", "--expression --file --line-length", 0)
	operands := o.operands
	scripts := o.values("-e", "--expression")
	if len(scripts) == 0 && !o.exact("-f", "--file") && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	inPlace := o.has("-i", "--in-place")
	for _, s := range scripts {
		a.sedScript(c, s.Text)
	}
	if inPlace {
		for _, w := range operands {
			if w.Text != "" {
				a.fileEffect(EffectWrite, w, c.target("sed-in-place"))
			}
		}
		return nil
	}
	v := a.input(c, operands)
	if text, ok := v.known(); ok && len(scripts) == 1 {
		if out, simple := sedSubstitute(text, scripts[0].Text); simple {
			return shLiteral(out)
		}
		return decoded(c, v)
	}
	return shUnknown("$(sed)", v.origin())
}

// sedScript finds what a script runs: the command e, and the flag e and the
// file of w in s///.
func (a *analysis) sedScript(c *shCall, script string) {
	if len(script) > maxShellValue {
		return
	}
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == '\n' || r == ';' || r == '{' || r == '}' }) {
		line = strings.TrimLeft(line, " \t0123456789,$")
		if strings.HasPrefix(line, "/") {
			if end := strings.IndexByte(line[1:], '/'); end >= 0 {
				line = strings.TrimLeft(line[end+2:], " \t")
			}
		}
		if code, ok := strings.CutPrefix(line, "e "); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
		if file, ok := strings.CutPrefix(line, "w "); ok {
			a.fileEffect(EffectWrite, shWord(file), c.target("write"))
		}
	}
	if parts, ok := sedParts(script); ok {
		flags := parts[2]
		if i := strings.IndexAny(flags, ";}\n "); i >= 0 {
			flags = flags[:i]
		}
		if strings.Contains(flags, "e") && strings.Trim(flags, "gpiIeM0123456789") == "" {
			a.interpret(c, shLiteral(parts[1]), a.childShell(c), c.name)
		}
		if _, file, found := strings.Cut(parts[2], "w "); found {
			a.fileEffect(EffectWrite, shWord(file), c.target("write"))
		}
	}
}

// sedParts splits s/pattern/with/flags.
func sedParts(script string) ([3]string, bool) {
	var out [3]string
	s := strings.TrimSpace(script)
	if len(s) < 4 || s[0] != 's' || s[1] == '\\' || s[1] == ' ' {
		return out, false
	}
	sep, n := s[1], 0
	var b strings.Builder
	for i := 2; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && n < 2 {
			if s[i+1] != sep {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i+1])
			i++
			continue
		}
		if s[i] == sep && n < 2 {
			out[n] = b.String()
			b.Reset()
			n++
			continue
		}
		b.WriteByte(s[i])
	}
	out[2] = b.String()
	return out, n == 2
}

// sedSubstitute does s/a/b/ for plain texts.
func sedSubstitute(text, script string) (string, bool) {
	parts, ok := sedParts(script)
	if !ok || strings.ContainsAny(parts[0], `\.*[]^$`) || strings.ContainsAny(parts[1], `\&`) || strings.Trim(parts[2], "g") != "" || parts[0] == "" {
		return "", false
	}
	if len(text)*max(len(parts[1]), 1) > maxShellText {
		return "", false
	}
	if parts[2] == "g" {
		return strings.ReplaceAll(text, parts[0], parts[1]), true
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Replace(l, parts[0], parts[1], 1)
	}
	return strings.Join(lines, "\n"), true
}

// editor runs the commands of -c and +: those that begin with ! are the
// shell's.
func (a *analysis) editor(c *shCall) shValue {
	o := options(c.args(), "cTuUiwSs", "--cmd --eval", 0)
	for _, w := range append(o.values("-c", "--cmd"), o.operands...) {
		text := strings.TrimLeft(w.Text, "+: ")
		if code, ok := strings.CutPrefix(text, "!"); ok && (w.Text[0] == '+' || w.Text[0] == ':' || w.Text[0] == '!') {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
	}
	return nil
}
