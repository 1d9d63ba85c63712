package builtins

import (
	"net/url"
	"strings"

	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "url.host", Params: []Param{param("address")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(host(text(args[0]))) },
	Doc:  "the host of an address, in lower case, without port and without a final dot; undefined when it has none",
	Examples: []Example{
		{Call: `url.host("https://API.Example.com:8443/v1?q=1")`, Want: "api.example.com"},
		{Call: `url.host("http://user@[::1]:80/")`, Want: "::1"},
	},
})

// host reads an address as net/url does. An address with a backslash has
// none: browsers and clients disagree about where its host ends.
func host(address string) (string, bool) {
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
