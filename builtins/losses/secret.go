package losses

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// secretNames are base names of files that hold secrets wherever they lie.
var secretNames = map[string]string{
	".netrc": "password", "_netrc": "password", ".git-credentials": "password", ".pgpass": "password", ".my.cnf": "password",
	".npmrc": "token", ".pypirc": "token", ".vault-token": "token", ".dockercfg": "token", ".boto": "cloud-credentials", ".s3cfg": "cloud-credentials",
	"credentials.json": "cloud-credentials", "application_default_credentials.json": "cloud-credentials", "service-account.json": "cloud-credentials",
	"service_account.json": "cloud-credentials", "credentials.tfrc.json": "token", "kubeconfig": "kubeconfig",
	"id_rsa": "ssh-key", "id_dsa": "ssh-key", "id_ecdsa": "ssh-key", "id_ed25519": "ssh-key", "id_ed25519_sk": "ssh-key", "id_ecdsa_sk": "ssh-key",
	".htpasswd": "password", "secring.gpg": "gpg-key", "Login Data": "browser", "cookies.sqlite": "browser", "logins.json": "browser", "key4.db": "browser",
	"wallet.dat": "wallet", "master.key": "key", ".envrc": "env-file", ".dev.vars": "env-file", "terraform.tfstate": "cloud-credentials", "kaggle.json": "token", "node-token": "token", "k3s.yaml": "kubeconfig", "rke2.yaml": "kubeconfig",
	"terraform.tfvars": "password", "wp-config.php": "password", "local.settings.json": "password", "appsettings.Production.json": "password", "secrets.yml": "password", "secrets.yaml": "password", "secrets.toml": "password", "secrets.json": "password", "secrets.env": "env-file", "credentials.yml": "password", "credentials.toml": "token",
}

// secretPaths are places of secrets below the home.
var secretPaths = []struct{ path, what string }{
	{".ssh", "ssh-key"}, {".aws", "cloud-credentials"}, {".azure", "cloud-credentials"}, {".config/gcloud", "cloud-credentials"},
	{".gnupg", "gpg-key"}, {".kube", "kubeconfig"}, {".docker/config.json", "token"}, {".config/gh", "token"}, {".config/hub", "token"},
	{".config/op", "password"}, {".password-store", "password"}, {".local/share/keyrings", "password"}, {"Library/Keychains", "password"},
	{".config/doctl", "cloud-credentials"}, {".oci", "cloud-credentials"}, {".terraform.d", "token"}, {".cargo/credentials.toml", "token"},
	{".cargo/credentials", "token"}, {".gem/credentials", "token"}, {".m2/settings.xml", "password"}, {".mozilla", "browser"},
	{".config/google-chrome", "browser"}, {".claude/.credentials.json", "token"}, {".claude.json", "token"}, {".codex/auth.json", "token"}, {".gemini/oauth_creds.json", "token"}, {".gemini/google_accounts.json", "token"},
	{".qwen/oauth_creds.json", "token"}, {".config/github-copilot", "token"}, {".local/share/opencode/auth.json", "token"}, {".config/gitlab-cli", "token"}, {".config/glab-cli", "token"},
	{".fly/config.yml", "token"}, {".config/heroku", "token"}, {".config/netlify", "token"}, {".vercel/auth.json", "token"}, {".local/share/com.vercel.cli/auth.json", "token"}, {".config/.wrangler", "token"},
	{".wrangler/config", "token"}, {".databrickscfg", "token"}, {".snowsql/config", "password"}, {".config/hcloud", "token"}, {".config/linode-cli", "token"}, {".config/sops/age", "key"}, {".config/age", "key"}, {".age", "key"},
	{".electrum", "wallet"}, {".bitcoin", "wallet"}, {".ethereum/keystore", "wallet"}, {".config/solana", "wallet"}, {".thunderbird", "password"}, {".pgpass", "password"}, {".pulumi/credentials.json", "token"},
	{".config/configstore", "token"}, {".config/stripe", "token"}, {".config/ngrok", "token"}, {".config/containers/auth.json", "token"},
	{"Library/Application Support/Google/Chrome", "browser"}, {"Library/Application Support/Firefox", "browser"}, {".config/chromium", "browser"}, {".config/BraveSoftware", "browser"}, {".config/rclone", "password"},
}

