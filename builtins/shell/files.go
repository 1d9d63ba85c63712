package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

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
	case "rimraf", "remove_directory":
		t.recursive = true
	}
	t.recursive = t.recursive || o.dynamic || o.has("-r", "-R", "--recursive")
	for _, w := range o.operands {
		a.fileEffect(EffectDelete, w, t)
		if _, written := a.written(w, c.fr); written {
			c.fr.st.holds(a.fileKey(w, c.fr), shUnknown("$(< "+w.Text+")", shOrigin{"file", w.Text}))
		}
	}
	return nil
}

func (a *analysis) shred(c *shCall) shValue {
	o := options(c.args(), "ns", "--iterations --size --random-source", 0)
	for _, w := range o.operands {
		kind := EffectDelete
		if strings.HasPrefix(w.prefix(), "/dev/") {
			kind = EffectWrite
		}
		a.fileEffect(kind, w, c.target("shred"))
	}
	return nil
}

func (a *analysis) tee(c *shCall) shValue {
	o := options(c.args(), "", "--output-error", 0)
	v, op := a.input(c, nil), "tee"
	if o.has("-a", "--append") {
		op = "append"
	}
	before := "" // what hands it nothing
	if c.fr.pipe > 0 && c.index > 0 {
		before = a.out.Commands[c.index-1].Name
	}
	for _, w := range o.operands {
		a.fileEffect(EffectWrite, w, c.target(op))
		if text, ok := v.known(); ok && text == "" && op == "tee" && WordIn(before, ": true cat echo printf") {
			a.emptiedFile(c, w)
		}
		if key := a.fileKey(w, c.fr); !posix.IsStream(key) {
			first := c.index
			if c.name == "sponge" { // which waits
				first = -1
			}
			a.closeRedirect(shRedirected{effects: []shPending{{EffectWrite, op, w}}, printed: &v, files: []string{key}, appended: op == "append"}, c.fr, first)
		}
	}
	return v
}

// writes is a program that creates or changes its operands.
//
//go:noinline
func writes(op, short, long string) shProgram {
	return func(a *analysis, c *shCall) shValue {
		o := options(c.args(), short, long, optShort)
		if !WordIn(c.name, "patch gpatch") && op == "edit-in-place" && !losses.Rewrites(c.name, WordTexts(c.args())) {
			return nil
		}
		if dir, ok := o.value("-d", "--directory"); ok && op == "edit-in-place" {
			o.operands = append(o.operands, dir)
		}
		a.files(EffectWrite, c.target(op), o.operands...)
		return nil
	}
}

// truncate makes files as long as it is told, which may be nothing, or more than there is.
func (a *analysis) truncate(c *shCall) shValue {
	o := options(c.args(), "srlo", "--size --reference --length --offset", optShort)
	size, _ := o.value("-s", "--size", "-l", "--length")
	n, ok := posix.Number(strings.TrimLeft(size.Text, "<"))
	empties := ok && n < 1024 || strings.HasPrefix(size.Text, "-")
	if ref, ok := o.value("-r", "--reference"); c.name == "fallocate" {
		empties = o.exact("-z", "-p", "-c", "--zero-range", "--punch-hole", "--collapse-range")
	} else if ok {
		empties = ref.Is("/dev/null")
	}
	a.files(EffectWrite, c.target("truncate"), o.operands...)
	for _, w := range o.operands {
		if empties {
			a.emptiedFile(c, w)
		}
	}
	if c.name == "fallocate" && (strings.HasPrefix(size.Text, "$(") || strings.HasSuffix(size.Text, "T") || len(size.Text) > 3 && strings.HasSuffix(strings.ToUpper(size.Text), "G")) {
		a.does(c, EffectExec, DomainSystem, "fill-disk", o.operand(0))
	}
	return nil
}

// emptiedFile adds that a file loses what it held.
func (a *analysis) emptiedFile(c *shCall, w Word) {
	if z := a.zone(c, w); z == ZoneUser || z == ZoneProject {
		a.fileEffect(EffectDelete, w, c.target("truncate"))
	}
}

