package losses

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Mutation is the verb in the text of a request that destroys something: that of a call of
// GraphQL, "action": "delete", cmd=wipe.
func Mutation(text string) (verb string) {
	for _, mark := range [...]string{"Target:", "mutation"} {
		_, rest, _ := spell.Cut(text, mark)
		for word := range strings.FieldsFuncSeq(rest[:min(len(rest), 200)], func(r rune) bool { return strings.ContainsRune(` "{}().,:`, r) }) {
			if v, object := Verb(word); Destroys()[v] && len(object) > 0 {
				verb = v
			}
		}
	}
	if m := bodyFlag().FindStringSubmatch(text); m != nil {
		return strings.ToLower(lists.First(m[1], m[2], m[4], "open")) // "is-destroy": true, <delete>, "private": false
	}
	for _, m := range bodyVerb().FindAllStringSubmatch(text, 8) {
		if v, _ := Verb(strings.ToLower(m[1])); Destroys()[v] {
			verb = v
		}
	}
	return verb
}

var (
	codeRequest = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\.?(?:method|type|verb|customrequest|request)\W{1,6}delete\b|(?:\.|->)delete(?:_async|json)?\s*\(|http(?:::|\.)?delete\b|(?m:^delete\s+https?://)|\.(?:post|put|patch|request)\w*\s*\(`)
	})
	bodyFlag = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)["'&?{,\s](?:is-?_?|force-?_?)?(destroy|delete|purge|wipe|drop|archived?|unload|remove)(?:[_-]?(?:all|index|everything|instance\w*|missing|indices|files|data))?["']?\s*[=:]\s*(?:true\b|\{|\[)|<(delete)>|(?:destructive_requires_name)\W+(false)|^(archived)=true|["']?\bprivate["']?\s*[:=]\s*(false)|["']?\bvisibility["']?\s*[:=]\s*["']?(public)\b`)
	})
	bodyVerb = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:action|method|op|operation|cmd|command|method-override)["']?\s*[=:]\s*["']?([a-z_-]+)`)
	})
	codeAddress = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`https?://[^\s'"` + "`" + `)\\]+|(?:Net::HTTP.{0,40}?|\bhost(?:name)?\W{1,4})['"]([\w.-]+)`)
	})
)

// Requests finds the requests to other machines that text makes, whichever the language:
// what they do, http-delete or post, and where.
func Requests(text string) (op string, addresses []string) {
	if !strings.Contains(text, "http") && !strings.Contains(text, "HTTP") && !strings.Contains(text, "Http") {
		return "", nil
	}
	for _, made := range codeRequest().FindAllString(text, -1) {
		if op = "post"; strings.Contains(strings.ToLower(made), "delete") {
			op = "http-delete"
			break
		}
	}
	for _, at := range codeAddress().FindAllStringSubmatch(text, 8) {
		addresses = append(addresses, lists.First(at[1], at[0]))
	}
	return op, addresses
}

// ServesCluster reports whether a path is one of the interface of a cluster, wherever it is reached.
func ServesCluster(path string) bool {
	return strings.HasPrefix(path, "/apis/") || strings.HasPrefix(path, "/api/v1/namespaces") || strings.HasPrefix(path, "/api/v1/nodes") || strings.HasPrefix(path, "/api/v1/persistentvolumes")
}

// ServesContainers reports whether a path is one of the interface of a runtime of containers.
func ServesContainers(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/")[:min(3, strings.Count(path, "/")+1)], func(part string) bool {
		return In(part, "containers volumes images networks services secrets swarm libpod")
	})
}

// Host reads an address as net/url does. An address with a backslash has
// none: browsers and clients disagree about where its host ends.
func Host(address string) (string, bool) {
	if strings.Contains(address, `\`) {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", false
	}
	h := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return h, h != ""
}

// AddressHost is the host of an address that may lack its scheme.
func AddressHost(address string) string {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if h, ok := Host(address); ok {
		return h
	}
	u, err := url.Parse(strings.Map(func(r rune) rune {
		if r <= ' ' || r == '$' || r == '"' {
			return -1
		}
		return r
	}, address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// RemoteHost is the host of an address, or of user@host:path.
func RemoteHost(t string) string {
	if strings.Contains(t, "://") {
		return AddressHost(t)
	}
	return HostOf(t)
}

// HostOf is the host in user@host:path.
func HostOf(target string) string {
	_, after, ok := spell.Cut(target, "@")
	if ok {
		target = after
	}
	host, _, _ := spell.Cut(target, ":")
	return host
}
