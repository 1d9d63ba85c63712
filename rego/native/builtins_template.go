package native

var templateBuiltins = []own{
	{"internal.template_string", 1, func() Builtin { return template }},
}

// template joins the parts of a template string: texts, and sets of what an
// expression gave, which is one value or none. internal.print is the host's:
// what it prints is for it to show.
func template(_ *Call, args []Value) (Value, bool, error) {
	parts, ok := args[0].([]Value)
	if !ok {
		return bail()
	}
	b := make([]byte, 0, 64)
	for _, part := range parts {
		if set, ok := part.(*Set); ok {
			switch set.Len() {
			case 0:
				b = append(b, "<undefined>"...)
				continue
			case 1:
				b = appendPart(b, set.Elems()[0])
				continue
			}
			return bail()
		}
		switch kindOf(part) {
		case kindNull, kindBool, kindNumber, kindString:
			b = appendPart(b, part)
		default:
			return bail()
		}
	}
	return string(b), true, nil
}

func appendPart(b []byte, v Value) []byte {
	if s, ok := v.(string); ok {
		return append(b, s...)
	}
	return AppendText(b, v)
}
