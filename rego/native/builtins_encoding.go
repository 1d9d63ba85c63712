package native

import (
	"crypto/sha256"
	"encoding/base64"
)

var encodingBuiltins = []own{
	{"base64.decode", 1, func() Builtin { return decode64 }},
	{"base64.is_valid", 1, func() Builtin { return valid64 }},
	{"crypto.sha256", 1, func() Builtin { return changeText(sha256Hex) }},
	{"json.unmarshal", 1, func() Builtin { return unmarshalJSON }},
	{"json.is_valid", 1, func() Builtin { return validJSON }},
}

func decode64(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	b, err := base64.StdEncoding.DecodeString(s)
	if !ok || err != nil {
		return bail()
	}
	return string(b), true, nil
}

func valid64(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	if !ok {
		return false, true, nil
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil, true, nil
}

func sha256Hex(s string) string {
	const hex = "0123456789abcdef"
	var out [2 * sha256.Size]byte
	for i, c := range sha256.Sum256([]byte(s)) {
		out[2*i], out[2*i+1] = hex[c>>4], hex[c&15]
	}
	return string(out[:])
}

// jsonOf is what a text holds, as ParseJSON reads it. Of a number with a long
// exponent, and of what ParseJSON does not read, OPA is asked.
func jsonOf(v Value) (Value, bool) {
	s, _ := v.(string)
	out, longExponent, ok := readJSON([]byte(s))
	return out, ok && !longExponent
}

func unmarshalJSON(_ *Call, args []Value) (Value, bool, error) {
	v, ok := jsonOf(args[0])
	if !ok {
		return bail()
	}
	return v, true, nil
}

func validJSON(_ *Call, args []Value) (Value, bool, error) {
	if _, ok := jsonOf(args[0]); !ok {
		return bail()
	}
	return true, true, nil
}
