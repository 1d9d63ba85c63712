package table

// Lookup finds what of the event is at a path: a field and keys below it. text is
// its JSON, of which every key is ASCII and none is there twice; it is not
// present below what is no object. ok is false where that is left to hookc.
func (a *Answer) Lookup(field int, keys []string) (text []byte, present, ok bool) {
	e := a.e
	if e == nil || field >= Fields {
		return nil, false, false
	}
	v := e.values[field]
	switch {
	case field == FieldToolName && len(v.text) == 0 && len(e.name) > 0: // the agent's name of the event says it
		v = Value{quoted(e.name)}
	case len(v.text) == 0:
		return nil, false, field != FieldCwd && field != FieldProjectRoot // which hookc fills in
	case field == FieldToolInput && len(keys) == 0 && len(e.moved) > 0:
		return nil, false, false
	case field == FieldToolInput && len(keys) > 0:
		if !e.open() {
			return nil, false, false
		}
		v, keys = get(e.inputs, keys[0]), keys[1:]
	}
	for ; len(keys) > 0 && v.kind() == '{'; keys = keys[1:] {
		members, whole := object(v.text, make([]member, 0, 8))
		if !whole {
			return nil, false, false
		}
		v = get(members, keys[0])
	}
	return v.text, len(keys) == 0 && len(v.text) > 0, true
}

// Nested reports whether a member of the call's input may have members of its own.
func (a *Answer) Nested() bool { return a.e != nil && a.e.open() && a.e.nested() }

func quoted(name []byte) []byte { return append(append([]byte{'"'}, name...), '"') }

// Tool is the name of the tool that is called, nil if there is none.
func (a *Answer) Tool() []byte {
	if a.e == nil {
		return nil
	}
	return a.e.name
}
