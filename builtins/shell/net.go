package shell

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// curl downloads and uploads.
func (a *analysis) curl(c *shCall) shValue {
	o := options(c.args(), losses.CurlShort, losses.CurlLong, optShort)
	if o.exact("--help", "--version", "-V") {
		return printsText(a, c)
	}
	op, secret, used := "download", "", []Word(nil)
	for _, opt := range o.list {
		switch opt.name {
		case "-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-T", "--upload-file", "--data-raw", "--form-string":
			op, secret = "upload", lists.First(a.uploaded(c, opt), secret)
		case "-H", "--header", "-u", "--user", "-b", "--cookie":
			secret = lists.First(a.fileSecretOf(opt.value.value()), secret)
			if text := opt.value.prefix(); opt.name[1:] != "u" && opt.name != "--user" && strings.HasPrefix(text, "@") || WordIn(opt.name, "-b --cookie") && text != "" && !strings.Contains(text, "=") {
				secret = lists.First(a.sent(c, opt.value.after(len(text)-len(strings.TrimPrefix(text, "@")))), secret)
			}
			for i, p := range opt.value.value() {
				if what := a.secretOf(shValue{p}); opt.name == "-H" && WordIn(what, "credential variable") && !losses.Authenticates(opt.value.value()[:i].text()) {
					secret = what
				}
			}
			used = append(used, opt.value)
		case "--url-query", "--variable":
			opt.name = "--data-urlencode"
			secret = lists.First(a.uploaded(c, opt), secret)
		case "-K", "--config", "--cert", "--key", "-E", "--netrc-file", "--cacert":
			a.fileEffect(EffectRead, opt.value, c.target("use"))
		}
	}
	if x, ok := o.value("-X", "--request"); ok && strings.EqualFold(x.Text, "DELETE") {
		op = "http-delete"
	} else if ok && WordIn(strings.ToUpper(x.Text), "POST PUT PATCH") && op == "download" {
		op = "post"
	}
	if len(o.operands) > 1 && strings.EqualFold(o.operand(0), "DELETE") { // curlie delete host/path
		op, o.operands = "http-delete", o.operands[1:]
	}
	urls := append(o.values("--url"), o.operands...)
	used = append(used, urls...)
	a.restLoss(c, op, urls, append(o.values("-H", "--header"), o.values("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json")...))
	for _, u := range urls {
		if s := a.secretOf(u.value()); s != "" {
			secret, op = s, "upload"
		}
		a.connectTo(c, op, u, lists.First(secret, a.strange(u, used)))
	}
	files := o.values("-o", "--output")
	if o.exact("-O", "--remote-name", "--remote-name-all") {
		files = append(files, remoteNames(urls)...)
	}
	if len(files) == 0 && o.exact("-I", "--head") {
		return printsText(a, c)
	}
	return a.downloadedTo(c, o.values("--output-dir"), files, urls)
}

// downloadedTo is downloaded, in the first of dirs.
func (a *analysis) downloadedTo(c *shCall, dirs, files, urls []Word) shValue {
	in := *c
	if len(dirs) > 0 {
		in.fr = c.fr.subshell()
		a.moveTo(dirs[0], in.fr)
	}
	v := a.downloaded(&in, files, urls)
	c.fr.st.files = joinTable(c.fr.st.files, in.fr.st.files)
	return v
}

// restLoss adds what a request destroys: DELETE, an address or a method that
// says so. What a server on this machine serves is the user's own, but for what
// a database does.
func (a *analysis) restLoss(c *shCall, op string, urls, texts []Word) {
	verb := ""
	for _, w := range texts {
		verb = lists.First(losses.Mutation(w.Text), verb)
	}
	for _, w := range urls {
		u, err := url.Parse(w.Text)
		if err == nil && u.Host == "" {
			u, err = url.Parse("http://" + w.Text)
		}
		if err != nil || w.Dynamic && w.prefix() == "" {
			u = &url.URL{}
		}
		for _, text := range texts {
			if losses.Stores[u.Port()] {
				a.sql(c, text.value())
			}
		}
		verb = lists.First(losses.Mutation(u.RawQuery), verb)
		last := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
		v, object := losses.Verb(strings.TrimPrefix(last, "_"))
		domain := DomainOutside
		switch {
		case op == "http-delete" && losses.ServesCluster(u.Path):
			domain = DomainKubernetes
		case losses.ServesContainers(u.Path) && (op == "http-delete" || v == "prune") && (u.Port() == "2375" || u.Port() == "2376" || HasFlag(c.args(), "--unix-socket")):
			domain = DomainContainer
		case losses.Stores[u.Port()] && (op == "http-delete" || strings.HasPrefix(last, "_delete") || (op == "upload" || op == "post") && losses.Destroys()[v]):
			domain = DomainDatabase
		case losses.IsLocal(u.Hostname()) || op != "http-delete" && verb == "" && !((op == "upload" || op == "post") && (losses.Destroys()[v] || WordIn(v, "shutdown poweroff disable suspend ban reboot transfer archive close") || losses.Takes()[v] && slices.ContainsFunc(object, losses.Elsewhere))):
			continue
		}
		a.does(c, EffectDelete, domain, "http-delete", w.Text)
	}
}

