package native

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

var encodingBuiltins = []own{
	{"base64.encode", 1, func() Builtin { return encoding(base64.StdEncoding.EncodeToString) }},
	{"base64.decode", 1, func() Builtin { return onText(decode64) }},
	{"base64.is_valid", 1, func() Builtin { return valid64 }},
	{"base64url.encode", 1, func() Builtin { return encoding(base64.URLEncoding.EncodeToString) }},
	{"base64url.encode_no_pad", 1, func() Builtin { return encoding(base64.RawURLEncoding.EncodeToString) }},
	{"base64url.decode", 1, func() Builtin { return onText(decodeURL64) }},
	{"hex.encode", 1, func() Builtin { return encoding(encodeHex) }},
	{"hex.decode", 1, func() Builtin { return onText(decodeHex) }},
	{"urlquery.encode", 1, func() Builtin { return changeText(encodeQuery) }},
	{"urlquery.decode", 1, func() Builtin { return onText(decodeQuery) }},
	{"crypto.sha256", 1, func() Builtin {
		return encoding(func(b []byte) string {
			hashed := sha256.Sum256(b)
			return encodeHex(hashed[:])
		})
	}},
}

func encoding(f func(b []byte) string) Builtin {
	return onText(func(s string) (Value, bool, error) { return f([]byte(s)), true, nil })
}

func decode64(s string) (Value, bool, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
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

// decodeURL64 takes texts with padding and without.
func decodeURL64(s string) (Value, bool, error) {
	if !strings.HasSuffix(s, "=") {
		if len(s)%4 == 1 {
			return bail()
		}
		s += "=="[:(4-len(s)%4)%4]
	}
	b, err := base64.URLEncoding.DecodeString(s)
	if err != nil {
		return bail()
	}
	return string(b), true, nil
}

func encodeHex(b []byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, hex[c>>4], hex[c&15])
	}
	return string(out)
}

func decodeHex(s string) (Value, bool, error) {
	if len(s)%2 == 1 {
		return bail()
	}
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		high, ok1 := hexDigit(s[i])
		low, ok2 := hexDigit(s[i+1])
		if !ok1 || !ok2 {
			return bail()
		}
		out = append(out, high<<4|low)
	}
	return string(out), true, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// encodeQuery escapes all but letters, digits and - _ . ~; a blank is a plus.
func encodeQuery(s string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			out.WriteByte(c)
		case c == ' ':
			out.WriteByte('+')
		default:
			out.WriteByte('%')
			out.WriteByte(hex[c>>4])
			out.WriteByte(hex[c&15])
		}
	}
	return out.String()
}

func decodeQuery(s string) (Value, bool, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+2 >= len(s) {
				return bail()
			}
			high, ok1 := hexDigit(s[i+1])
			low, ok2 := hexDigit(s[i+2])
			if !ok1 || !ok2 {
				return bail()
			}
			out = append(out, high<<4|low)
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out), true, nil
}
