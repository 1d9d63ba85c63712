package harm

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// ThrownAway reports whether what a command does is done to what this machine makes again: the command
// names this machine, a local container or a folder that is made again, and nothing else, and the thing is
// called a throw-away one, or may be called as it likes.
func ThrownAway(s *shell.Line, e *shell.Effect) bool {
	c := &s.Commands[e.Command]
	words := append(shell.WordTexts(c.Argv[min(1, len(c.Argv)):]), environment(c)...)
	switch {
	case Dry(c), (e.Domain == shell.DomainOutside || e.Domain == shell.DomainDatabase) && (strings.HasSuffix(c.Name, "lint") || strings.HasSuffix(c.Name, "-format") || len(words) > 0 && words[0] == "lint" && (e.Domain == shell.DomainOutside || c.Name == "sqlfluff")):
		return true
	case c.Name == "duckdb" && len(words) == 2 && words[0] == "-c", c.Name == "meson", c.Name == "dotnet" && len(words) > 1 && words[1] == "locals":
		return true
	case losses.In(c.Name, "restic kopia borg"):
		restores := lists.Has(words, "restore") && some(words, func(w string) bool { return temporary(strings.TrimPrefix(w, "--target=")) })
		if restores || c.Name == "kopia" && lists.Has(words, "expire") && !lists.Has(words, "--delete") {
			return true
		}
	case c.Name == "git":
		return gitThrownAway(s, e, words)
	case losses.In(c.Name, "awslocal tflocal samlocal cdklocal"), c.Name == "aws" && lists.Has(words, "--generate-cli-skeleton"):
		return true
	case strings.HasPrefix(c.Host, "ssh:"):
		return false
	case c.Name == "clickhouse-local" && !losses.Holds(strings.Join(words, " "), "--path", "infile", "outfile"), losses.In(c.Name, "ip iptables nft") && ownNetwork(s, c),
		losses.In(c.Name, "pip pip3") && strings.Contains(c.Argv[0].Text, "/") && c.Argv[0].Text[0] != '/' && !strings.Contains(c.Argv[0].Text, ".."), strings.HasPrefix(c.Host, "container:") && madeHere(s.Commands[:e.Command], "docker", strings.TrimPrefix(c.Host, "container:")):
		return true
	case shell.WordIn("pg_virtualenv", strings.Join(c.Via, " ")), e.Domain == shell.DomainSystem && strings.HasPrefix(c.Host, "image:"), e.Domain == shell.DomainOutside && strings.HasPrefix(c.Host, "image:") && losses.Holds(c.Host, "shellcheck", "lint", "checkov", "trivy"), started(s, c, words), c.Conditional && ownCluster(s.Commands[:e.Command+1]):
		return true
	}
	named := e.Op == "publish"
	here := !named && (strings.HasPrefix(c.Host, "container:") || losses.In(c.Name, "kind k3d ctlptl minikube docker podman docker-compose podman-compose compose avdmanager emulator simctl incus lxc limactl multipass"))
	named = named || has(strings.TrimPrefix(c.Host, "container:"), thrown) || filtered(s, c, e) || ownThing(s, e, c) || losses.In(c.Name, "redis-cli valkey-cli") && composed(s, c)
	here = here || losses.In(c.Name, "createdb dropdb dropuser") || c.Name == "mc" && aliased(s, e.Target)
	for i, w := range append(words, e.Target) {
		before := ""
		if i > 0 && i < len(words) {
			before = words[i-1]
		}
		name, value, set := spell.Cut(w, "=")
		if !set {
			name, value = before, w
		}
		place := strings.HasPrefix(value, "/tmp/") || strings.HasPrefix(value, "$(mktemp") || inMade(strings.Split(value, "/")) && !strings.HasPrefix(value, "/")
		local := losses.IsLocal(losses.AddressHost(value)) || losses.Holds(w, "localhost", "127.0.0.1", "file:./tmp", "file:./test", "::file:") || len(w) > 1 && w[0] == ':' && w[1] >= '0' && w[1] <= '9'
		if !local && !place && losses.In(name, "-h --host PGHOST MYSQL_HOST REDIS_HOST") {
			return false
		}
		repository := !strings.HasPrefix(value, "-") && losses.In(name, "-r --repo -D --pgdata --data-dir --datadir --dbpath PGDATA")
		switch {
		case repository && !(place && !strings.Contains(value, "..")):
			return false
		case repository, place && losses.In(path.Ext(value), ".db .duckdb .sqlite .sqlite3"), losses.Holds(w, "sqlite:////tmp/", "sqlite:///:memory:", "ephemeralclient("), w == "UseDevelopmentStorage=true",
			place && (losses.In(c.Name, "psql dropdb") && name == "-h" || losses.In(c.Name, "redis-cli valkey-cli") && name == "-s"),
			local && (strings.HasPrefix(name, "--endpoint") || name == "AWS_ENDPOINT_URL" || strings.HasSuffix(name, "_EMULATOR_HOST") || strings.HasPrefix(w, "redis://") && len(path.Base(w)) == 2 || losses.In(c.Name, "grpcurl evans")),
			e.Domain == shell.DomainDatabase && losses.In(name, "-e --env --environment RAILS_ENV APP_ENV") && losses.In(value, "local test testing dev development ci"),
			losses.In(c.Name, "redis-cli valkey-cli") && name == "-n" && len(value) == 2 && !lists.Has(words, "-h"), c.Name == "tc" && name == "dev" && value == "lo":
			here, named = true, true
		case losses.In(name, "--context --kube-context --kubecontext") && localCluster(value):
			here, named = true, true
		case local, strings.HasPrefix(w, "local/"):
			here = true
		case strings.Contains(w, "://") && !strings.HasPrefix(w, "s3://"), has(w, serves):
			return false
		}
		named = named || has(w, thrown) || strings.Contains(w, "$$") || strings.Contains(w, "$RANDOM") || c.Name == "security" && w == "build.keychain"
	}
	return named && (here || c.Name == "security")
}

