package harm

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
)

// ThrownAway reports whether what a command does is done to what this machine makes again: the command
// names this machine, a local container or a folder that is made again, and nothing else, and the thing is
// called a throw-away one, or may be called as it likes.
func ThrownAway(s *shell.Line, e *shell.Effect) bool {
	c := &s.Commands[e.Command]
	words := append(shell.WordTexts(c.Argv[min(1, len(c.Argv)):]), environment(c)...)
	switch {
	case c.Name == "git":
		return gitThrownAway(words)
	case losses.In(c.Name, "awslocal tflocal samlocal cdklocal"), c.Name == "aws" && slices.Contains(words, "--generate-cli-skeleton"):
		return true
	case strings.HasPrefix(c.Host, "ssh:"):
		return false
	}
	named := e.Op == "publish"
	here := !named && (strings.HasPrefix(c.Host, "container:") || losses.In(c.Name, "kind k3d minikube docker podman docker-compose podman-compose compose avdmanager emulator simctl incus lxc limactl multipass"))
	named = named || has(strings.TrimPrefix(c.Host, "container:"), thrown) || filtered(s, c, e) || losses.In(c.Name, "redis-cli valkey-cli") && composed(s, c)
	for i, w := range append(words, e.Target) {
		before := ""
		if i > 0 && i < len(words) {
			before = words[i-1]
		}
		name, value, set := strings.Cut(w, "=")
		if !set {
			name, value = before, w
		}
		place := strings.HasPrefix(value, "/tmp/") || strings.HasPrefix(value, "$(mktemp") || inMade(strings.Split(value, "/")) && !strings.HasPrefix(value, "/")
		local := losses.IsLocal(losses.AddressHost(value)) || losses.Holds(w, "localhost", "127.0.0.1", "file:./tmp", "file:./test", "::file:") || len(w) > 1 && w[0] == ':' && w[1] >= '0' && w[1] <= '9'
		repository := losses.In(name, "-r --repo -D --pgdata --data-dir --datadir --dbpath PGDATA")
		switch {
		case repository && !(place && !strings.Contains(value, "..")):
			return false
		case repository, place && losses.In(path.Ext(value), ".db .duckdb .sqlite .sqlite3"), losses.Holds(w, "sqlite:////tmp/", "sqlite:///:memory:", "ephemeralclient("),
			local && (strings.HasPrefix(name, "--endpoint") || name == "AWS_ENDPOINT_URL" || losses.In(c.Name, "grpcurl evans")),
			e.Domain == shell.DomainDatabase && losses.In(name, "-e --env --environment RAILS_ENV APP_ENV") && losses.In(value, "local test testing dev development ci"),
			losses.In(c.Name, "redis-cli valkey-cli") && name == "-n" && len(value) == 2 && !slices.Contains(words, "-h"), c.Name == "tc" && name == "dev" && value == "lo":
			here, named = true, true
		case local, losses.In(name, "--context --kube-context --kubecontext") && localCluster(value), strings.HasPrefix(w, "local/"):
			here = true
		case strings.Contains(w, "://") && !strings.HasPrefix(w, "s3://"), has(w, serves):
			return false
		}
		named = named || has(w, thrown) || c.Name == "security" && w == "build.keychain"
	}
	return named && (here || c.Name == "security")
}

// composed reports whether a command works in a container of the project's own services.
func composed(s *shell.Line, c *shell.Command) bool {
	service := strings.TrimPrefix(c.Host, "container:")
	return service != c.Host && !slices.ContainsFunc(s.Commands, func(other shell.Command) bool {
		words := shell.WordTexts(other.Argv)
		if !losses.In(other.Name, "docker podman docker-compose podman-compose nerdctl") {
			return false
		}
		compose := strings.HasSuffix(other.Name, "-compose") || len(words) > 1 && words[1] == "compose"
		return !compose || !slices.Contains(words, service) || slices.ContainsFunc(words, func(w string) bool { return has(w, serves) || strings.Contains(w, "://") })
	})
}

// filtered reports whether the things of a command are found by a mark that tests put on them, and by
// nothing else.
func filtered(s *shell.Line, c *shell.Command, e *shell.Effect) bool {
	return e.Target == "$("+c.Name+")" && !slices.ContainsFunc(s.Commands, func(other shell.Command) bool {
		words := shell.WordTexts(other.Argv)
		return other.Name == c.Name && len(words) > 1 && losses.In(words[1], "ps ls list container volume network images") && !slices.ContainsFunc(words, func(w string) bool {
			return losses.Holds(w, "label=", "name=") && has(w, thrown)
		})
	})
}

// gitThrownAway reports whether git pushes to a folder that is thrown away, or deletes by pattern what is
// ignored and made again.
func gitThrownAway(words []string) bool {
	if len(words) < 3 {
		return false
	}
	if i := slices.Index(words, "--"); i > 0 && words[0] == "clean" {
		flags := strings.Join(words[1:i], " ")
		return strings.Contains(flags, "X") && !strings.ContainsAny(flags, "xe") && i+1 < len(words) && !slices.ContainsFunc(words[i+1:], func(w string) bool {
			return strings.Contains(w, "..") || !losses.Holds(w, ".pyc", "__pycache__", "node_modules", ".class", "/dist", "/build", ".tsbuildinfo")
		})
	}
	i := slices.IndexFunc(words, func(w string) bool {
		return (strings.HasPrefix(w, "/tmp/") || strings.HasPrefix(w, "$(mktemp") || inMade(strings.Split(w, "/"))) && !strings.Contains(w, "..")
	})
	return i > 0 && words[0] == "push" && losses.In(words[i-1], "push -q --quiet -f --force -u --mirror --all")
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
	return losses.In(word, "test tests testing tmp temp it itest e2e ci scratch throwaway integration sandbox dummy fixture ephemeral testcontainers")
}
