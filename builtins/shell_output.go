package builtins

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

func init() {
	programs((*analysis).echo, "echo gecho")
	programs((*analysis).printfBuiltin, "printf gprintf")
	programs((*analysis).pwd, "pwd")
	programs((*analysis).cat, "cat gcat tac head tail less more bat batcat nl")
	programs((*analysis).base64, "base64 gbase64 base32 openssl uudecode")
	programs((*analysis).xxd, "xxd")
	programs((*analysis).rev, "rev")
	programs((*analysis).tr, "tr gtr")
	programs((*analysis).mktemp, "mktemp gmktemp")
	programs((*analysis).dirname, "dirname basename")
	programs((*analysis).realpath, "realpath readlink grealpath greadlink")
	programs((*analysis).seq, "seq gseq")
	programs((*analysis).decompress, "zcat bzcat xzcat zstdcat lz4cat unxz gunzip bunzip2 uncompress gpg gpg2 age sops")
	programs(printsPlain, "date whoami id hostname uname nproc wc md5sum sha1sum sha256sum shasum cksum uuidgen arch tty getconf gdate logname domainname")
	programs((*analysis).environ, "printenv")
}

func (a *analysis) echo(c *shCall) shValue {
	args := c.args()
	newline, escapes := true, false
	for len(args) > 0 && args[0].is("-n", "-e", "-E", "-ne", "-en", "-nE") {
		newline = newline && !strings.Contains(args[0].Text, "n")
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	v := joinWords(args)
	if escapes {
		v = a.mapKnown(v, func(s string) string { out, _ := echoEscapes(s); return out })
	}
	if newline {
		v = append(v[:len(v):len(v)], shPart{text: "\n"})
	}
	return a.bounded(v, c.fr)
}

// mapKnown changes the parts of a value that are known.
func (a *analysis) mapKnown(v shValue, f func(string) string) shValue {
	out := make(shValue, len(v))
	for i, p := range v {
		if p.known() {
			p.text = f(p.text)
		}
		out[i] = p
	}
	return out
}

// printfValue is what printf prints for its arguments. The format is used
// again while there are arguments left.
func printfValue(args []ShellWord) shValue {
	if len(args) == 0 {
		return nil
	}
	format, ok := args[0].known()
	if !ok || len(format) > 4096 {
		return joinWords(args)
	}
	format, more := echoEscapes(format)
	rest := args[1:]
	var out shValue
	for pass := 0; pass == 0 || len(rest) > 0 && pass < maxFields; pass++ {
		before := len(rest)
		var v shValue
		v, rest = printfOnce(format, rest)
		out = append(out, v...)
		if len(rest) == before || !more {
			break
		}
	}
	return out
}

func printfOnce(format string, args []ShellWord) (shValue, []ShellWord) {
	var out shValue
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return append(out, shPart{text: format}), args
		}
		if i > 0 {
			out = append(out, shPart{text: format[:i]})
		}
		format = format[i+1:]
		n := 0
		for n < len(format) && strings.IndexByte("-+ #0123456789.*lhqjzt", format[n]) >= 0 {
			n++
		}
		if n >= len(format) {
			return out, args
		}
		verb := format[n]
		format = format[n+1:]
		if verb == '%' {
			out = append(out, shPart{text: "%"})
			continue
		}
		var w ShellWord
		if len(args) > 0 {
			w, args = args[0], args[1:]
		}
		out = append(out, printfVerb(verb, w)...)
	}
	return out, args
}

func printfVerb(verb byte, w ShellWord) shValue {
	if w.Dynamic {
		return w.value()
	}
	switch verb {
	case 'b':
		text, _ := echoEscapes(w.Text)
		return shLiteral(text)
	case 'd', 'i', 'u':
		return shLiteral(printfNumber(w.Text, 10))
	case 'x', 'X':
		return shLiteral(printfNumber(w.Text, 16))
	case 'o':
		return shLiteral(printfNumber(w.Text, 8))
	case 'c':
		if w.Text != "" {
			return shLiteral(w.Text[:1])
		}
		return nil
	case '(':
		return shValue{{text: "$(date)", kind: shPlain}}
	case 'q':
		return shLiteral(quoteWord(w.Text))
	}
	return shLiteral(w.Text)
}

func printfNumber(text string, base int) string {
	n, ok := shellNumber(text)
	if !ok && len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
		n = int64([]rune(text[1:])[0])
	}
	return strconv.FormatInt(n, base)
}

func (a *analysis) pwd(c *shCall) shValue {
	if dir := a.dir(c.fr.st); dir != "" {
		return shLiteral(dir + "\n")
	}
	return shUnknown("$(pwd)", shOrigin{kind: "output", from: "pwd"})
}