// copyOperands splits operands into sources and the destination.
func copyOperands(o *shOpts) (from []Word, to Word) {
	if dir, ok := o.value("-t", "--target-directory"); ok {
		return o.operands, append(slices.Clip(dir.value()), shPart{text: "/"}).word()
	}
	if len(o.operands) < 2 {
		return o.operands, Word{}
	}
	last := len(o.operands) - 1
	return o.operands[:last], o.operands[last]
}

func (a *analysis) copy(c *shCall) shValue {
	short, long := "tS", "--target-directory --suffix"
	if strings.HasSuffix(c.name, "install") {
		short, long = "tSgmo", long+" --group --mode --owner"
	}
	o := options(c.args(), short, long, optShort)
	from, to := copyOperands(&o)
	if o.exact("-d", "--directory") && strings.HasSuffix(c.name, "install") {
		from, to = nil, Word{}
		a.files(EffectWrite, c.target("create"), o.operands...)
	}
	op := "copy"
	if to.Is("/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1") {
		op = "read"
	}
	a.files(EffectRead, c.target(op), from...)
	a.lands(from, to, c, "copy")
	if mode, ok := o.value("-m", "--mode"); ok {
		a.modeEffect(c, mode.Text, to, false)
	}
	return nil
}

// lands adds what comes to be at a destination, and remembers what it holds.
func (a *analysis) lands(from []Word, to Word, c *shCall, op string) {
	a.fileEffect(EffectWrite, to, c.target(op))
	if z := a.zone(c, to); len(from) == 1 && from[0].Is("/dev/null", "/dev/zero", "/dev/urandom") && (z == ZoneUser && !strings.HasPrefix(op, "link") || z == ZoneProject) {
		a.fileEffect(EffectDelete, to, c.target("truncate"))
	}
	a.into(from, to, c, op)
	if len(from) == 1 {
		if v, ok := a.written(from[0], c.fr); ok {
			c.fr.st.holds(a.fileKey(to, c.fr), v)
			if !to.Dynamic {
				c.fr.st.holds(path.Join(a.fileKey(to, c.fr), path.Base(from[0].Text)), v)
			}
		} else { // what was there is not there any more
			c.fr.st.files = c.fr.st.files.drop(a.fileKey(to, c.fr))
		}
	}
	a.keepSecret(from, to, c.fr)
}

// into adds the files that a copy makes in a directory, when they are told by name: cp sudoers /etc/.
func (a *analysis) into(from []Word, to Word, c *shCall, op string) {
	if to.Text == "" || to.Dynamic {
		return
	}
	z := a.zone(c, to)
	folder := strings.HasSuffix(to.Text, "/") || len(from) > 1 || z == ZoneHome || z == ZoneRoot || z == ZoneProjectRoot || slices.Contains(losses.SystemDirs, to.Text)
	for i, w := range from {
		base := w.Text[strings.LastIndexByte(strings.TrimRight(w.Text, "/"), '/')+1:]
		if i >= maxItems || w.Dynamic || w.Pattern || w.Text == "" || !folder {
			continue
		}
		a.fileEffect(EffectWrite, NewWord(strings.TrimRight(to.Text, "/")+"/"+base), c.target(op))
	}
}

// move takes its sources away from where they are.
func (a *analysis) move(c *shCall) shValue {
	o := options(c.args(), "tS", "--target-directory --suffix", optShort)
	from, to := copyOperands(&o)
	t := c.target("move")
	if t.recursive = true; to.Is("/dev/null") {
		t.op = "rm"
	}
	a.files(EffectDelete, t, from...)
	a.lands(from, to, c, "move")
	return nil
}

func (a *analysis) link(c *shCall) shValue {
	o := options(c.args(), "tS", "--target-directory --suffix", optShort)
	from, to := copyOperands(&o)
	if len(from) == 1 && to.Text == "" {
		to = NewWord(".")
	}
	op := "link"
	if o.has("-f", "--force") {
		op = "link-force"
	}
	a.lands(from, to, c, op)
	return nil
}