// composed reports whether a command works in a container of the project's own services.
func composed(s *shell.Line, c *shell.Command) bool {
	service := strings.TrimPrefix(c.Host, "container:")
	return service != c.Host && !shell.AnyCommand(s.Commands, func(other *shell.Command) bool {
		words := shell.WordTexts(other.Argv)
		if !losses.In(other.Name, "docker podman docker-compose podman-compose nerdctl") {
			return false
		}
		compose := strings.HasSuffix(other.Name, "-compose") || len(words) > 1 && words[1] == "compose"
		return !compose || !lists.Has(words, service) || some(words, func(w string) bool { return has(w, serves) || strings.Contains(w, "://") })
	})
}

// filtered reports whether the things of a command are found by a mark that tests put on them, and by
// nothing else.
func filtered(s *shell.Line, c *shell.Command, e *shell.Effect) bool {
	found := false
	for i := range s.Commands {
		words := shell.WordTexts(s.Commands[i].Argv)
		if len(words) > 1 && words[1] == "run" && losses.In(s.Commands[i].Name, "docker podman nerdctl") && i+1 < len(s.Commands) && e.Target == "$("+s.Commands[i+1].Name+")" && s.Commands[i+1].Offset == s.Commands[i].Offset {
			found = true // a container's id
		}
		if e.Target != "$("+c.Name+")" || s.Commands[i].Name != c.Name || len(words) < 2 || &s.Commands[i] == c || losses.In(words[1], "exec cp logs start stop rm tag push pull build") {
			continue
		}
		own := losses.In(words[1], "create run") || len(words) == 3 && words[1] == "volume" && words[2] == "create"
		if !own && !some(words, func(w string) bool { return losses.Holds(w, "label=", "name=") && has(w, thrown) }) {
			return false
		}
		found = true
	}
	return found
}