// requests adds what requests to other machines destroy that text makes, whichever the
// language.
func (a *analysis) requests(c *shCall, text string) {
	if len(text) > maxShellValue {
		return
	}
	op, addresses := losses.Requests(text)
	for _, at := range addresses {
		a.restLoss(c, op, []Word{NewWord(at)}, nil)
	}
}

// strange is what secret the words of a request use at an address that has no business with it.
func (a *analysis) strange(address Word, words []Word) string {
	for _, w := range words {
		for _, p := range w.value() {
			program, _, _ := spell.Cut(p.origin.from, " ")
			if what := a.secretOf(shValue{p}); what != "" && !strings.Contains(p.origin.from, "identity") && losses.Strange(losses.AddressHost(address.Text), program) {
				return what
			}
		}
	}
	return ""
}

// uploaded reads what an option of curl sends, and says what secret that is.
func (a *analysis) uploaded(c *shCall, opt shOpt) string {
	v := opt.value
	if s := a.secretOf(v.value()); s != "" {
		return s
	}
	switch opt.name {
	case "--data-raw", "--form-string":
		return ""
	case "-T", "--upload-file":
		return a.sent(c, v)
	case "-F", "--form":
		_, file, ok := v.cut("=")
		if !ok || !strings.HasPrefix(file.Text, "@") && !strings.HasPrefix(file.Text, "<") {
			return ""
		}
		v = file
	case "--data-urlencode":
		if i := strings.IndexByte(v.prefix(), '@'); i >= 0 && !strings.Contains(v.prefix()[:i], "=") {
			v = v.after(i)
		}
	}
	if text := v.prefix(); text == "" || text[0] != '@' && text[0] != '<' {
		return ""
	}
	name := v.after(1)
	if text := name.prefix(); opt.name == "-F" || opt.name == "--form" || strings.Contains(text, ";") {
		secret := ""
		text, _, _ = spell.Cut(text, ";")
		for _, file := range strings.Split(text, ",") {
			secret = max(secret, a.sent(c, NewWord(strings.Trim(file, `"`))))
		}
		return secret
	}
	return a.sent(c, name)
}

// sent is a file, or standard input, that is sent away.
func (a *analysis) sent(c *shCall, file Word) string {
	if file.Is("-", "") {
		return a.secretOf(c.fr.stdin.value)
	}
	a.fileEffect(EffectRead, file, c.target("upload"))
	return a.secretOf(a.contents(file, c.fr))
}

// connectTo adds the connection to an address.
func (a *analysis) connectTo(c *shCall, op string, address Word, secret string) {
	e := Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: op, Target: losses.AddressHost(address.Text), Secret: secret}
	if address.Dynamic && address.prefix() == "" {
		e.Target, e.Certainty = address.Text, CertainDynamic
	}
	a.effect(c, e)
}

// downloaded is what a program prints of addresses; what it writes into files is
// remembered.
func (a *analysis) downloaded(c *shCall, files, urls []Word) shValue {
	content := shValue{}
	for _, u := range urls {
		if p, ok := spell.CutPrefix(u.Text, "file://"); ok {
			a.fileEffect(EffectRead, NewWord(p), c.target("read"))
			content = append(content, a.contents(NewWord(p), c.fr)...)
			continue
		}
		origin := shOrigin{"remote", u.Text}
		if losses.Metadata(u.Text) {
			origin = shOrigin{credential, u.Text}
		}
		content = append(content, shPart{text: "$(curl)", kind: shAny, origin: origin})
	}
	if len(files) == 0 {
		return content
	}
	printed := shValue{}
	for _, f := range files {
		if f.Is("-", "/dev/stdout") {
			printed = content
			continue
		}
		a.fileEffect(EffectWrite, f, c.target("download"))
		if key := a.fileKey(f, c.fr); !posix.IsStream(key) {
			c.fr.st.holds(key, content)
		}
	}
	return printed
}

// remoteNames are what files of addresses are called.
func remoteNames(urls []Word) []Word {
	var out []Word
	for _, u := range urls {
		out = append(out, NewWord(path.Base(strings.SplitN(u.Text, "?", 2)[0])))
	}
	return out
}

