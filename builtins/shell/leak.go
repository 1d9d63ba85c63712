package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
)

// The kinds of secrets that are no file: a variable by its name, and what a
// program printed.
const (
	secretVariable   = "variable"
	secretCredential = "credential"
)

// secretVar reports whether a variable's name says that it holds a secret.
func secretVar(name string) bool {
	if name == "DATABASE_URL" || name == "MONGODB_URI" {
		return true
	}
	tokens := losses.Tokens(name)
	for i, t := range tokens {
		switch t {
		case "token", "secret", "password", "passwd", "apikey", "credentials", "pat", "passphrase":
			return i == len(tokens)-1 || i == len(tokens)-2 && tokens[i+1] == "key"
		case "key":
			if i > 0 && i == len(tokens)-1 && WordIn(tokens[i-1], "api access private secret signing encryption master auth service role anon openai stripe") {
				return true
			}
		}
	}
	return false
}

// secretOf says what secrets a value holds, from where it comes from.
func (a *analysis) secretOf(v shValue) string {
	for i, p := range v {
		switch p.origin.kind {
		case "environment":
			return "environment"
		case credential:
			if name, ok := strings.CutPrefix(p.origin.from, "$"); !ok {
				return secretCredential
			} else if secretVar(name) && !(i > 0 && authenticates(v[:i].text())) {
				return secretVariable
			}
		case "file":
			if what := secretOf(p.origin.from, a.at); what != "" {
				return what
			}
		}
	}
	return ""
}

// fileSecretOf is secretOf without variables and credentials, which may be used
// where a file's text may not.
func (a *analysis) fileSecretOf(v shValue) string {
	if what := a.secretOf(v); what != secretVariable && what != secretCredential {
		return what
	}
	return ""
}

// authenticates reports whether the text before a secret says that the receiver
// asks for it: ?api_key=, "password": ", Bearer.
func authenticates(before string) bool {
	tokens := losses.Tokens(before[max(0, len(before)-40):])
	if len(tokens) == 0 || strings.HasSuffix(before, "/") {
		return false
	}
	return WordIn(tokens[len(tokens)-1], "key apikey token secret password passwd auth authorization bearer basic pat pass") || strings.HasSuffix(before, "://") || strings.HasSuffix(before, ":") && strings.Contains(before, "://")
}

// shown adds what a command prints to the user: a credential, or a variable
// that holds one.
func (a *analysis) shown(c *shCall, v shValue) {
	for _, r := range c.fr.redirects {
		if strings.HasPrefix(r.Op, ">") && (r.Fd == "" || r.Fd == "1") || strings.HasPrefix(r.Op, "&>") {
			return
		}
	}
	for _, p := range v {
		if p.origin.kind != credential || p.known() {
			continue
		}
		name, variable := strings.CutPrefix(p.origin.from, "$")
		if !variable || secretVar(name) {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: p.origin.from})
			return
		}
	}
}

// lexSends are words of commands that send, lexKeeps those of commands that
// keep a secret where it belongs, or use it to get in.
var (
	lexSends = losses.Words("upload send share publish post paste gist push transfer sync cp copy mv put mail message comment create deploy release attach import issue pr snippet report")
	lexKeeps = losses.Words("secret secrets env vars variable variables login auth credential credentials keyvault vault config set unlock import-keys signin ssh-key add-key")
	// lexSenders are programs that talk to other machines whatever their words.
	lexSenders = losses.Words(`mail mailx mutt sendmail s-nail msmtp swaks ftp lftp ncftpput tftp rclone gist pastebinit wgetpaste wormhole croc ffsend transfer dig host nslookup drill kdig
		ping ping6 traceroute slack slack-cli telegram-send ntfy notify discord xh curlie httpie mosquitto_pub nats redis-cli kcat kafkacat websocat wscat grpcurl busybox telnet azcopy
		0x0 ix termbin sprunge hastebin bashupload filebin oshi`)
	// leakReads are readers that see for themselves what is sent.
	leakReads = losses.Words("curl wget wget2 aria2c nc ncat netcat socat telnet scp sftp rsync http https ssh git")
)

// leak adds the sending of a secret by a program that takes one and talks to
// somewhere else, whatever the program is.
func (a *analysis) leak(c *shCall, read bool) {
	if leakReads()[c.name] || read && !lexSenders()[c.name] && !WordIn(c.name, "docker podman kubectl oc npm python python3") {
		return
	}
	secret := a.fileSecretOf(c.fr.stdin.value)
	if what := a.secretOf(c.fr.stdin.value); lexSenders()[c.name] {
		secret = what
	}
	far := ""
	args := c.args()
	for i, w := range args {
		if i > 0 && usesSecret(args[i-1].Text) {
			continue
		}
		if secret == "" {
			secret = a.given(c, w)
		}
		if far == "" && (strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:") || !w.Dynamic && remotePath(w) || domainLike(w.Text)) {
			far = w.Text
		}
	}
	if secret == "" {
		return
	}
	o := options(args, "", "", 0)
	words := o.operands[:min(3, len(o.operands))]
	if slices.ContainsFunc(words, func(w Word) bool { return lexKeeps()[w.Text] }) || slices.ContainsFunc(o.list, func(o shOpt) bool { return strings.HasSuffix(o.name, "-stdin") }) {
		return
	}
	if far == "" && (lexSenders()[c.name] || slices.ContainsFunc(words, func(w Word) bool { return lexSends()[w.Text] }) && !read) {
		far = c.name
	}
	if far != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: addressHost(far), Secret: secret})
	}
}

// usesSecret reports whether an option takes a secret to use it, and not to
// send it.
func usesSecret(option string) bool {
	if option == "-i" || option == "-K" || option == "-k" {
		return true
	}
	return strings.HasPrefix(option, "-") && !strings.Contains(option, "=") && slices.ContainsFunc(losses.Tokens(option), func(t string) bool {
		return WordIn(t, "key keyfile cert cacert ca env config identity kubeconfig pass password passphrase secret secrets netrc token credential credentials auth file-env sslkey sslcert")
	})
}

// given is what secret a word holds or names: a value, a file, @file, x=@file.
func (a *analysis) given(c *shCall, w Word) string {
	if w.Dynamic {
		return a.fileSecretOf(w.value())
	}
	text := w.Text
	if name, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
		if usesSecret(name) {
			return ""
		}
		w = w.after(len(name) + 1)
		text = value
	}
	if _, file, ok := strings.Cut(text, "@"); ok && !strings.HasPrefix(text, "/") {
		text = strings.TrimLeft(file, "<")
	} else if strings.HasPrefix(text, "-") {
		return ""
	}
	text = strings.TrimPrefix(text, "file://")
	if text == "" || len(text) > 512 || strings.ContainsAny(text, " \n") || strings.Contains(text, "://") {
		return ""
	}
	if text != w.Text {
		w = NewWord(text)
	}
	_, what := a.placeIn(a.resolve(w, c.fr).text, c.fr)
	if v, ok := a.written(w, c.fr); ok && what == "" {
		what = a.fileSecretOf(v)
	}
	return what
}

// domainLike reports whether a word ends as the name of a host does.
func domainLike(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	host, _, _ = strings.Cut(host, ":")
	i := strings.LastIndexByte(host, '.')
	return i > 0 && WordIn(strings.ToLower(host[i+1:]), "com net org io example dev ru cn co xyz site online app info biz me tk ml top cloud test invalid")
}