// ownThing reports whether an earlier command of the line made, under the name that comes last in a command,
// what that command takes away, on this machine.
func ownThing(s *shell.Line, e *shell.Effect, c *shell.Command) bool {
	return losses.In(c.Name, "docker podman kind k3d ctlptl minikube lxc incus multipass") && c.Host == "" && madeHere(s.Commands[:e.Command], c.Name, c.Argv[len(c.Argv)-1].Text)
}

// madeHere reports whether one of some commands has a program make a thing of a name, on this machine.
func madeHere(commands []shell.Command, program, name string) bool {
	return len(name) > 2 && name[0] != '-' && shell.AnyCommand(commands, func(d *shell.Command) bool {
		words := shell.WordTexts(d.Argv)
		if d.Name != program || d.Host != "" || !some(words, func(w string) bool { return losses.In(w, "create run launch init start") }) {
			return false
		}
		at := slices.IndexFunc(words, func(w string) bool { return w == name || w == "--name="+name })
		return at > 1 && losses.In(words[at-1], "--name -n -p create launch init") || at > 1 && words[at] != name
	})
}

// ownNetwork reports whether a command has a network of its own.
func ownNetwork(s *shell.Line, c *shell.Command) bool {
	return lists.Has(c.Via, "unshare") && shell.AnyCommand(s.Commands, func(d *shell.Command) bool {
		return d.Name == "unshare" && d.Offset == c.Offset && len(d.Argv) > 1 && some(shell.WordTexts(d.Argv[1:]), func(w string) bool {
			return w == "--net" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "n")
		})
	})
}

// aliased reports whether the line says that what stands before the first slash is on this machine.
func aliased(s *shell.Line, target string) bool {
	alias, _, _ := spell.Cut(target, "/")
	return shell.AnyCommand(s.Commands, func(c *shell.Command) bool {
		words := shell.WordTexts(c.Argv)
		return c.Name == "mc" && len(words) > 4 && words[1] == "alias" && words[3] == alias && losses.IsLocal(losses.AddressHost(words[4]))
	})
}

// started reports whether the line itself starts, at a port that is none of the usual, the server
// that a command talks to on this machine.
func started(s *shell.Line, c *shell.Command, words []string) bool {
	ports := map[string]bool{}
	for _, w := range words {
		if strings.Contains(w, "://") && !losses.IsLocal(losses.AddressHost(w[strings.IndexByte(w, '=')+1:])) || has(w, serves) {
			return false
		}
		for _, n := range numbers(w) {
			ports[n] = len(n) > 3 && len(n) < 6 && !losses.In(n, "6379 5432 3306 27017 2379 8200 9000 9092 4222 11211 8500")
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return losses.In(w, "-h --host") }); i >= 0 && i+1 < len(words) && !losses.IsLocal(words[i+1]) && words[i+1] != "/tmp" {
		return false
	}
	return shell.AnyCommand(s.Commands, func(d *shell.Command) bool {
		runs := losses.In(d.Name, "docker podman") && len(d.Argv) > 1 && d.Argv[1].Is("run")
		return (runs || losses.In(d.Name, "redis-server valkey-server etcd vault mongod mysqld postgres pg_ctl memcached nats-server consul minio")) && d.Host == c.Host && some(shell.WordTexts(d.Argv), func(w string) bool {
			return some(numbers(w), func(n string) bool { return ports[n] })
		})
	})
}

// ownCluster reports whether the last of some commands works in a cluster that one before it made and that all
// since it mean.
func ownCluster(commands []shell.Command) bool {
	made, settings := false, "--kubeconfig none"
	for i := range commands {
		switch words := append(shell.WordTexts(commands[i].Argv), environment(&commands[i])...); {
		case losses.In(commands[i].Name, "kind k3d minikube ctlptl"):
			if at := slices.Index(words, "--kubeconfig"); at > 0 && at+1 < len(words) && !made {
				settings = strings.Join(words[at:at+2], " ")
			}
			made = made || len(words) > 1 && (losses.In(words[1], "create start") || words[1] == "cluster" && lists.Has(words, "create"))
		case made && losses.Holds(strings.ReplaceAll(strings.Join(words, " "), settings, ""), "context", "kubeconfig", "get-credentials", "kubectx", "profile"):
			return false
		}
	}
	return made && losses.In(commands[len(commands)-1].Name, "kubectl helm oc k")
}