func (a *analysis) wget(c *shCall) shValue {
	o := options(c.args(), map[bool]string{true: "d"}[c.name == "aria2c"]+"OoPUtTQeiaBADXRIwl", "--output-document --output-file --directory-prefix --user-agent --tries --timeout --header --post-data --post-file "+
		"--body-file --body-data --method --user --password --input-file --dir --out", optShort)
	op, secret := "download", ""
	for _, h := range o.values("--header") {
		secret = lists.First(a.fileSecretOf(h.value()), secret)
	}
	for _, f := range o.values("--post-file", "--body-file") {
		op, secret = "upload", a.sent(c, f)
	}
	for _, v := range append(o.values("--post-data", "--body-data"), o.operands...) {
		if s := a.secretOf(v.value()); s != "" {
			op, secret = "upload", s
		}
	}
	if m, ok := o.value("--method"); ok && !m.Is("GET", "HEAD") {
		op = map[bool]string{true: "http-delete", false: "post"}[strings.EqualFold(m.Text, "DELETE")]
	}
	a.restLoss(c, op, o.operands, o.values("--post-data", "--body-data"))
	for _, u := range o.operands {
		a.connectTo(c, op, u, secret)
	}
	files := o.values(map[bool]string{true: "-O", false: "-o"}[strings.HasPrefix(c.name, "wget")], "--output-document", "--out")
	if len(files) == 0 {
		files = remoteNames(o.operands)
	}
	return a.downloadedTo(c, o.values("-P", "-d", "--directory-prefix", "--dir"), files, o.operands)
}

// netcat sends standard input to a host, or starts a shell for it.
func (a *analysis) netcat(c *shCall) shValue {
	o := options(c.args(), "ecgGiIopPqsTwxXmO", "--exec --sh-exec --lua-exec --source-port --wait --proxy", 0)
	op, target, secret := "socket", o.operand(0), a.secretOf(c.fr.stdin.value)
	code := o.values("-e", "-c", "--exec", "--sh-exec")
	if c.name == "socat" {
		target = ""
		for _, w := range c.args() {
			switch kind, rest, _ := spell.Cut(w.Text, ":"); strings.ToLower(kind) {
			case "exec", "system", "shell":
				rest, _, _ = spell.Cut(rest, ",")
				code = append(code, NewWord(rest))
			case "tcp", "tcp4", "tcp6", "tcp-connect", "openssl", "udp", "ssl":
				target, _, _ = spell.Cut(rest, ":")
			case "file", "open", "gopen", "exec-file":
				rest, _, _ = spell.Cut(rest, ",")
				secret = max(secret, a.sent(c, NewWord(rest)))
			}
		}
	}
	switch {
	case len(code) > 0:
		op = "reverse-shell"
	case c.fr.stdin.set && (c.name != "socat" || HasFlag(c.args(), "-", "stdin", "stdio", "STDIN", "STDIO")):
		op = "upload"
	case o.exact("-l", "--listen"):
		op = "listen"
	}
	a.runAll(c, code)
	if first := strings.Fields(c.fr.stdin.value.text()); op == "upload" && slices.ContainsFunc(first[:min(len(first), 3)], func(w string) bool {
		verb, _ := losses.Verb(w)
		return losses.Destroys()[verb]
	}) {
		a.does(c, EffectDelete, DomainDatabase, "command", target)
	}
	a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: op, Target: target, Secret: secret})
	return shUnknown("$("+c.name+")", shOrigin{"remote", target})
}

// remotePath reports whether an operand of scp or rsync is on another machine.
func remotePath(w Word) bool {
	t := w.Text
	if strings.Contains(t, "://") {
		return true
	}
	colon := strings.IndexByte(t, ':')
	slash := strings.IndexByte(t, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

func (a *analysis) scp(c *shCall) shValue {
	o := options(c.args(), "cDFiJloPSXb", "", 0)
	if v, ok := o.value("-S", "-D"); ok {
		a.gitProgram(c, v)
	}
	a.sshOptions(c, o.values("-o"), a.elsewhere(c, "ssh:"))
	a.transfer(c, o.operands)
	if c.name == "sftp" {
		for _, w := range o.values("-b") {
			a.ftpScript(c, a.contents(w, c.fr).text())
		}
		a.ftpScript(c, c.fr.stdin.value.text())
	}
	return nil
}

// fetched remembers that a file of this machine, or the one in a folder there, came from elsewhere. A
// dump is one's own, and so is what lies in a container.
func (a *analysis) fetched(c *shCall, from, to Word) {
	if remotePath(from) && !WordIn(path.Ext(from.Text), ".sql .dump") && !WordIn(c.name, "docker podman nerdctl") {
		a.downloaded(c, []Word{to, NewWord(to.Text + "/" + from.Text[strings.LastIndexAny(from.Text, "/:")+1:])}, []Word{from})
	}
}

// transfer copies operands to the last of them, on this machine or another.
func (a *analysis) transfer(c *shCall, operands []Word) {
	if len(operands) == 0 {
		return
	}
	last := len(operands) - 1
	to := operands[last]
	secret := ""
	for _, w := range operands[:last] {
		if remotePath(w) {
			a.does(c, EffectConnect, DomainNetwork, "download", losses.RemoteHost(w.Text))
			if !remotePath(to) {
				a.fetched(c, w, to)
			}
			continue
		}
		op := "copy"
		if remotePath(to) {
			op = "upload"
			secret = lists.First(a.secretOf(a.contents(w, c.fr)), secret)
		}
		a.fileEffect(EffectRead, w, c.target(op))
	}
	if remotePath(to) {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: losses.RemoteHost(to.Text), Secret: secret})
		return
	}
	if last > 0 {
		a.fileEffect(EffectWrite, to, c.target("copy"))
		a.into(operands[:last], to, c, "copy")
	}
}