var secretSystem = []string{"/etc/shadow", "/etc/gshadow", "/etc/master.passwd", "/etc/ssl/private", "/var/run/secrets", "/run/secrets", "/etc/kubernetes/admin.conf", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/ipsec.secrets", "/etc/krb5.keytab", "/etc/ppp/chap-secrets", "/etc/pki/tls/private", "/var/lib/jenkins/secrets"}

// publicNames are the files beside secrets that are none.
var publicNames = map[string]bool{"known_hosts": true, "known_hosts.old": true, "authorized_keys": true, "config": true, "environment": true, "rc": true}

// homes are the folders that hold the homes of users.
var homes = []string{"/home/", "/Users/", "/export/home/", "/var/home/"}

// homeOf splits a path below a home, anybody's, into that and the rest.
func homeOf(p, home string) (rel string, ok bool) {
	for _, h := range []string{home, "/root", "/var/root"} {
		if rest, found := spell.CutPrefix(p, h); found && h != "" && (rest == "" || rest[0] == '/') {
			return strings.TrimPrefix(rest, "/"), true
		}
	}
	for _, dir := range homes {
		if rest, found := spell.CutPrefix(p, dir); found {
			_, rel, ok = spell.Cut(rest, "/")
			return rel, ok
		}
	}
	return "", false
}

// Secret says what secrets a path holds, "" if none is known. A glob
// holds what the files can that it matches.
func Secret(p, home string) string {
	for _, suffix := range [...]string{"~", ".bak", ".old", ".orig", ".backup", ".save", ".copy"} {
		if rest, ok := spell.CutSuffix(p, suffix); ok && len(path.Base(rest)) > 1 && path.Base(rest) != "~" {
			return Secret(rest, home)
		}
	}
	base := path.Base(p)
	if what := secretBase(base); what != "" {
		if what == "key" && (Holds(p, "/testdata/", "/fixtures/", "/__fixtures__/")) {
			return "" // made for tests
		}
		return what
	}
	glob := strings.ContainsAny(base, "*?[") && len(letters(base)) > 1
	for _, dir := range secretSystem {
		if IsUnder(dir, strings.TrimPrefix(p, "/private")) || glob && GlobMatch(p, dir) {
			return "password"
		}
	}
	if dir := path.Base(path.Dir(p)); In(dir, "secrets .secrets") && In(path.Ext(base), ".yaml .yml .json .env .txt .toml .ini") && !Holds(base, "enc", "sops", "seal", "example", "sample", "template") {
		return "password"
	}
	if strings.HasPrefix(p, "/proc/") && base == "environ" {
		return "environment"
	}
	if strings.HasPrefix(p, "/etc/ssh/ssh_host_") && !strings.HasSuffix(p, ".pub") {
		return "ssh-key"
	}
	if rel, ok := homeOf(p, home); ok && rel != "" {
		fixed := strings.IndexAny(rel, "*?[") // how much of a glob is spelled out
		for _, s := range secretPaths {
			if s.path[0] != rel[0] {
				continue
			}
			if IsUnder(s.path, rel) || fixed > 0 && strings.HasPrefix(s.path, rel[:fixed]) && GlobMatch(rel, s.path) {
				return secretIn(s.path, s.what, base)
			}
		}
		if rel[0] != '.' {
			return ""
		}
		name, _, _ := spell.Cut(strings.TrimPrefix(base, "."), ".")
		if tokens := Tokens(name); len(tokens) > 0 && In(tokens[len(tokens)-1], "token tokens credentials creds auth password passwords apikey secrets") && (path.Ext(base) == "" || In(path.Ext(base), ".json .toml .yaml .yml .txt .ini .conf")) {
			return "token" // ~/.tool/auth.json
		}
	}
	return ""
}

// secretIn is Secret for a file in a directory of secrets.
func secretIn(dir, what, base string) string {
	switch {
	case strings.HasSuffix(base, ".pub"):
		return ""
	case dir == ".ssh" && (publicNames[base] || strings.HasPrefix(base, "known_hosts")):
		return ""
	case dir == ".aws" && base == "config":
		return ""
	}
	return what
}

// secretBase is Secret by the base name alone.
func secretBase(base string) string {
	if what := secretNames[base]; what != "" {
		return what
	}
	if i := strings.IndexAny(base, "*?["); i >= 0 && In(letters(base), "env pem secret secrets credential credentials password passwords") && !strings.Contains(base, "{") {
		return "key"
	} else if i > 0 && (base[0] == '.' || i > 2) {
		for _, name := range secretSamples() {
			if GlobMatch(base, name) {
				return secretBase(name)
			}
		}
	}
	lower := strings.ToLower(base)
	switch {
	case lower == ".env" || strings.HasPrefix(lower, ".env.") || strings.HasSuffix(lower, ".env"):
		if templates().MatchString(lower) { // checked in
			return ""
		}
		return "env-file"
	case In(path.Ext(lower), ".key .p12 .pfx .keystore .jks .ppk .kdbx"):
		return "key"
	case In(strings.TrimPrefix(strings.TrimSuffix(lower, ".txt"), "."), "vault_pass vault-pass vault_password vault-password deploy_key terraformrc secrets_env") || lower == ".secrets" || strings.HasSuffix(lower, "adminsdk.json"):
		return "password"
	case strings.HasSuffix(lower, ".pem") && (strings.Contains(lower, "key") || strings.Contains(lower, "priv")):
		return "key"
	}
	return ""
}

// letters are the letters and digits of a pattern.
func letters(s string) string {
	if len(s) > 120 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// secretSamples are names of secret files that a glob may match.
var secretSamples = lazy.Value(func() []string {
	return append(lists.Keys(secretNames), ".env", ".env.local", ".env.production", ".env.development")
})

// templates are the names of files of variables that hold none.
var templates = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile("example|sample|template|dist|schema|defaults") })