// temporary reports whether a folder lies among those of temporary files, or mktemp made it.
func temporary(dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir && !strings.HasPrefix(real, "/private/") {
		return false
	}
	return (strings.HasPrefix(dir, "/tmp/") || strings.HasPrefix(dir, "/var/tmp/") || strings.HasPrefix(dir, "$(mktemp")) && !strings.Contains(dir, "..")
}

// gitThrownAway reports whether git pushes to a folder that is thrown away, deletes by pattern what is
// ignored and made again, or works in a folder of temporary files: on what lies there, or on branches
// and history of a repository that the line made there, as others may share those.
func gitThrownAway(s *shell.Line, e *shell.Effect, words []string) bool {
	dir, c := "", &s.Commands[e.Command]
	if of, below, _ := spell.Cut(strings.TrimPrefix(c.Dir, "/tmp/tmp."), "/"); strings.HasPrefix(c.Dir, "/tmp/tmp.XX") && strings.Trim(of, "X") == "" && (below == "" || c.Conditional) {
		dir = c.Dir
	} else if c.Conditional && temporary(c.Dir) && shell.AnyCommand(s.Commands[:e.Command], func(d *shell.Command) bool {
		return d.Name == "git" && len(d.Argv) > 2 && d.Argv[1].Is("init", "clone") && d.Argv[len(d.Argv)-1].Text == c.Dir
	}) {
		dir = c.Dir
	}
	for len(words) > 2 && losses.In(words[0], "-C -c") {
		switch {
		case words[0] == "-C" && (dir == "" || dir == c.Dir) && strings.HasPrefix(words[1], "/"):
			dir = words[1]
		case words[0] == "-C", !strings.HasPrefix(words[1], "user."):
			return false
		}
		words = words[2:]
	}
	if len(words) > 2 && e.Op == "worktree-remove" {
		dir = words[len(words)-1]
	}
	elsewhere := some(words, func(w string) bool { return losses.Holds(w, "--git-dir", "--work-tree", "git_") })
	if temporary(dir) && !elsewhere && !shell.AnyCommand(s.Commands, func(c *shell.Command) bool { return c.Name == "ln" }) {
		return losses.In(e.Op, "reset-hard checkout-force switch-force discard-changes clean worktree-remove") ||
			!strings.HasPrefix(e.Op, "push") && shell.AnyCommand(s.Commands[:e.Command], func(c *shell.Command) bool {
				words := shell.WordTexts(c.Argv)
				return c.Name == "git" && (lists.Has(words, dir) || c.Dir == dir) && (lists.Has(words, "init") || lists.Has(words, "clone")) && !lists.Has(words, "worktree")
			})
	}
	if len(words) < 3 {
		return false
	}
	i := slices.IndexFunc(words, func(w string) bool { return w == "--" || w != "clean" && w[:min(1, len(w))] != "-" })
	if i > 0 && words[0] == "clean" {
		flags := strings.Join(words[1:i], " ")
		if words[i] != "--" {
			i--
		}
		return strings.Contains(flags, "X") && !strings.ContainsAny(flags, "xe") && i+1 < len(words) && !some(words[i+1:], func(w string) bool {
			return strings.Contains(w, "..") || !inMade(strings.Split(w, "/")) && !losses.Holds(w, ".pyc", "__pycache__", "node_modules", ".class", "/dist", "/build", ".tsbuildinfo")
		})
	}
	i = slices.IndexFunc(words, func(w string) bool {
		return (strings.HasPrefix(w, "/tmp/") || strings.HasPrefix(w, "$(mktemp") || inMade(strings.Split(w, "/"))) && !strings.Contains(w, "..")
	})
	return i > 0 && words[0] == "push" && losses.In(words[i-1], "push -q --quiet -f --force -u --mirror --all")
}

// some is slices.ContainsFunc, which would be here many times over.
//
//go:noinline
func some(list []string, is func(string) bool) bool { return slices.ContainsFunc(list, is) }

