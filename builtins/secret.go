package builtins

import (
	"github.com/hookc/hookc/builtins/secret"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "secret.find", Params: []Param{{Name: "s", Type: str}}, Result: policy.ListType, World: policy.WorldNone,
	Call: func(args []any) (any, error) {
		found, err := secret.Find(text(args[0]))
		if err != nil {
			return nil, fault.Errorf("secret.find: %w", err)
		}
		out := make([]any, len(found))
		for i, f := range found {
			out[i] = map[string]any{"rule": f.Rule, "from": f.From, "to": f.To, "preview": f.Preview}
		}
		return out, nil
	},
	Doc: "the keys, tokens and private keys that s holds, by the rules of gitleaks: rule, from and to (bytes), preview (its first characters)",
	Examples: []Example{
		{Call: `secret.find("key AKIAIQKWP5GZ7ZRNLOEV end")`, Want: []any{
			map[string]any{"rule": "aws-access-token", "from": 4, "to": 24, "preview": "AKIA…"}}},
		{Call: `secret.find("the key is in $AWS_ACCESS_KEY_ID")`, Want: []any{}},
	},
})

var _ = register(Func{
	Name: "secret.redact", Params: []Param{{Name: "value", Type: policy.AnyType}}, Result: policy.AnyType, World: policy.WorldNone,
	Call: func(args []any) (any, error) {
		out, _, err := secret.Redact(args[0])
		if err != nil {
			return nil, fault.Errorf("secret.redact: %w", err)
		}
		return out, nil
	},
	Doc: "value with every secret that secret.find finds replaced by its kind, in its text or in each text inside it",
	Examples: []Example{
		{Call: `secret.redact("key AKIAIQKWP5GZ7ZRNLOEV end")`, Want: "key [aws-access-token] end"},
		{Call: `secret.redact({"n": 1, "out": ["AKIAIQKWP5GZ7ZRNLOEV"]})`, Want: map[string]any{"n": 1, "out": []any{"[aws-access-token]"}}},
	},
})