// cat is every program that prints files, or what it reads.
func (a *analysis) cat(c *shCall) shValue {
	o := options(c.args(), "ncsbBlHpLrN", "--lines --bytes --language --style --theme --range --number", 0)
	if o.exact("--help", "--version") {
		return printsText(a, c)
	}
	if len(o.operands) == 0 {
		return a.partial(c, c.fr.stdin.value)
	}
	var out shValue
	for _, w := range o.operands {
		if !w.is("-") {
			a.fileEffect(EffectRead, w, c.target("read"))
		}
		out = append(out, a.contents(w, c.fr)...)
	}
	return a.partial(c, a.bounded(out, c.fr))
}

// partial is what a program prints that may leave out some of what it reads.
// What is known may all be there, so nothing is left out here.
func (a *analysis) partial(c *shCall, v shValue) shValue {
	if c.name != "tac" {
		return v
	}
	text, ok := v.known()
	if !ok {
		return v
	}
	lines := strings.SplitAfter(text, "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return shLiteral(strings.Join(lines, ""))
}

// input is what a filter reads: its file operands, else standard input.
func (a *analysis) input(c *shCall, files []ShellWord) shValue {
	if len(files) == 0 {
		if !c.fr.stdin.set {
			return shUnknown("$(stdin)", shOrigin{kind: "stdin"})
		}
		return c.fr.stdin.value
	}
	var out shValue
	for _, w := range files {
		if !w.is("-") {
			a.fileEffect(EffectRead, w, c.target("read"))
		}
		out = append(out, a.contents(w, c.fr)...)
	}
	return out
}

// decoded is text that came out of a decoder that could not be followed.
func decoded(c *shCall, v shValue) shValue {
	o := v.origin()
	if o.kind != "remote" {
		o = shOrigin{"decoded", o.from}
	}
	return shUnknown("$("+c.name+")", o)
}

func (a *analysis) base64(c *shCall) shValue {
	o := options(c.args(), "wioAkK", "--wrap -in -out -pass -k -K -iv", 0)
	files := o.operands
	decode := o.exact("-d", "-D", "--decode", "--dec")
	if c.name == "openssl" {
		if !o.first("base64") && !o.first("enc") && !o.first("aes-256-cbc") {
			return a.openssl(c, &o)
		}
		files = o.values("-in", "-i")
	} else if v, ok := o.value("-i"); ok && c.name == "base64" && !o.exact("--ignore-garbage") {
		files = append(files, v)
	}
	v := a.input(c, files)
	if !decode {
		return a.encoded(c, v)
	}
	text, ok := v.known()
	if ok && strings.HasPrefix(c.name, "base64") || ok && o.first("base64") {
		text = strings.Join(strings.Fields(text), "")
		if out, err := base64.StdEncoding.DecodeString(text); err == nil {
			return shLiteral(string(out))
		}
		if out, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
			return shLiteral(string(out))
		}
	}
	return decoded(c, v)
}

// encoded is base64 of a value.
func (a *analysis) encoded(c *shCall, v shValue) shValue {
	if text, ok := v.known(); ok && strings.HasPrefix(c.name, "base64") {
		return shLiteral(base64.StdEncoding.EncodeToString([]byte(text)) + "\n")
	}
	return shUnknown("$("+c.name+")", v.origin())
}

// openssl prints random bytes, keys and certificates.
func (a *analysis) openssl(c *shCall, o *shOpts) shValue {
	for i, w := range c.args() {
		if w.is("-in", "-inkey", "-key") && i+1 < len(c.args()) {
			a.fileEffect(EffectRead, c.args()[i+1], c.target("read"))
		}
		if w.is("-out", "-keyout") && i+1 < len(c.args()) {
			a.fileEffect(EffectWrite, c.args()[i+1], c.target("write"))
		}
		if w.is("-connect") && i+1 < len(c.args()) {
			a.effect(c, ShellEffect{Kind: EffectConnect, Domain: DomainNetwork, Op: "connect", Target: hostOf(c.args()[i+1].Text), Secret: a.secretOf(c.fr.stdin.value)})
		}
	}
	if o.first("rand") {
		return printsPlain(a, c)
	}
	return decoded(c, shUnknown("", shOrigin{kind: "file"}))
}

func (a *analysis) xxd(c *shCall) shValue {
	o := options(c.args(), "cglos", "", 0)
	v := a.input(c, o.operands)
	if !o.exact("-r") {
		return shUnknown("$(xxd)", v.origin())
	}
	text, ok := v.known()
	if ok && o.exact("-p") {
		if out, err := hex.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
			return shLiteral(string(out))
		}
	}
	return decoded(c, v)
}

func (a *analysis) rev(c *shCall) shValue {
	v := a.input(c, c.args())
	text, ok := v.known()
	if !ok {
		return decoded(c, v)
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		r := []rune(l)
		for x, y := 0, len(r)-1; x < y; x, y = x+1, y-1 {
			r[x], r[y] = r[y], r[x]
		}
		lines[i] = string(r)
	}
	return shLiteral(strings.Join(lines, "\n"))
}