// numbers are the numbers in a text.
//
//go:noinline
func numbers(w string) []string {
	return strings.FieldsFunc(w, func(r rune) bool { return r < '0' || r > '9' })
}

// localCluster reports whether a context's name is that of a cluster on this machine.
func localCluster(name string) bool {
	return losses.In(name, "minikube docker-desktop rancher-desktop orbstack colima kind") || strings.HasPrefix(name, "kind-") || strings.HasPrefix(name, "k3d-")
}

// has reports whether a word in a name is one that is asked for.
//
//go:noinline
func has(name string, is func(word string) bool) bool {
	return slices.ContainsFunc(losses.Tokens(name), is)
}

// serves reports whether a word in a name says that others use the thing.
func serves(word string) bool {
	return losses.In(word, "prod production prd live remote staging")
}

// thrown reports whether a word in a name says that the thing is made to be thrown away.
func thrown(word string) bool {
	return losses.In(word, "test tests testing tmp temp it itest e2e ci scratch throwaway integration sandbox dummy fixture ephemeral testcontainers smoke")
}

// Volume reports whether a path lies in a volume of containers that is called a throw-away one.
func Volume(p string) bool {
	name, below, _ := spell.Cut(strings.TrimPrefix(p, "/var/lib/docker/volumes/"), "/")
	return strings.HasPrefix(p, "/var/lib/docker/volumes/") && below != "" && has(name, thrown)
}

// namesOnly are commands that print names, counts or sums of what they read, and no values.
var namesOnly = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:cut (?:.* )?(?:-d ?= (?:.* )?-f ?1 |-f ?1 (?:.* )?-d ?= )|awk -F ?= [^{]*\{ ?print (?:(?:"[^$"]*"|\$1|FILENAME|F?NR)[ ,]*)+\}|sed (?:-E |-r |-e )?s/=\.[*+]/\S*/\S* ` +
		`|sed -n[Er]? s/[^/]*[^(/]=\.\*/(?:\\\d|[^/\\&])*/p |grep (?:-\w*[cqL]\w* |-\w*E?o\w* \^(?:\(export \)\?)?(?:\[\^[=:]+\][*+]|(?:\[[A-Z_]+-?[A-Z_]*\])?\[[A-Z0-9_-]+\][*+]|(?:\[[\w-]+\])?\[[\w-]+\][*+][=:])[=:]? |-\w*o\w* \^\\\[\[\^\\?\]\][+*]\\\] .*` +
		`|(?:-[Ehn]+ )*\^\\\[[^ |]* [^-]*$)|awk (?:-F ?\S+ )?/\^\\\[[^/|]*/ ?(?:\{ ?print(?: \$\d)? ?\})? |[jy]q (?:-\w+ )*[.\w\[\]" ]*\|? ?(?:keys(?:_unsorted)?(?:\[\])?|(?:map(?:_values)?\((?:@base64d ?\| ?)?)?length\)?|(?:\.\[\] ?\| ?)?split\("="\) ?(?:\| ?\.)?\[0\]) ` +
		`|jq (?:-\w+ )*(?:\.data\.metadata(?: ?\| ?\{[\w, ]*\})? |(?:\{?(?:\w+: ?)?\.data\.(?:ttl|policies(?:\[\])?|expire_time|renewable|creation_time),? ?)+\}? )|wc |(?:sha\d+|md5|b2)sum )`)
})

