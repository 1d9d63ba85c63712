package native

var encodingBuiltins = []own{
	{"json.unmarshal", 1, func() Builtin { return unmarshalJSON }},
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
