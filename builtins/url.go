package builtins

import (
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "url.host", Params: []Param{{Name: "address", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(losses.Host(text(args[0]))) },
	Doc:  "the host of an address, in lower case, without port and without a final dot; undefined when it has none",
	Examples: []Example{
		{Call: `url.host("https://API.Example.com:8443/v1?q=1")`, Want: "api.example.com"},
		{Call: `url.host("http://user@[::1]:80/")`, Want: "::1"},
	},
})
