package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

// secretOf says what secrets a value holds, from where it comes from.
func (a *analysis) secretOf(v shValue) string {
	for i, p := range v {
		switch p.origin.kind {
		case "environment":
			return "environment"
		case credential:
			name, variable := spell.CutPrefix(p.origin.from, "$")
			switch before := v[:i].text(); {
			case strings.Contains(before, "://") && strings.HasPrefix(v[i+1:].text(), "@"): // who asks
			case !variable:
				return "credential"
			case losses.SecretVariable(name) && !(i > 0 && (losses.Authenticates(before) || strings.HasSuffix(before, "://") && strings.Contains(v[i+1:].text(), "@"))):
				return "variable"
			}
		case settings:
			if p.origin.from == "history" {
				return "history"
			}
		case "file":
			if strings.HasSuffix(p.origin.from, "_history") {
				return "history"
			}
			if p.origin.from == a.at.Home || p.origin.from == "/" {
				return "home"
			}
			if what := losses.Secret(p.origin.from, a.at.Home); what != "" {
				return what
			}
		}
	}
	return ""
}

// fileSecretOf is secretOf without variables and credentials, which may be used
// where a file's text may not.
//
//go:noinline
func (a *analysis) fileSecretOf(v shValue) string {
	if what := a.secretOf(v); what != "variable" && what != "credential" {
		return what
	}
	return ""
}

// shown adds what a command prints to the user: a credential, or a variable
// that holds one.
func (a *analysis) shown(c *shCall, v shValue) {
	for _, r := range c.fr.redirects {
		if strings.HasPrefix(r.Op, ">") && (r.Fd == "" || r.Fd == "1") || strings.HasPrefix(r.Op, "&>") {
			return
		}
	}
	if o := c.fr.stdin.value.origin(); o.kind == "environment" && WordIn(c.name, "base64 base32 xxd od hexdump gzip bzip2 xz zstd openssl gpg age uuencode rev") {
		a.effect(c, Effect{Kind: EffectRead, Domain: DomainFile, Op: credential, Target: "the environment", Secret: "environment"}) // nobody reads it so
	}
	for _, p := range v {
		switch {
		case p.origin.kind == "environment" && (c.fr.host == "" || WordIn(c.fr.host, "ssh:fly ssh:flyctl ssh:eb ssh:cf")) && a.sourced == "" && c.fr.stdin.value.origin().kind == "" && !c.fr.process:
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: "the environment"})
			return
		case p.origin.kind == "environment" && a.sourced != "":
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainFile, Op: credential, Target: "the environment", Secret: a.sourced})
		case p.origin.kind == "environment" && WordIn(c.name, "docker podman nerdctl docker-compose kubectl oc heroku fly flyctl") || p.origin.kind == settings && strings.Contains(p.origin.from, "Env"):
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: "the environment of " + c.name})
		}
		if p.origin.kind == "file" && !p.known() && (c.name == "echo" || c.name == "printf" || slices.ContainsFunc(c.fr.redirects, func(r Redirect) bool { return r.Op == "<" }) || a.shows(c.fr.pipe)) {
			if what := losses.Secret(p.origin.from, a.at.Home); what != "" {
				a.effect(c, Effect{Kind: EffectRead, Domain: DomainFile, Op: credential, Target: p.origin.from, Secret: what})
				return
			}
		}
		if p.origin.kind != credential || p.known() {
			continue
		}
		name, variable := spell.CutPrefix(p.origin.from, "$")
		if !variable || losses.SecretVariable(name) {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: p.origin.from})
			return
		}
	}
}

// shows reports whether all of a pipeline hands on what it reads, as it is or in other letters.
func (a *analysis) shows(pipe int) bool {
	return pipe > 0 && !AnyCommand(a.out.Commands, func(c *Command) bool {
		return c.Pipe == pipe && !WordIn(c.Name, "cat tac nl tr rev fold tee base64 base32 xxd od hexdump gzip zstd xz head tail column fmt less more")
	})
}

