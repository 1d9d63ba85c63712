package policy

// carries holds for each event which of the fields that are sent it carries;
// what is derived follows from those.
var carries = func() [][numFields]bool {
	out := make([][numFields]bool, len(eventSpecs))
	for i := range eventSpecs {
		for f := range numFields {
			out[i][f] = f.Derived() || eventSpecs[i].CanRead(f)
		}
	}
	return out
}()

// carried is c without the fields that event e does not carry.
func (c *Context) carried(e Event) *Context {
	beyond := c.beyond(e)
	if len(beyond) == 0 {
		return c
	}
	out := c.clone()
	for _, f := range beyond {
		out.put(f, nil)
	}
	return out
}

// Carry returns c, as event e left it, with the fields that e does not carry
// as they are in before: what a pipeline goes on with.
func (c *Context) Carry(before *Context, e Event) *Context {
	var p Patch
	for _, f := range before.beyond(e) {
		p = p.Then(Replace(Path{Field: f}, before.values[f]))
	}
	return c.With(p)
}

// beyond lists the fields of c that event e does not carry. An event of the
// host's own carries all.
func (c *Context) beyond(e Event) []Field {
	i, known := eventIndex[e]
	if !known {
		return nil
	}
	var out []Field
	for f, carried := range carries[i] {
		if !carried && c.has[f] {
			out = append(out, Field(f))
		}
	}
	return out
}
