package policy

import (
	"maps"

	"github.com/hookc/hookc/internal/lists"
)

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

// carried is c with what event e does not carry in raw.
func (c *Context) carried(e Event) *Context {
	if len(c.beyond(e)) == 0 {
		return c
	}
	out := c.clone()
	out.setAside(e)
	return out
}

// setAside moves the fields that event e does not carry to raw, under the names they
// were sent by; where raw has one of those already, what was there is in raw.raw.
func (c *Context) setAside(e Event) {
	beyond := c.beyond(e)
	if len(beyond) == 0 {
		return
	}
	sent, _ := c.values[FieldRaw].(map[string]any)
	raw, taken := map[string]any{}, false
	for _, f := range beyond {
		name := lists.First(c.names[f], f.String())
		raw[name] = c.values[f]
		_, own := sent[name]
		taken = taken || own
		c.put(f, nil)
	}
	if taken {
		raw[FieldRaw.String()] = sent
	} else {
		maps.Copy(raw, sent)
	}
	c.put(FieldRaw, raw)
}

// Carry returns c, as event e left it, with the fields that e does not carry
// as they are in before: what a pipeline goes on with.
func (c *Context) Carry(before *Context, e Event) *Context {
	var p Patch
	for _, f := range before.beyond(e) {
		p = p.Then(Replace(Path{Field: f}, before.values[f])).Then(Replace(Path{Field: FieldRaw}, before.values[FieldRaw]))
	}
	return c.With(p)
}

// beyond lists the fields of c that event e does not carry. An event of the
// host's own carries all.
func (c *Context) beyond(e Event) []Field {
	i, known := eventIndex[e]
	if !known || c == nil {
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