// keepSecret remembers that a file is another name for, or a copy of, a program or one that holds secrets.
func (a *analysis) keepSecret(from []Word, to Word, fr *shFrame) {
	if len(from) == 1 && to.Text != "" {
		if name := losses.Program(from[0].Text); from[0].Text != name && (name == "hookc" || programOf(name) != nil || rulesOf(name) != nil) {
			fr.st.holds(a.fileKey(to, fr), shUnknown(name, shOrigin{"program", name}))
		}
		if v := a.contents(from[0], fr); a.fileSecretOf(v) != "" {
			key := a.fileKey(to, fr)
			fr.st.holds(key, v)
			if path.Dir(key) != a.dir(fr.st) {
				fr.st.holds(path.Dir(key), v) // what sends the folder sends it
			}
		}
	}
}

func (a *analysis) dd(c *shCall) shValue {
	in := c.fr.stdin.value
	for _, w := range c.args() {
		if name, value, ok := w.cut("="); ok && name == "if" {
			a.fileEffect(EffectRead, value, c.target("dd"))
			in = a.contents(value, c.fr)
		}
	}
	words := " " + strings.Join(WordTexts(c.args()), " ")
	for _, w := range c.args() {
		if name, value, ok := w.cut("="); ok && name == "of" {
			a.fileEffect(EffectWrite, value, c.target("dd"))
			zone, secret := a.placeIn(a.resolve(value, c.fr).text, c.fr)
			switch from := in.origin().from; {
			case !losses.Noise(from) || zone == ZoneDevice:
			case zone == ZoneProject && strings.HasSuffix(from, "/null") || !disposableZone(zone) && (strings.Contains(words, "notrunc") || secret != "" || value.Pattern):
				a.fileEffect(EffectDelete, value, c.target("truncate"))
			case !strings.Contains(words, " count="):
				a.does(c, EffectExec, DomainSystem, "fill-disk", value.Text)
			}
			in = nil
		}
	}
	return in
}

// chmod changes rights. The mode is the first operand, or a reference.
func (a *analysis) chmod(c *shCall) shValue {
	args, mode := c.args(), ""
	var kept []Word
	for _, w := range args { // -x and -rw are modes, not options
		if len(w.Text) > 1 && w.Text[0] == '-' && mode == "" && (c.name == "chmod" && strings.Trim(w.Text[1:], "rwxXst") == "" || c.name == "chattr" && strings.Trim(w.Text[1:], "RVfvp") != "") {
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
	if c.name == "chattr" && strings.Contains(mode, "i") {
		mode = "000" // nobody may change it
	}
	if acl, ok := o.value("-m", "--modify"); ok && strings.Contains(acl.Text, "o::") {
		mode = strings.Replace(acl.Text, "::", "+", 1)
	}
	if strings.HasPrefix(c.name, "ch") && c.name != "chmod" && c.name != "chattr" {
		t := c.target(strings.TrimPrefix(c.name, "g"))
		t.domain, t.recursive = DomainPermission, recursive
		a.files(EffectWrite, t, operands...)
		return nil
	}
	for _, w := range operands {
		a.modeEffect(c, mode, w, recursive)
	}
	return nil
}

// modeEffect says what a mode does to a file: setuid is a privilege, everybody
// may write is open-mode, nobody may read is lock-mode.
func (a *analysis) modeEffect(c *shCall, mode string, w Word, recursive bool) {
	t := c.target("chmod")
	t.domain, t.recursive = DomainPermission, recursive
	kind := EffectWrite
	switch {
	case posix.SetsID(mode):
		t.op, kind = "setuid", EffectPrivilege
	case posix.OpensToAll(mode) || len(mode) > 2 && (strings.IndexByte("4567", mode[len(mode)-1]) >= 0 || strings.Contains(mode, "o+r") || strings.Contains(mode, "a+r")) && a.keyIn(c, w):
		t.op = "open-mode"
	case posix.LocksAll(mode):
		t.op = "lock-mode"
	}
	a.fileEffect(kind, w, t)
	if losses.Holds(w.Text, ".git/hooks/", ".husky/") && (strings.Contains(mode, "-") && strings.Contains(mode, "x") || strings.Trim(mode, "0246") == "") {
		t.op, t.domain = "hooks-off", DomainGit
		a.fileEffect(EffectWrite, w, t)
	}
}

// keyIn reports whether a file holds what its owner alone may read.
func (a *analysis) keyIn(c *shCall, w Word) bool {
	_, secret := a.placeIn(a.resolve(w, c.fr).text, c.fr)
	return WordIn(secret, "ssh-key gpg-key key cloud-credentials")
}

// searches are readers that print the lines in which a pattern is, patternFirst
// those whose first operand is a pattern or a program.
var (
	searches     = losses.Words("grep egrep fgrep zgrep bzgrep xzgrep rg ag ack")
	patternFirst = losses.Words("grep egrep fgrep zgrep bzgrep xzgrep rg ag ack jq yq")
)

// onlyNames reports whether a value is nothing but names that a search found.
//
//go:noinline
func onlyNames(v shValue) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(p shPart) bool { return p.kind != shMatch && strings.TrimSpace(p.text) != "" || !p.known() })
}

