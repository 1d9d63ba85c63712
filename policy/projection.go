package policy

import (
	"slices"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/scan"
)

// Projection says which parts of an event are read, so that decoding need not
// make the others: an event that carries the whole conversation costs little
// when the rules look at the command alone. It is immutable and safe for
// concurrent use.
type Projection struct {
	whole bool
	// fields says how much of each field is wanted, keys the members of an
	// object of which not all is.
	fields [numFields]extent
	keys   [numFields][]string
}

type extent uint8

const (
	absent extent = iota
	members
	entire
)

// WholeProjection wants everything that was sent.
func WholeProjection() *Projection { return &Projection{whole: true} }

// NewProjection wants what is read at the paths of reads, the whole of each
// field that writes names, because its final value is told whole, and what
// every hook sees. A derived field means its inputs.
func NewProjection(reads, writes Paths) *Projection {
	p := &Projection{}
	for f := range numFields {
		if f.Spec().Always {
			p.fields[f] = entire
		}
	}
	for _, path := range NewPaths(reads.list...).list {
		p.want(path)
	}
	for _, path := range writes.list {
		p.want(Path{Field: path.Field})
	}
	return p
}

func (p *Projection) want(path Path) {
	f := path.Field
	switch {
	case f.Derived(), p.fields[f] == entire:
	case len(path.Keys) == 0:
		p.fields[f], p.keys[f] = entire, nil
	default:
		p.fields[f] = members
		if !lists.Has(p.keys[f], path.Keys[0]) {
			p.keys[f] = append(p.keys[f], path.Keys[0])
		}
	}
}

// DecodeFor is DecodeContext of nothing but what is wanted, Frozen for event e: it
// returns the same values, and refuses what DecodeContext refuses, except that keys
// repeated inside what is not wanted go unseen. Fields that are not wanted are
// absent. The name is the one that was sent. Texts that last has too are not made again;
// it may be nil. One that is spare is no event any more afterwards, whatever c is.
func (p *Projection) DecodeFor(e Event, data []byte, last *Context) (c *Context, event string, err error) {
	if !p.whole {
		d := projector{want: p, Reader: newScanner(data), last: last, over: last != nil && last.spare}
		if i, known := eventIndex[e]; known {
			d.carries = &carries[i]
		}
		if d.begin(); d.read() {
			event = d.c.Text(FieldEvent)
			d.c.named(e) // what it does not carry is in raw
			return d.c, event, nil
		}
	}
	// What is wrong, or odd, is looked at in full.
	if c, event, err = DecodeContext(data); err != nil {
		return nil, event, err
	}
	c.freeze(e)
	if !p.whole {
		mark := c.frozen.Load()
		c = p.reduce(c)
		c.frozen.Store(mark)
	}
	return c, event, nil
}

// Spare says that nobody holds an event any more: DecodeFor takes its memory for the next.
func Spare(c *Context) { c.spare = true }

// Peek is the text of field f in an event of which nothing else is looked at,
// "" where it cannot be told at a glance. It is a guess, to choose by what the
// event is then decoded for: neither what follows the field nor whether it is
// there twice is looked at.
func Peek(data []byte, f Field) string {
	d := projector{Reader: newScanner(data)}
	if d.Space() != '{' {
		return ""
	}
	for next := d.Open(0); next == scan.Again; next = d.More('}') {
		key, ok := d.name()
		if !ok {
			return ""
		}
		named, known := fieldOf(key)
		if known && named == f && d.Space() == '"' {
			text, _ := d.Text()
			return text
		}
		if !known && !utf8.Valid(key) || !d.Skip(1) {
			return ""
		}
	}
	return ""
}

// fieldOf is the field that a key of an event means, hosts' other names for
// fields included.
func fieldOf(key []byte) (Field, bool) {
	if f := fieldNear[near(key)]; f.Spec().Name == string(key) {
		return f, true
	}
	f, known := fieldByName[string(key)]
	if !known {
		f, known = hostAliases[string(key)]
	}
	return f, known
}

// fieldNear has most fields by something cheap of their names.
var fieldNear = func() (at [256]Field) {
	for f := range numFields {
		at[near(f.Spec().Name)] = f
	}
	return at
}()

func near[T string | []byte](name T) uint8 {
	if len(name) < 4 {
		return 0
	}
	return name[0] + 3*name[len(name)-3] + 7*name[len(name)-1] + 31*uint8(len(name))
}

// reduce takes away what is not wanted.
func (p *Projection) reduce(c *Context) *Context {
	out := &Context{}
	for f := range numFields {
		v, ok := c.values[f], c.has[f]
		m, object := v.(map[string]any)
		switch {
		case !ok || p.fields[f] == absent:
			continue
		case p.fields[f] == members && object:
			few := map[string]any{}
			for _, k := range p.keys[f] {
				if v, ok := m[k]; ok {
					few[k] = v
				}
			}
			if v = few; f == FieldRaw && len(few) == 0 {
				continue
			}
		}
		out.put(f, v)
	}
	return out
}

