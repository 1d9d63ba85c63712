package shell

import (
	"slices"
	"strings"
)

// archive is tar.
func (a *analysis) archive(c *shCall) shValue {
	args := c.args()
	if len(args) > 0 && !args[0].Dynamic && args[0].Text != "" && args[0].Text[0] != '-' {
		args = append([]Word{NewWord("-" + args[0].Text)}, args[1:]...)
	}
	o := options(args, "fCTXbgIKFLHNV", "--file --directory --exclude --files-from --use-compress-program --to-command --checkpoint-action --transform --exclude-from --rmt-command --info-script --new-volume-script --owner --group --mode --cd", 0)
	fr := c.fr
	for _, names := range [][]string{{"-C", "--directory", "--cd"}, {"--one-top-level"}} {
		if dir, ok := o.value(names...); ok {
			fr = fr.subshell()
			a.moveTo(dir, fr)
		}
	}
	a.runAll(c, o.values("-I", "--use-compress-program", "--to-command", "--rmt-command", "--info-script", "--new-volume-script", "-F"))
	for _, v := range o.values("--checkpoint-action") {
		if name, code, ok := v.cut("="); ok && name == "exec" {
			a.interpret(c, code.value(), a.childShell(c), c.name)
		}
	}
	return a.archiveEffects(c, &o, fr)
}

func (a *analysis) archiveEffects(c *shCall, o *shOpts, fr *shFrame) shValue {
	file, named := o.value("-f", "--file")
	toFile := named && !file.Is("-")
	in := c.target("archive")
	in.fr = fr
	switch {
	case o.has("-c", "-r", "-u", "-A", "--create", "--append", "--update"):
		out := shValue{}
		for _, w := range o.operands {
			a.fileEffect(EffectRead, w, in)
			if o.has("--remove-files") {
				in.recursive = true
				a.fileEffect(EffectDelete, w, in)
			}
			out = append(out, shPart{text: "$(tar)", kind: shAny, origin: shOrigin{"file", a.resolve(w, fr).text}})
		}
		if toFile {
			a.fileEffect(EffectWrite, file, c.target("archive"))
			a.keepPacked(file, out, fr)
			return nil
		}
		return out
	case o.has("-x", "--extract", "--get"):
		if toFile {
			a.fileEffect(EffectRead, file, c.target("archive"))
		}
		in.op = "extract"
		a.fileEffect(EffectWrite, NewWord("."), in)
		if o.exact("--recursive-unlink") {
			in.recursive = true
			a.fileEffect(EffectDelete, NewWord("."), in)
		}
		if o.exact("-P", "--absolute-names", "--absolute-paths") {
			a.fileEffect(EffectWrite, NewWord("/"), in)
		}
		if o.has("-O", "--to-stdout") {
			return decoded(c, a.input(c, nil))
		}
		return nil
	}
	return printsText(a, c)
}

// zip writes archives; with some options the originals go.
func (a *analysis) zip(c *shCall) shValue {
	sevens, short := strings.HasPrefix(c.name, "7z") || c.name == "rar", "SoTpFMC"
	if sevens || c.name == "zip" {
		short = "nbtxioSd"
	}
	o := options(c.args(), short, "--unzip-command --exclude", 0)
	a.runAll(c, o.values("--unzip-command"))
	if HasFlag(c.args(), "-@") || o.exact("-@") {
		o.operands = append(o.operands, stdinItems(c.fr.stdin.value, "\n")...)
	}
	if i := slices.IndexFunc(c.args(), func(w Word) bool { return w.Is("-TT", "--unzip-command") }); i >= 0 && i+2 < len(c.argv) {
		a.interpret(c, c.argv[i+2].value(), a.childShell(c), c.name)
	}
	if o.exact("-d", "--decompress") && len(o.operands) == 0 {
		return decoded(c, a.input(c, nil))
	}
	v, operands, packs, reads := shValue{}, o.operands, c.name == "zip", false
	moves := o.exact("-m", "--move") || HasFlag(c.args(), "-sdel", "-df", "-dw", "-dr")
	if sevens && len(operands) > 0 {
		moves = moves || c.name == "rar" && operands[0].Is("m", "mf")
		packs = operands[0].Dynamic || operands[0].Is("a", "u", "d", "rn", "m", "mf")
		operands, reads = operands[1:], !packs // what to do comes first: 7z a x.7z dir
	}
	for i, w := range operands {
		if packs && i == 0 && !w.Is("-") {
			a.fileEffect(EffectWrite, w, c.target("archive"))
			continue
		}
		a.fileEffect(EffectRead, w, c.target("archive"))
		switch t := c.target("archive"); {
		case packs && moves:
			t.recursive = true
			a.fileEffect(EffectDelete, w, t)
		case !packs && !reads && !o.has("-c", "-d", "-k", "-l", "-t", "--stdout", "--to-stdout", "--decompress", "--keep", "--list", "--test") && (!WordIn(c.name, "zstd lz4 brotli") || o.exact("--rm", "-j")):
			a.fileEffect(EffectDelete, w, t) // The packed file takes its place.
		}
		v = append(v, shPart{text: "$(" + c.name + ")", kind: shAny, origin: shOrigin{"file", a.resolve(w, c.fr).text}})
	}
	if packs && len(operands) > 1 {
		a.keepPacked(operands[0], v, c.fr)
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
		dir = NewWord(".")
		if c.name != "unzip" && len(o.operands) > 2 {
			dir = o.operands[len(o.operands)-1] // unrar x a.rar dir/, cpio, dpkg-deb -x a.deb dir
		}
	}
	if !o.exact("-l", "-t", "-v", "-Z") {
		a.fileEffect(EffectWrite, dir, c.target("extract"))
	}
	return nil
}

// keepPacked remembers that an archive holds secrets.
func (a *analysis) keepPacked(file Word, v shValue, fr *shFrame) {
	if a.fileSecretOf(v) != "" {
		fr.st.holds(a.fileKey(file, fr), v)
	}
}