// searchedNames are the names that a search lets through: what its expression says of them, or all but some.
func (a *analysis) searchedNames(c *shCall, o *shOpts, v shValue) (shValue, bool) {
	expr, ok := o.value("-e", "--regexp")
	if !ok && len(o.operands) > 0 {
		expr = o.operands[0]
	}
	name := losses.NameGlob(expr.Text)
	switch {
	case v.origin() == shOrigin{"process", "*"}:
		return shValue{{text: "$(grep)", kind: shPlain, origin: shOrigin{"process", strings.Trim(name, "*")}}}, true
	case o.exact("-v", "--invert-match"):
		return v, onlyNames(v)
	case onlyNames(v) && name == "":
		return someOf(v, "some"), true
	case onlyNames(v):
		return v.mapped(func(p *shPart) {
			if some, ok := spell.CutSuffix(p.text, "*"); ok && p.kind == shMatch {
				p.text = some + name
			}
		}), true
	case v.origin().kind == "output" && name != "" && losses.Secret(name, "") != "":
		return shValue{{text: name, kind: shMatch}, {text: "\n"}}, true
	}
	return nil, false
}

// foundIn are the names that a search prints: some of those below the folders that it is given.
func foundIn(c *shCall, o *shOpts, where []Word) (out shValue) {
	deep := !strings.HasSuffix(c.name, "grep") || o.exact("-r", "-R", "--recursive")
	if deep && len(where) == 0 {
		where = []Word{NewWord(".")}
	}
	for _, w := range where {
		v := matched(w)
		if w.Dynamic {
			return nil
		} else if deep && !w.Pattern && len(path.Ext(w.Text)) < 2 {
			v = shValue{{text: strings.TrimRight(w.Text, "/") + "/**/*{some}", kind: shMatch}}
		}
		out = append(append(out, v...), shPart{text: "\n"})
	}
	return out
}