// SecretVariable reports whether a variable's name says that it holds a secret.
func SecretVariable(name string) bool {
	if In(name, "DATABASE_URL MONGODB_URI SECRET_KEY_BASE APP_KEY pat") { // a pattern
		return name != "pat"
	}
	tokens := Tokens(name)
	for i, t := range tokens {
		switch t {
		case "token", "secret", "password", "passwd", "apikey", "credentials", "pat", "passphrase":
			if i == len(tokens)-1 || i == len(tokens)-2 && tokens[i+1] == "key" {
				return true
			}
		case "key":
			if i > 0 && i == len(tokens)-1 && In(tokens[i-1], "api access private secret signing encryption master auth service role anon openai stripe") {
				return true
			}
		}
	}
	return false
}

// Authenticates reports whether the text before a secret says that the receiver
// asks for it: ?api_key=, "password": ", Bearer.
func Authenticates(before string) bool {
	tokens := Tokens(before[max(0, len(before)-40):])
	if len(tokens) == 0 || strings.HasSuffix(before, "/") {
		return false
	}
	return In(tokens[len(tokens)-1], "key apikey token secret password passwd auth authorization bearer basic pat pass") || strings.HasSuffix(before, "://") || strings.HasSuffix(before, ":") && strings.Contains(before, "://")
}

// UsesSecret reports whether an option takes a secret to use it, and not to
// send it.
func UsesSecret(option string) bool {
	if option == "-i" || option == "-K" || option == "-k" {
		return true
	}
	return strings.HasPrefix(option, "-") && !strings.Contains(option, "=") && slices.ContainsFunc(Tokens(option), func(t string) bool {
		return In(t, "key keyfile cert cacert ca env config identity kubeconfig pass password passphrase secret secrets netrc token credential credentials auth file-env sslkey sslcert")
	})
}

// Metadata reports whether an address gives the credentials of a machine in a cloud to who asks on it.
func Metadata(address string) bool {
	return (strings.Contains(address, "169.254.169.254") || strings.Contains(address, "169.254.170.2") || strings.Contains(address, "metadata.google.internal")) &&
		slices.ContainsFunc(Tokens(address[max(0, len(address)-120):]), func(t string) bool { return In(t, "credentials token accounts identity userdata oauth2 relative") })
}

// DomainLike reports whether a word ends as the name of a host does, and begins as one.
func DomainLike(text string) bool {
	host, _, _ := spell.Cut(text, "/")
	host, _, _ = spell.Cut(host, ":")
	i := strings.LastIndexByte(host, '.')
	return i > 0 && host[0] != '.' && In(strings.ToLower(host[i+1:]), "com net org io example dev ru cn co xyz site online app info biz me tk ml top cloud test invalid")
}

// In reports whether word is one of list, which has blanks between them.
func In(word, list string) bool {
	if word == "" {
		return false
	}
	for end := 0; ; {
		i := strings.Index(list[end:], word)
		if i < 0 {
			return false
		}
		i += end
		if end = i + len(word); (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
	}
}

// NameGlob is a regular expression as a glob, "" for one that has more to say.
func NameGlob(expr string) string {
	expr, begins := spell.CutPrefix(expr, "^")
	expr, ends := spell.CutSuffix(expr, "$")
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		switch ch := expr[i]; {
		case ch == '\\' && i+1 < len(expr) && expr[i+1] == '.':
			b.WriteByte('.')
			i++
		case ch == '.' && i+1 < len(expr) && (expr[i+1] == '*' || expr[i+1] == '+'):
			b.WriteByte('*')
			i++
		case ch == '.':
			b.WriteByte('?')
		case strings.IndexByte("\\*+?()[]{}|^$", ch) >= 0:
			return ""
		default:
			b.WriteByte(ch)
		}
	}
	return map[bool]string{false: "*"}[begins] + b.String() + map[bool]string{false: "*"}[ends]
}

