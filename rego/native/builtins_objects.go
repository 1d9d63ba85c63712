package native

var objectsBuiltins = []own{
	{"object.keys", 1, func() Builtin { return objectKeys }},
	{"object.remove", 2, func() Builtin { return selectKeys(false) }},
	{"object.filter", 2, func() Builtin { return selectKeys(true) }},
	{"object.union", 2, func() Builtin { return objectUnion }},
	{"object.get", 3, func() Builtin { return objectGet }},
}

func objectGet(_ *Call, args []Value) (Value, bool, error) {
	if !isObject(args[0]) {
		return bail()
	}
	path, ok := args[1].([]Value)
	if !ok {
		return orElse(args[0], args[1], args[2])
	}
	v := args[0]
	for _, key := range path {
		found, ok := Get(v, key)
		if !ok {
			return args[2], true, nil
		}
		if _, ok := v.(*Set); ok && !identical(found, key) {
			return bail()
		}
		v = found
	}
	return v, true, nil
}

func orElse(v, key, other Value) (Value, bool, error) {
	if found, ok := Get(v, key); ok {
		return found, true, nil
	}
	return other, true, nil
}

func objectKeys(_ *Call, args []Value) (Value, bool, error) {
	if !isObject(args[0]) {
		return bail()
	}
	return NewSet(Keys(args[0])...), true, nil
}

// selectKeys keeps an object's keys that are in an array, a set or an object,
// or those that are not. A key that is written otherwise there is left to OPA.
func selectKeys(kept bool) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		var keys *Set
		switch x := args[1].(type) {
		case []Value:
			keys = NewSet(x...)
		case *Set:
			keys = x
		default:
			if !isObject(x) {
				return bail()
			}
			keys = NewSet(Keys(x)...)
		}
		if !isObject(args[0]) {
			return bail()
		}
		out, same := NewObject(), true
		Each(args[0], func(k, v Value) bool {
			there, ok := keys.Get(k)
			same = !ok || identical(k, there)
			if ok == kept {
				out.Put(k, v)
			}
			return same
		})
		if !same {
			return bail()
		}
		return out, true, nil
	}
}

func objectUnion(_ *Call, args []Value) (Value, bool, error) {
	switch {
	case !isObject(args[0]) || !isObject(args[1]):
		return bail()
	case Len(args[0]) == 0:
		return args[1], true, nil
	case Len(args[1]) == 0 || Equal(args[0], args[1]):
		return args[0], true, nil
	}
	out, ok := overwrite(args[0], args[1])
	if !ok {
		return bail()
	}
	return out, true, nil
}

// overwrite is a with what b has, objects in both merged alike. Keys that are
// written apart, and those of which OPA's own objects lose track, are left to
// it.
func overwrite(a, b Value) (*Object, bool) {
	out := copyObject(a)
	for _, p := range pairsOf(b) {
		old, there := out.Get(p.key)
		if !there {
			out.Put(p.key, p.value)
			continue
		}
		if _, ok := p.key.(string); !ok {
			return nil, false
		}
		if !isObject(old) || !isObject(p.value) {
			out.Put(p.key, p.value)
			continue
		}
		merged, ok := overwrite(old, p.value)
		if !ok {
			return nil, false
		}
		out.Put(p.key, merged)
	}
	return out, true
}