func (a *analysis) tr(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	v := a.input(c, nil)
	text, ok := v.known()
	if !ok || len(o.operands) == 0 || o.operands[0].Dynamic {
		return shUnknown("$(tr)", v.origin())
	}
	from, okFrom := trSet(o.operand(0))
	to, okTo := trSet(o.operand(1))
	if !okFrom || !okTo || o.exact("-c", "-C", "-s", "-t") || !o.exact("-d") && len(to) == 0 {
		return decoded(c, v)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		j := strings.LastIndexByte(from, text[i])
		switch {
		case j < 0:
			b.WriteByte(text[i])
		case !o.exact("-d"):
			b.WriteByte(to[min(j, len(to)-1)])
		}
	}
	return shLiteral(b.String())
}

// trSet is the characters of a set of tr; false when it has classes.
func trSet(s string) (string, bool) {
	s, _ = echoEscapes(s)
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") || len(s) > 512 {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for ch := int(s[i]); ch <= int(s[i+2]); ch++ {
				b.WriteByte(byte(ch))
			}
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// mktemp makes a file or directory with a name that is not known in a place
// that is.
func (a *analysis) mktemp(c *shCall) shValue {
	o := options(c.args(), "p", "--tmpdir --suffix", 0)
	dir := a.at.Temp
	if b, ok := a.lookup(c.fr.st, "TMPDIR"); ok && !b.open {
		if t, known := b.value().known(); known && t != "" {
			dir = t
		}
	}
	if dir == "" {
		dir = "/tmp"
	}
	name := ShellWord{Text: "tmp.XXXXXXXXXX"}
	if len(o.operands) > 0 {
		name = o.operands[0]
	}
	v := name.value()
	if p, ok := o.value("-p", "--tmpdir"); ok {
		v = append(append(p.value()[:len(p.value()):len(p.value())], shPart{text: "/"}), v...)
	} else if len(o.operands) == 0 || o.exact("-t", "--tmpdir") {
		v = append(shLiteral(dir+"/"), v...)
	}
	return append(v[:len(v):len(v)], shPart{text: "\n"})
}

func (a *analysis) dirname(c *shCall) shValue {
	o := options(c.args(), "s", "--suffix", 0)
	if len(o.operands) == 0 {
		return nil
	}
	text, ok := o.operands[0].known()
	switch {
	case ok && c.name == "basename":
		suffix := o.operand(1)
		base := path.Base(text)
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		return shLiteral(base + "\n")
	case ok:
		return shLiteral(path.Dir(text) + "\n")
	case c.name == "basename":
		return printsPlain(a, c)
	}
	return shUnknown("$(dirname)", shOrigin{kind: "output", from: c.name})
}

func (a *analysis) realpath(c *shCall) shValue {
	o := options(c.args(), "", "--relative-to --relative-base", 0)
	if len(o.operands) > 0 && !o.exact("--relative-to") {
		if p, ok := a.resolve(o.operands[0], c.fr).known(); ok {
			return shLiteral(p + "\n")
		}
	}
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

func (a *analysis) seq(c *shCall) shValue {
	args := wordTexts(c.args())
	nums := make([]int64, 0, 3)
	for _, t := range args {
		n, ok := shellNumber(t)
		if !ok {
			return printsPlain(a, c)
		}
		nums = append(nums, n)
	}
	from, step, to := int64(1), int64(1), int64(0)
	switch len(nums) {
	case 1:
		to = nums[0]
	case 2:
		from, to = nums[0], nums[1]
	case 3:
		from, step, to = nums[0], nums[1], nums[2]
	}
	if max(from, -from, to, -to) > 1<<60 || step == 0 || step > 1<<30 || step < -1<<30 || (to-from)/step > maxFields || (to-from)/step < 0 {
		return printsPlain(a, c)
	}
	var b strings.Builder
	for n := from; step > 0 && n <= to || step < 0 && n >= to; n += step {
		b.WriteString(strconv.FormatInt(n, 10) + "\n")
	}
	return shLiteral(b.String())
}

// decompress prints what cannot be followed from what it reads.
func (a *analysis) decompress(c *shCall) shValue {
	o := options(c.args(), "odru", "--output --decrypt --recipient", 0)
	if strings.HasPrefix(c.name, "gpg") {
		return a.gpg(c)
	}
	return decoded(c, a.input(c, o.operands))
}

// environ is printenv, which prints the environment.
func (a *analysis) environ(c *shCall) shValue {
	if len(c.args()) > 0 {
		return shUnknown("$"+c.args()[0].Text, shOrigin{})
	}
	return shUnknown("$(printenv)", shOrigin{"environment", "printenv"})
}