// projector reads one event.
type projector struct {
	scan.Reader
	want *Projection
	c    *Context
	// last is an event before, or nil, and had which fields it has; c is over it, or new.
	last *Context
	had  [numFields]bool
	over bool
	seen [numFields]bool
	// carries is what the event carries, nil for everything; the rest is raw.
	carries *[numFields]bool
	// odd are the keys that name no field, to find repeated ones.
	odd []string
	raw map[string]any
}

// begin makes c empty, but for the values of fields that it had.
func (d *projector) begin() {
	if d.last != nil {
		d.had = d.last.has
	}
	if d.c = d.last; !d.over {
		d.c = &Context{}
		return
	}
	d.c.has, d.c.done, d.c.names, d.c.err, d.c.memo, d.c.spare = [numFields]bool{}, [numFields]bool{}, nil, nil, nil, false
	d.c.frozen.Store(0)
}

// read reads the object; false leaves it to DecodeContext, for whatever
// reason.
func (d *projector) read() bool {
	if d.over {
		defer func() {
			for f, had := range d.had {
				if had && !d.c.has[f] {
					d.c.values[f] = nil
				}
			}
		}()
	}
	if d.Space() != '{' {
		return false
	}
	for next := d.Open(0); next != scan.Closed; next = d.More('}') {
		if next == scan.Broken || !d.member() {
			return false
		}
	}
	if len(d.raw) > 0 {
		d.c.put(FieldRaw, d.raw)
	}
	return d.End()
}

// member reads one key of the event and its value. Two names of one field, and
// the views of tool_input, are left to DecodeContext.
func (d *projector) member() bool {
	key, ok := d.name()
	if !ok {
		return false
	}
	f, known := fieldOf(key)
	switch {
	case !known:
		return utf8.Valid(key) && spell.Meant(string(key), "tool_input", "tool_arguments") == "" && d.unnamed(string(key))
	case f.Derived(), f == FieldRaw, d.seen[f]:
		return false
	}
	d.seen[f] = true
	first := d.Space()
	if first == 'n' {
		return d.Word("null")
	}
	if !f.Spec().Type.begins(first) {
		return false
	}
	if d.carries != nil && !d.carries[f] {
		return d.unnamed(string(key))
	}
	return d.field(f, first)
}

func (d *projector) field(f Field, first byte) bool {
	switch {
	case d.want.fields[f] == absent:
		return d.Skip(1)
	case d.want.fields[f] == members && first == '{':
		var out map[string]any
		if d.over && d.had[f] {
			out, _ = d.last.values[f].(map[string]any)
		}
		if clear(out); out == nil {
			out = make(map[string]any, len(d.want.keys[f]))
		}
		d.c.put(f, out)
		return d.some(d.want.keys[f], out)
	case d.had[f] && first == '"':
		was, _ := d.last.values[f].(string)
		begin := d.At
		plain, ok := d.SkipText()
		if ok && plain && string(d.Data[begin+1:d.At-1]) == was && utf8.ValidString(was) {
			d.c.put(f, d.last.values[f])
			return true
		}
		d.At = begin
	}
	v, ok := d.Value(1)
	if ok {
		d.c.put(f, v)
	}
	return ok
}

// name reads a key without making a string of it. One with escapes is left to
// DecodeContext, as is one that is not UTF-8.
func (d *projector) name() ([]byte, bool) {
	if d.Space() != '"' {
		return nil, false
	}
	start := d.At + 1
	plain, ok := d.SkipText()
	if !ok || !plain {
		return nil, false
	}
	key := d.Data[start : d.At-1]
	if d.Space() != ':' {
		return nil, false
	}
	d.At++
	return key, true
}

// unnamed reads a key that names no field. An event has few of them.
func (d *projector) unnamed(key string) bool {
	const most = 64
	if len(d.odd) == most || lists.Has(d.odd, key) {
		return false
	}
	d.odd = append(d.odd, key)
	first := d.Space()
	switch wanted := d.want.fields[FieldRaw]; {
	case first == 'n':
		return d.Word("null")
	case wanted == absent, wanted == members && !lists.Has(d.want.keys[FieldRaw], key):
		return d.Skip(1)
	}
	v, ok := d.Value(1)
	if d.raw == nil {
		d.raw = map[string]any{}
	}
	d.raw[key] = v
	return ok
}

// some reads the wanted members of an object.
func (d *projector) some(keys []string, out map[string]any) bool {
	for next := d.Open(1); next != scan.Closed; next = d.More('}') {
		if next == scan.Broken {
			return false
		}
		key, ok := d.name()
		if !ok {
			return false
		}
		i := slices.Index(keys, string(key))
		if i < 0 {
			if !utf8.Valid(key) || !d.Skip(2) {
				return false
			}
			continue
		}
		if _, twice := out[keys[i]]; twice {
			return false
		}
		if out[keys[i]], ok = d.Value(2); !ok {
			return false
		}
	}
	return true
}

// begins reports whether a value of the type may begin with c.
func (t FieldType) begins(c byte) bool {
	switch t {
	case StringType:
		return c == '"'
	case NumberType:
		return c == '-' || c >= '0' && c <= '9'
	case BoolType:
		return c == 't' || c == 'f'
	case ObjectType:
		return c == '{'
	case ListType:
		return c == '['
	}
	return true
}
