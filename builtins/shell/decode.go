package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
)

// decoded is text that came out of a decoder that could not be followed.
func decoded(c *shCall, v shValue) shValue {
	o := v.origin()
	if o.kind != "remote" {
		o = shOrigin{"decoded", o.from}
	}
	return shUnknown("$("+c.name+")", o)
}

func (a *analysis) base64(c *shCall) shValue {
	how := 0
	if c.name == "openssl" {
		how = optDash
	}
	o := options(c.args(), "wioAkK", "--wrap -in -out -pass -k -K -iv -i", how)
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
	op := "read"
	switch shows := HasFlag(c.args(), "-text"); {
	case shows:
	case HasFlag(c.args(), "-pubout", "-noout", "-out", "-check", "-pubin"), !WordIn(o.operand(0), "rsa pkey ec dsa pkcs8 pkcs12 base64 enc"):
		op = "use"
	}
	for i, w := range c.args() {
		if w.Is("-in", "-inkey", "-key", "-sign", "-signkey", "-CAkey", "-cert") && i+1 < len(c.args()) {
			a.fileEffect(EffectRead, c.args()[i+1], c.target(op))
		}
		if w.Is("-out", "-keyout") && i+1 < len(c.args()) {
			a.fileEffect(EffectWrite, c.args()[i+1], c.target("write"))
		}
		if w.Is("-connect") && i+1 < len(c.args()) {
			a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "connect", Target: losses.HostOf(c.args()[i+1].Text), Secret: a.secretOf(c.fr.stdin.value)})
		}
	}
	if o.first("rand") {
		return printsPlain(a, c)
	}
	return decoded(c, shUnknown("", shOrigin{kind: "file"}))
}

func (a *analysis) xxd(c *shCall) shValue {
	o := options(c.args(), "cglos", "", 0)
	if len(o.operands) > 1 {
		a.fileEffect(EffectWrite, o.operands[1], c.target("write"))
		o.operands = o.operands[:1]
	}
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
		return append(decoded(c, v), v...) // no less a secret
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		r := []rune(l)
		slices.Reverse(r)
		lines[i] = string(r)
	}
	return v.made(strings.Join(lines, "\n"))
}

func (a *analysis) tr(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	v := a.input(c, nil)
	text, ok := v.known()
	if !ok || len(o.operands) == 0 || o.operands[0].Dynamic {
		return shUnknown("$(tr)", v.origin())
	}
	from, okFrom := posix.Characters(o.operand(0))
	to, okTo := posix.Characters(o.operand(1))
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
	return v.made(b.String())
}

// decompress prints what cannot be followed from what it reads.
func (a *analysis) decompress(c *shCall) shValue {
	o := options(c.args(), "odru", "--output --decrypt --recipient", 0)
	if strings.HasPrefix(c.name, "gpg") {
		return a.gpg(c)
	}
	if c.name == "sops" && !o.exact("-d", "--decrypt") && !o.first("decrypt") {
		a.files(EffectRead, c.target("use"), o.operands...)
		return printsText(a, c)
	}
	v := decoded(c, a.input(c, o.operands))
	for _, w := range o.operands { // FILE of FILE.gz
		if v.origin().kind == "remote" {
			c.fr.st.holds(a.fileKey(NewWord(strings.TrimSuffix(w.Text, path.Ext(w.Text))), c.fr), v)
		}
	}
	return v
}