func (a *analysis) rsync(c *shCall) shValue {
	o := options(c.args(), "efTBM", "--rsh --filter --exclude --include --exclude-from --include-from --files-from --temp-dir --backup-dir --suffix --compare-dest "+
		"--link-dest --log-file --rsync-path --bwlimit --timeout --port --password-file --out-format --chmod --chown --usermap --partial-dir "+
		"--max-size --min-size --max-delete --info --debug --compress-level --compress-choice --zl --zc --contimeout --modify-window --block-size --checksum-choice --cc --skip-compress --iconv --protocol "+
		"--address --sockopts --remote-option --copy-dest --log-file-format --stop-at --stop-after --write-batch --read-batch --only-write-batch --max-alloc --outbuf --groupmap --copy-as --early-input", 0)
	if o.exact("-n", "--dry-run", "--list-only", "--version", "--help") {
		return printsText(a, c)
	}
	if v, ok := o.value("-e", "--rsh"); ok {
		a.gitProgram(c, v)
	}
	a.transfer(c, o.operands)
	removes := slices.ContainsFunc(o.list, func(opt shOpt) bool { return opt.name == "--del" || strings.HasPrefix(opt.name, "--delete") })
	if removes && len(o.operands) > 1 {
		to := o.operands[len(o.operands)-1]
		t := c.target("rsync-delete")
		t.recursive = true
		if _, p, ok := to.cut(":"); ok && remotePath(to) {
			fr := a.elsewhere(c, "ssh:"+losses.HostOf(to.Text))
			t.fr, to = fr, p
		}
		a.fileEffect(EffectDelete, to, t)
	}
	if o.exact("--remove-source-files") && len(o.operands) > 1 {
		a.files(EffectDelete, c.target("move"), o.operands[:len(o.operands)-1]...)
	}
	return nil
}

// httpie sends name=value and name@file words.
func (a *analysis) httpie(c *shCall) shValue {
	o := options(c.args(), "aAosp", "--auth --output --session --verify --body", 0)
	op, secret, address := "download", "", Word{}
	for i, w := range o.operands {
		switch method := strings.ToUpper(w.Text); {
		case i == 0 && WordIn(method, "GET HEAD OPTIONS"):
		case i == 0 && WordIn(method, "POST PUT PATCH"):
			op = "upload"
		case i == 0 && method == "DELETE":
			op = "http-delete"
		case address.Text == "" && i < 2:
			address = w
		default:
			if name, file, ok := w.cut("@"); ok && (!strings.Contains(name, "=") || strings.HasSuffix(name, "=")) {
				op = "upload"
				secret = lists.First(a.sent(c, file), secret)
			}
		}
	}
	if s := a.secretOf(c.fr.stdin.value); s != "" {
		op, secret = "upload", s
	}
	a.restLoss(c, op, []Word{address}, o.operands)
	a.connectTo(c, op, address, secret)
	return a.downloaded(c, o.values("-o", "--output"), []Word{address})
}

// gpg prints keys and what it decrypts.
func (a *analysis) gpg(c *shCall) shValue {
	for _, w := range c.args() {
		if strings.HasPrefix(w.Text, "--delete-secret") {
			a.does(c, EffectDelete, DomainOutside, "delete-keys", "the secret keys")
		}
		if strings.HasPrefix(w.Text, "--export-secret") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainSystem, Op: "export-key", Target: "gpg:secret-keys", Secret: "gpg-key"})
		}
	}
	o := options(c.args(), "oru", "--output --recipient --local-user --homedir --passphrase --passphrase-file --batch", 0)
	if v, ok := o.value("-o", "--output"); ok {
		a.fileEffect(EffectWrite, v, c.target("write"))
		a.keepSecret(o.operands, v, c.fr)
	}
	return decoded(c, c.fr.stdin.value)
}