var classed = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\[!?(?:\[[:.=][^\]]*[:.=]\])+[^\]]*\]`) })

// GlobMatch reports whether a shell pattern matches all of s. Unlike a file
// glob's, its `*` matches slashes.
func GlobMatch(pattern, s string) bool {
	if strings.Contains(pattern, "[[:") || strings.Contains(pattern, "[[.") || strings.Contains(pattern, "[[=") {
		pattern = classed().ReplaceAllString(pattern, "?") // any one character
	}
	i := strings.IndexAny(pattern, "*?[\\")
	if i < 0 || !strings.HasPrefix(s, pattern[:i]) {
		return pattern == s
	}
	name := strings.ReplaceAll(strings.ReplaceAll(pattern, "/", "\x01"), "[!", "[^") // in which * matches slashes too
	ok, err := path.Match(name, strings.ReplaceAll(s, "/", "\x01"))
	return ok || err != nil && pattern == s
}

// UnderAny reports whether p is one of the folders or lies below it.
//
//go:noinline
func UnderAny(dirs []string, p string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return IsUnder(dir, p) })
}

// IsUnder reports whether p is dir or lies below it. Both are clean.
//
//go:noinline
func IsUnder(dir, p string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// InGit reports whether p is a repository's own folder, such as .git, or inside
// one. A lock that a crashed git left behind is no part of the repository.
func InGit(p string) bool {
	if strings.HasSuffix(p, "lock") {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if IsRepository(part) {
			return true
		}
	}
	return false
}

// IsRepository reports whether a folder or file of that name holds a repository's history.
//
//go:noinline
func IsRepository(base string) bool {
	return In(base, ".git .hg .svn .jj .bzr _darcs .pijul .fslckout _FOSSIL_ .repo")
}

const GlobChars = "*?["

var noDots = strings.NewReplacer("[!.]", "", "[^.]", "")

// WholeOf splits a path at its first part that is a glob. below is true when
// the glob means only some of what is in the directory.
func WholeOf(p string) (dir string, below bool) {
	i := strings.IndexAny(p, GlobChars)
	if i < 0 {
		return p, false
	}
	slash := strings.LastIndexByte(p[:i], '/')
	if slash < 0 {
		return "", true
	}
	dir = p[:slash]
	if dir == "" {
		dir = "/"
	}
	for part := range strings.SplitSeq(p[slash+1:], "/") {
		if strings.Trim(noDots.Replace(part), "*?.!") != "" {
			return dir, true
		}
		if !strings.Contains(part, "*") {
			return dir, true
		}
	}
	return dir, false
}

// FixedPart is the folder before the first part of a path that is a glob.
func FixedPart(glob string) string {
	if i := strings.IndexAny(glob, GlobChars+"{"); i >= 0 {
		return path.Dir(glob[:i] + "x")
	}
	return glob
}

// GlobTouches reports whether a glob matches a path or a folder above it. `**`
// means any number of folders, those with a dot included, as find has it.
func GlobTouches(glob, p string) bool {
	if !strings.Contains(glob, "**") {
		return globReaches(glob, p)
	}
	glob = strings.ReplaceAll(glob, "{tests}", "")
	if !doublestar.ValidatePattern(glob) {
		return true // nobody can say what it matches
	}
	for at := p; ; at = path.Dir(at) {
		if doublestar.MatchUnvalidated(glob, at) {
			return true
		}
		if at == "/" || at == "." || path.Dir(at) == at {
			return false
		}
	}
}

// GlobBelow reports whether a glob can match what lies below a folder.
func GlobBelow(glob, folder string) bool {
	want, have := strings.Split(glob, "/"), strings.Split(strings.TrimRight(folder, "*/"), "/")
	return len(want) > len(have) && !strings.Contains(glob+strings.Join(have, "/"), "**") && GlobsMeet(want[:len(have)], have)
}

// globReaches reports whether a glob matches a path or a folder above it.
func globReaches(glob, p string) bool {
	want, have := strings.Split(glob, "/"), strings.Split(p, "/")
	return len(want) <= len(have) && slices.EqualFunc(want, have[:len(want)], GlobNames)
}

// GlobsMeet reports whether a path that one glob matches can be, hold or lie in
// one that the other matches. Two names that are both globs may meet.
func GlobsMeet(want, have []string) bool {
	for i := range min(len(want), len(have)) {
		w, h := want[i], have[i]
		if w == "**" || h == "**" {
			return true
		}
		globbed := strings.ContainsAny(w, GlobChars)
		switch {
		case globbed && strings.ContainsAny(h, GlobChars+"{"):
		case globbed && !GlobNames(w, h):
			return false
		case !globbed && !doublestar.MatchUnvalidated(h, w):
			return false
		}
	}
	return true
}

// GlobNames reports whether one part of a glob matches a name. As in a shell,
// a dot that begins a name is only matched by a dot.
func GlobNames(glob, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}
