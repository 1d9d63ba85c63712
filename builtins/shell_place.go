package builtins

import (
	"path"
	"strings"
)

// Place is where a path lies, seen from the project and its user.
type Place string

// The places, from the one whose loss is worst.
const (
	// PlaceRoot is / and everything directly in it at once.
	PlaceRoot Place = "root"
	// PlaceSystem holds the machine's own files: /etc, /usr, /var, /home itself …
	PlaceSystem Place = "system"
	// PlaceDevice is a device under /dev that holds data.
	PlaceDevice Place = "device"
	// PlaceHome is the user's home as a whole, or a directory above it.
	PlaceHome Place = "home"
	// PlaceUser is below the home, and outside of the project.
	PlaceUser Place = "user"
	// PlaceCache is below the home, and made anew when it is missed.
	PlaceCache Place = "cache"
	// PlaceAbove is a directory above the project.
	PlaceAbove Place = "above_project"
	// PlaceProjectRoot is the project as a whole.
	PlaceProjectRoot Place = "project_root"
	// PlaceGit is a .git directory, or inside one.
	PlaceGit Place = "git"
	// PlaceProject is below the project's root.
	PlaceProject Place = "project"
	// PlaceTempRoot is a directory of temporary files as a whole.
	PlaceTempRoot Place = "temp_root"
	// PlaceTemp is a named file or directory among the temporary ones.
	PlaceTemp Place = "temp"
	// PlaceOther is none of these.
	PlaceOther Place = "other"
	// PlaceUnknown is a path of which nothing is known.
	PlaceUnknown Place = "unknown"
)

// systemDirs are the directories that hold the machine's own files.
var systemDirs = []string{
	"/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
	"/home", "/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/nix", "/snap", "/lost+found", "/dev",
}

var tempDirs = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}

// PlaceOf is where an absolute, clean path lies. A glob is where everything it
// can match lies: one whose last part is `*` or `**` means its directory as a
// whole. The second result says what secrets a file of that name holds.
func (at ShellAt) PlaceOf(p string) (Place, string) {
	return at.place(p), secretOf(p, at)
}

func (at ShellAt) place(p string) Place {
	whole, below := wholeOf(p)
	if whole == "" || whole[0] != '/' {
		return PlaceUnknown
	}
	if !below && at.project(whole) && inGit(whole) {
		return PlaceGit
	}
	switch {
	case whole == "/" && !below:
		return PlaceRoot
	case isUnder("/dev", whole) && !isUnder("/dev/shm", whole):
		return PlaceDevice
	case at.project(whole):
		return at.inProject(whole, below)
	case whole == at.Home && whole != "" && !below:
		return PlaceHome // also one among the temporary files
	case at.temp(whole):
		return tempPlace(at, whole, below)
	case at.Home != "" && isUnder(whole, at.Home):
		if below && whole != at.Home {
			return PlaceSystem
		}
		if below {
			return PlaceUser
		}
		if whole == at.Home || whole == "/home" || whole == "/Users" {
			return PlaceHome
		}
		return PlaceSystem
	case at.Root != "" && isUnder(whole, at.Root) && !below:
		return PlaceAbove
	case at.Home != "" && at.Home != "/" && isUnder(at.Home, whole):
		return userPlace(strings.TrimPrefix(whole[len(at.Home):], "/"))
	}
	for _, dir := range systemDirs {
		if isUnder(dir, whole) {
			return PlaceSystem
		}
	}
	if below && whole == "/" {
		return PlaceSystem
	}
	return PlaceOther
}

// cacheDirs are the directories below the home whose contents are made anew.
var cacheDirs = []string{
	".cache", ".npm/_cacache", ".npm/_npx", "Library/Caches", ".gradle/caches", ".cargo/registry", "go/pkg/mod", ".m2/repository", ".nuget/packages", ".yarn/cache",
	".pnpm-store", ".local/share/pnpm/store", ".local/share/Trash", ".Trash", ".bun/install/cache", ".expo", ".android/build-cache",
}

// userPlace is where a path below the home lies.
func userPlace(rel string) Place {
	for _, dir := range cacheDirs {
		if isUnder(dir, rel) {
			return PlaceCache
		}
	}
	return PlaceUser
}

// project reports whether p is the project or below it. A project that is the
// home itself, holds it, or is where temporary files go is none: what lies in
// it is not the project's alone.
func (at ShellAt) project(p string) bool {
	if at.Root == "" || at.Root == "/" || at.Home != "" && isUnder(at.Root, at.Home) {
		return false
	}
	for _, dir := range tempDirs {
		if at.Root == dir {
			return false
		}
	}
	return at.Root != at.Temp && isUnder(at.Root, p)
}

func (at ShellAt) inProject(whole string, below bool) Place {
	if whole == at.Root && !below {
		return PlaceProjectRoot
	}
	return PlaceProject
}

func (at ShellAt) temp(p string) bool {
	for _, dir := range tempDirs {
		if isUnder(dir, p) {
			return true
		}
	}
	return at.Temp != "" && at.Temp != "/" && isUnder(at.Temp, p)
}

func tempPlace(at ShellAt, whole string, below bool) Place {
	if below {
		return PlaceTemp
	}
	for _, dir := range tempDirs {
		if whole == dir {
			return PlaceTempRoot
		}
	}
	if whole == at.Temp {
		return PlaceTempRoot
	}
	return PlaceTemp
}