// printsVariable adds the variables of the environment that a program of awk or jq names.
func (a *analysis) printsVariable(c *shCall, text string) {
	for _, mark := range [...]string{`ENVIRON["`, "$ENV.", "env."} {
		_, name, ok := spell.Cut(text, mark)
		if name = name[:len(name)-len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))]; ok && c.fr.out == nil && losses.SecretVariable(name) {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: "$" + name})
		}
	}
}

// leak adds the sending of a secret by a program that takes one and talks to
// somewhere else, whatever the program is.
func (a *analysis) leak(c *shCall, read bool) {
	if losses.Readers()[c.name] || read && !losses.Senders()[c.name] && !WordIn(c.name, "docker podman kubectl oc npm python python3 hub") {
		return
	}
	secret := a.secretOf(c.fr.stdin.value)
	far := ""
	args := c.args()
	for i, w := range args {
		if i > 0 && losses.UsesSecret(args[i-1].Text) && !(args[i-1].Is("-i") && losses.Senders()[c.name]) {
			continue
		}
		if secret == "" {
			secret = a.given(c, w)
			if z := a.zone(c, w); far == "" && (z == ZoneHome || z == ZoneRoot) && WordIn(c.name, losses.Copiers) && slices.ContainsFunc(args[:i], func(w Word) bool { return WordIn(w.Text, losses.Copies) || w.Is("serve") }) {
				secret = "home"
			}
		}
		if secret == "" && (strings.Contains(w.Text, "://") || WordIn(c.name, "dig host nslookup drill kdig ping ping6 getent slack slack-cli telegram-send ntfy notify discord") || i > 0 && WordIn(args[i-1].Text, "-f -F --field --raw-field --body -b --message -m --content --text --title --notes")) {
			secret = a.secretOf(w.value()) // what others read
		}
		if far == "" && (strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:") || !w.Dynamic && (remotePath(w) || args[0].Is("cp") && strings.Contains(w.Text, ":/") && WordIn(c.name, "kubectl oc k")) && (c.name != "docker" || args[0].Is("cp")) || losses.DomainLike(w.Text)) {
			far = w.Text
		}
	}
	if secret == "" {
		return
	}
	o := options(args, "stb", "--title --subject --body", 0) // what it is called is none of the program's words
	words := o.operands[:min(3, len(o.operands))]
	if slices.ContainsFunc(words, func(w Word) bool { return losses.Any(losses.Keeps(), w.Text) }) || slices.ContainsFunc(o.list, func(o shOpt) bool { return strings.HasSuffix(o.name, "-stdin") }) {
		return
	}
	if far == "" && (losses.Senders()[c.name] || slices.ContainsFunc(words, func(w Word) bool { return losses.Any(losses.Sends(), w.Text) }) && !read || slices.ContainsFunc(args, func(w Word) bool { return strings.HasPrefix(w.Text, "put ") })) {
		far = c.name
	}
	if far != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: losses.AddressHost(far), Secret: secret})
	}
}

// given is what secret a word holds or names: a value, a file, @file, x=@file.
func (a *analysis) given(c *shCall, w Word) string {
	if w.Dynamic {
		return a.fileSecretOf(w.value())
	}
	text := w.Text
	if name, value, ok := spell.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
		if losses.UsesSecret(name) {
			return ""
		}
		w = w.after(len(name) + 1)
		text = value
	}
	if _, file, ok := spell.Cut(text, "@"); ok && !strings.HasPrefix(text, "/") {
		text = strings.TrimLeft(file, "<")
	} else if strings.HasPrefix(text, "-") {
		return ""
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "fileb://"), "file://")
	if words := strings.Fields(text); len(words) > 1 && len(words) < 8 && losses.Sends()[words[0]] { // -c 'put .env'
		for _, word := range words[1:] {
			if what := a.given(c, NewWord(word)); what != "" {
				return what
			}
		}
	}
	if text == "" || len(text) > 512 || strings.ContainsAny(text, " \n") || strings.Contains(text, "://") {
		return ""
	}
	if text != w.Text {
		w = NewWord(text)
	}
	what := losses.Secret(a.resolve(w, c.fr).text, a.at.Home)
	if v, ok := a.written(w, c.fr); ok && what == "" {
		what = a.fileSecretOf(v)
	}
	return what
}