// harmlessColumns are those of a Secret that hold no value of it.
var harmlessColumns = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:-o|--output=)?jsonpath=\{\.(?:data\.(?:tls|ca)\\\.crt|type|metadata\.(?:creationTimestamp|name|namespace|uid|labels[\w.]*))\}$|^(?:-o|--output=)?custom-columns=(?:[\w -]+:\.(?:metadata\.(?:name|namespace|creationTimestamp|uid|labels[\w.]*)|type|kind),?)+$`)
})

// NamesOnly reports whether what a command reads goes through one that prints no values of it.
func NamesOnly(s *shell.Line, e *shell.Effect) bool {
	c := &s.Commands[e.Command]
	if lists.Has(c.Flags, "--only-names") || losses.In(c.Name, "kubectl oc k") && some(shell.WordTexts(c.Argv), harmlessColumns().MatchString) {
		return true
	}
	lines := e.Secret == "" || losses.In(e.Secret, "env-file environment cloud-credentials token cluster-secret") || strings.HasSuffix(e.Target, ".env") // and not a key's
	return shell.AnyCommand(s.Commands, func(d *shell.Command) bool {
		if len(d.Argv) == 0 || !lines && losses.In(d.Name, "cut awk sed") || !lines && d.Name == "grep" && strings.Contains(d.Argv[min(1, len(d.Argv)-1)].Text, "o") {
			return false
		}
		same := c.Pipe > 0 && d.Pipe == c.Pipe && (d.Stage >= c.Stage || e.Secret == "environment" || e.Target == "environment" || e.Op == "read-secret")
		return (same || c.Pipe == 0 && d.Offset == c.Offset && d.Name == c.Name) && namesOnly().MatchString(d.Name+" "+strings.Join(shell.WordTexts(d.Argv[1:]), " ")+" ")
	})
}

// Given reports whether what a command prints becomes a variable of one program, which uses it.
func Given(s *shell.Line, command int) bool {
	c := &s.Commands[command]
	if losses.In(c.Name, "gh glab") && len(c.Argv) > 2 && c.Argv[1].Is("secret", "variable") && c.Argv[2].Is("set") {
		return true // kept where secrets are
	}
	return lists.Has(c.Via, "substitution") && shell.AnyCommand(s.Commands, func(d *shell.Command) bool {
		return len(d.Argv) > 0 && !losses.Languages()[d.Name] && !losses.In(shell.Versionless(d.Name), "echo printf printenv env sh bash zsh dash ksh fish eval python node deno bun ruby perl php tee cat awk npx") &&
			slices.ContainsFunc(d.Env, func(v shell.Assign) bool {
				return strings.HasPrefix(v.Value.Text, "$("+c.Name) || strings.HasPrefix(v.Value.Text, "$(< ") && c.Name == "cat"
			})
	})
}

// known are programs that one of their name in a folder of users' own would hide.
var known = losses.Words("sh bash dash zsh ls cat cp mv rm ln grep sed awk find tar curl wget git ssh scp sudo su doas env python python3 node npm npx go docker podman make gcc cc ld perl ruby ps kill vim vi nano less man which login passwd hookc claude codex gemini gpg openssl systemctl apt brew")

// programDirs are where a program would be hidden or replaced; what a variable says is no matter.
var programDirs = []string{"/usr/local/bin/", "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/sbin/", "/opt/homebrew/bin/", "/snap/bin/"}

// Installs reports whether a command puts new programs or headers, which it names, where users add them.
func Installs(s *shell.Line, e *shell.Effect) bool {
	c := &s.Commands[e.Command]
	in := slices.IndexFunc([]string{"/usr/local/bin", "/usr/local/include"}, func(dir string) bool { return losses.IsUnder(dir, e.Target) })
	if in < 0 || e.Host != "" || !losses.In(c.Name, "cp mv install tar curl wget ln") {
		return false
	}
	names := []string{path.Base(e.Target)}
	if in == 0 && e.Target == "/usr/local/bin" {
		names = nil
		for i, w := range c.Argv[1:] {
			if !strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text, "0123456789") != "" && strings.TrimRight(w.Text, "/") != e.Target && !(i > 0 && losses.In(c.Argv[i].Text, "-C -t --directory -f xzf -xzf xf -xf -zxf zxf -o --strip-components")) {
				names = append(names, path.Base(w.Text))
			}
		}
	}
	return len(names) > 0 && !some(names, func(name string) bool {
		there := some(programDirs, func(dir string) bool { _, err := os.Lstat(dir + name); return err == nil })
		return there || known()[name] || strings.ContainsAny(name, "*?$")
	})
}