// isUnder reports whether p is dir or lies below it. Both are clean.
func isUnder(dir, p string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// inGit reports whether p is a repository's .git or inside one. A lock that a
// crashed git left behind is no part of the repository.
func inGit(p string) bool {
	i := strings.Index(p+"/", "/.git/")
	return i >= 0 && !strings.HasSuffix(p, ".lock")
}

const globChars = "*?["

// wholeOf splits a path at its first part that is a glob. below is true when
// the glob means only some of what is in the directory.
func wholeOf(p string) (dir string, below bool) {
	i := strings.IndexAny(p, globChars)
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
		if strings.Trim(part, "*?.!") != "" && part != "[!.]*" && part != "[^.]*" {
			return dir, true
		}
		if !strings.Contains(part, "*") {
			return dir, true
		}
	}
	return dir, false
}

// secretNames are base names of files that hold secrets wherever they lie.
var secretNames = map[string]string{
	".netrc": "password", "_netrc": "password", ".git-credentials": "password", ".pgpass": "password", ".my.cnf": "password",
	".npmrc": "token", ".pypirc": "token", ".vault-token": "token", ".dockercfg": "token", ".boto": "cloud-credentials", ".s3cfg": "cloud-credentials",
	"credentials.json": "cloud-credentials", "application_default_credentials.json": "cloud-credentials", "service-account.json": "cloud-credentials",
	"service_account.json": "cloud-credentials", "credentials.tfrc.json": "token", "kubeconfig": "kubeconfig",
	"id_rsa": "ssh-key", "id_dsa": "ssh-key", "id_ecdsa": "ssh-key", "id_ed25519": "ssh-key", "id_ed25519_sk": "ssh-key", "id_ecdsa_sk": "ssh-key",
	".htpasswd": "password", "secring.gpg": "gpg-key", "Login Data": "browser", "cookies.sqlite": "browser", "logins.json": "browser", "key4.db": "browser",
	"wallet.dat": "wallet", "master.key": "key", ".envrc": "env-file",
}

// secretPaths are places of secrets below the home.
var secretPaths = []struct{ path, what string }{
	{".ssh", "ssh-key"}, {".aws", "cloud-credentials"}, {".azure", "cloud-credentials"}, {".config/gcloud", "cloud-credentials"},
	{".gnupg", "gpg-key"}, {".kube", "kubeconfig"}, {".docker/config.json", "token"}, {".config/gh", "token"}, {".config/hub", "token"},
	{".config/op", "password"}, {".password-store", "password"}, {".local/share/keyrings", "password"}, {"Library/Keychains", "password"},
	{".config/doctl", "cloud-credentials"}, {".oci", "cloud-credentials"}, {".terraform.d", "token"}, {".cargo/credentials.toml", "token"},
	{".cargo/credentials", "token"}, {".gem/credentials", "token"}, {".m2/settings.xml", "password"}, {".mozilla", "browser"},
	{".config/google-chrome", "browser"}, {".claude/.credentials.json", "token"}, {".codex/auth.json", "token"}, {".config/rclone", "password"},
}

var secretSystem = []string{"/etc/shadow", "/etc/gshadow", "/etc/master.passwd", "/etc/ssl/private", "/var/run/secrets", "/run/secrets", "/etc/kubernetes/admin.conf"}

// publicNames are the files beside secrets that are none.
var publicNames = map[string]bool{"known_hosts": true, "known_hosts.old": true, "authorized_keys": true, "config": true, "environment": true, "rc": true}

// secretOf says what secrets a path holds, "" for none that is known.
func secretOf(p string, at ShellAt) string {
	base := path.Base(p)
	if what := secretBase(base); what != "" {
		return what
	}
	for _, dir := range secretSystem {
		if isUnder(dir, p) || isUnder("/private"+dir, p) {
			return "password"
		}
	}
	if strings.HasPrefix(p, "/proc/") && base == "environ" {
		return "environment"
	}
	if strings.HasPrefix(p, "/etc/ssh/ssh_host_") && !strings.HasSuffix(p, ".pub") {
		return "ssh-key"
	}
	for _, home := range []string{at.Home, "/root"} {
		if home == "" || !isUnder(home, p) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, home), "/")
		for _, s := range secretPaths {
			if isUnder(s.path, rel) {
				return secretIn(s.path, s.what, base)
			}
		}
	}
	return ""
}

// secretIn is secretOf for a file in a directory of secrets.
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

// secretBase is secretOf by the base name alone.
func secretBase(base string) string {
	if what := secretNames[base]; what != "" {
		return what
	}
	lower := strings.ToLower(base)
	switch {
	case lower == ".env" || strings.HasPrefix(lower, ".env.") || strings.HasSuffix(lower, ".env"):
		return envFile(lower)
	case strings.HasSuffix(lower, ".key") || strings.HasSuffix(lower, ".p12") || strings.HasSuffix(lower, ".pfx") ||
		strings.HasSuffix(lower, ".keystore") || strings.HasSuffix(lower, ".jks") || strings.HasSuffix(lower, ".ppk") || strings.HasSuffix(lower, ".kdbx"):
		return "key"
	case strings.HasSuffix(lower, ".pem") && (strings.Contains(lower, "key") || strings.Contains(lower, "priv")):
		return "key"
	}
	return ""
}

// envFile tells files of variables from the templates that are checked in.
func envFile(base string) string {
	for _, mark := range []string{"example", "sample", "template", "dist", "schema", "defaults"} {
		if strings.Contains(base, mark) {
			return ""
		}
	}
	return "env-file"
}