// readers read their operands and print some of what is in them.
func (a *analysis) readers(c *shCall) shValue {
	args, files := c.args(), []Word(nil)
	for i := 0; c.name == "jq" && i+2 < len(args); i++ { // --rawfile name file
		if named := args[i].Is("--rawfile", "--slurpfile", "--argfile"); named || args[i].Is("--arg", "--argjson") {
			if named {
				files = append(files, args[i+2])
			}
			args = slices.Delete(lists.Copy(args), i, i+3)
			i--
		}
	}
	o := options(args, losses.ValueLetters(c.name), "--regexp --file --max-count --context --after-context --before-context --include --exclude --exclude-dir "+
		"--glob --type --pre --indent --key --field-separator --output --hostname-bin --prefix --filter --compress-program --lines --bytes --line-bytes --number --suffix-length", 0)
	operands := o.operands
	if patternFirst()[c.name] && !o.exact("-e", "-f", "--regexp", "--file", "--files") && len(operands) > 0 {
		operands = operands[1:]
	}
	if c.name == "envsubst" {
		operands = nil // the variables that it may replace
	}
	if pre, ok := o.value("--pre", "--hostname-bin"); ok && c.name == "rg" {
		a.wrapped(c, append([]Word{pre}, operands...), c.fr)
	}
	if out, ok := o.value("-o", "--output"); ok && WordIn(c.name, "sort gsort shuf") {
		a.lands(operands, out, c, "write")
	}
	if out, ok := o.value("-f", "--prefix"); ok && c.name == "csplit" {
		a.fileEffect(EffectWrite, out, c.target("write"))
	}
	a.runAll(c, o.values("--filter", "--compress-program"))
	if (c.name == "uniq" || c.name == "split") && len(operands) > 1 {
		a.fileEffect(EffectWrite, operands[1], c.target("write"))
		operands = operands[:1]
	}
	if o.exact("-i", "--inplace") && c.name == "yq" {
		a.takenOff(c, o.operands[:min(1, len(o.operands))])
		a.files(EffectWrite, c.target("edit-in-place"), operands...)
	}
	if c.name == "stat" || c.name == "file" || c.name == "shuf" && o.exact("-i", "-e", "--input-range", "--echo") || len(operands) > 0 && c.name == "split" {
		return printsText(a, c)
	}
	if searches()[c.name] && !o.exact("-q", "-c", "-l", "-L", "--count", "--files", "--files-with-matches") {
		only := o.values("--include")
		if c.name == "rg" {
			names := options(c.args(), "gtTeABCm", "--glob --iglob", 0)
			only = names.values("-g", "--glob", "--iglob")
		}
		for _, w := range only {
			if !strings.HasPrefix(w.Text, "!") {
				a.fileEffect(EffectRead, shValue{{text: w.Text, kind: shGlob}}.word(), c.target("read"))
			}
		}
	}
	if searches()[c.name] && o.exact("-q", "-c", "-l", "-L", "--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match") {
		a.files(EffectRead, c.target("use"), operands...)
		if names := foundIn(c, &o, operands); len(names) > 0 && o.exact("-l", "-L", "--files-with-matches", "--files-without-match") {
			return names
		}
		return printsPlain(a, c)
	}
	if c.name == "jq" && len(o.operands) > 0 {
		a.printsVariable(c, o.operands[0].Text)
		if losses.WholeEnvironment(o.operands[0].Text) {
			return shUnknown("$(jq)", shOrigin{"environment", "jq"})
		}
	}
	if len(operands) > 0 && (o.exact("-r", "-R", "--recursive") || WordIn(c.name, "rg ag ack")) && slices.ContainsFunc(losses.Tokens(strings.Join(WordTexts(c.args()), " ")), func(t string) bool {
		return WordIn(t, "password passwd token secret credential private apikey akia")
	}) { // a search for secrets where they are kept
		if z := a.zone(c, operands[0]); z == ZoneHome || z == ZoneRoot || strings.HasSuffix(strings.TrimRight(operands[0].Text, "/"), "/.config") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainFile, Op: credential, Target: operands[0].Text, Secret: "home"})
		}
	}
	if c.name == "yq" {
		for _, m := range losses.YqLoads().FindAllStringSubmatch(o.operand(0), -1) {
			files = append(files, NewWord(m[1]))
		}
	}
	v := a.input(c, append(files, operands...))
	if o := v.origin().kind; patternFirst()[c.name] && (o == "environment" || o == settings || strings.HasSuffix(v.origin().from, "_history")) {
		names := losses.Tokens(strings.Join(WordTexts(c.args()), " "))
		switch {
		case slices.ContainsFunc(names, func(t string) bool {
			return WordIn(t, "key token secret password passwd pass credential credentials auth aws") || o == settings && t == "env"
		}):
			return shUnknown("$(grep)", shOrigin{credential, o})
		case o == settings || len(names) > 0 && len(names[len(names)-1]) > 2 && !HasFlag(c.args(), "-v"):
			return printsText(a, c)
		}
	}
	if searches()[c.name] && len(operands) == 0 {
		if names, ok := a.searchedNames(c, &o, v); ok {
			return names
		}
	}
	text, ok := v.known()
	switch kind := v.origin().kind; {
	case ok && c.name == "uniq" && !o.exact("-c", "--count"):
		return v.made(text)
	case ok && c.name == "sort":
		return a.turned(c, v.made(text))
	case ok || kind == "": // some of what is known, which nobody can say
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
	case kind == "file" && c.name != "sort":
		return shUnknown("$("+c.name+")", v.origin())
	}
	return v
}
