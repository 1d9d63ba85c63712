package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/internal/fault"
)

// Context is what a hook may read when an event fires: the fields of
// semantics.md §1.3. Every Context, whoever made it, is read with Get, and with
// what is made of Get (Has, Text, At, Fields, Map), and is filled in with Set;
// With makes a changed one. The zero Context is empty and ready for Set. A
// Context in use is immutable and safe for concurrent reading. A nil Context has
// no field, and what is made of it is no Context that an engine takes.
type Context struct {
	// Values are JSON values as DecodeJSON makes them.
	values [numFields]any
	has    [numFields]bool
	// names are those of hosts that fields were sent by, of fields that have
	// another one here.
	names map[Field]string
	// err is what Set could not take.
	err error
	// spare is that Spare was told of it.
	spare bool

	mu   sync.Mutex
	done [numFields]bool // derived fields already computed
	// frozen is one more than the event that Frozen has made it ready for.
	frozen atomic.Uint32

	memoMu sync.Mutex
	memo   map[Field]any // what Memo computed
}

// ErrNoContext is why an event without a Context cannot be decided.
var ErrNoContext = errors.New("the context is nil: make one with policy.NewContext")

// NewContext returns an empty Context for an event, to be filled in with Set.
func NewContext(e Event) *Context {
	c := &Context{}
	if e != "" {
		c.put(FieldEvent, string(e))
	}
	return c
}

// Set gives a field a value, an empty one included, and returns c. Any Go value
// becomes the JSON value that encoding/json makes of it; null makes the field
// absent. A value that JSON does not have, or that is not of the field's type,
// makes the Context unusable: Err says why, and an engine refuses the event.
// Set is for filling in a Context before it is used; neither it nor the value
// may be changed afterwards.
func (c *Context) Set(f Field, value any) *Context {
	if c == nil {
		return nil // which Err and an engine refuse
	}
	c.frozen.Store(0)
	c.forget()
	v, err := goValues.JSON(value, 1, f.String())
	switch {
	case f.Derived():
		err = fault.Errorf("%s is derived from other fields and cannot be set", f)
	case err == nil && v != nil && !f.Spec().Type.Holds(v):
		err = fault.Errorf("%s must be %s", f, f.Spec().Type.Article())
	}
	if c.err = errors.Join(c.err, err); err == nil {
		c.put(f, v)
	}
	return c
}

// Err is why c cannot be used, nil when it can: it is nil, or Set was given
// what JSON does not have.
func (c *Context) Err() error {
	if c == nil {
		return ErrNoContext
	}
	return c.err
}

// forget drops what was computed of the fields.
func (c *Context) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := FieldToolArguments; f < numFields; f++ {
		c.values[f], c.has[f], c.done[f] = nil, false, false
	}
	c.memoMu.Lock()
	defer c.memoMu.Unlock()
	c.memo = nil
}

// Frozen returns c ready for use: the event and the project root are filled in,
// and a field that the event does not carry is in raw (semantics.md §1.3).
func (c *Context) Frozen(e Event) *Context {
	i, known := eventIndex[e]
	if !known {
		return c.Whole(e).carried(e)
	}
	mark := uint32(i) + 1
	if c != nil && c.frozen.Load() == mark {
		return c
	}
	out := c.Whole(e).carried(e)
	out.frozen.Store(mark)
	return out
}

// Whole is Frozen with the fields that the event does not carry, for what
// goes on to other events.
func (c *Context) Whole(e Event) *Context {
	if c == nil {
		c = &Context{err: ErrNoContext}
	}
	out, own := c, false // own: nobody else holds out yet
	change := func(f Field, value any) {
		if !own {
			out, own = out.clone(), true
		}
		out.put(f, value)
	}
	if v, ok := out.Get(FieldEvent); !ok || v != string(e) {
		change(FieldEvent, string(e))
	}
	if !out.Has(FieldProjectRoot) {
		if cwd := out.Text(FieldCwd); cwd != "" {
			change(FieldProjectRoot, ProjectRoot(cwd))
		}
	}
	return out
}

// freeze makes c, which nobody else holds, what
// Frozen returns.
func (c *Context) freeze(e Event) {
	c.named(e)
	c.setAside(e)
}

// named is freeze of what has nothing that e does not carry.
func (c *Context) named(e Event) {
	if c.Text(FieldEvent) != string(e) {
		c.put(FieldEvent, string(e))
	}
	if !c.has[FieldProjectRoot] {
		if cwd := c.Text(FieldCwd); cwd != "" {
			c.put(FieldProjectRoot, ProjectRoot(cwd))
		}
	}
	if i, known := eventIndex[e]; known {
		c.frozen.Store(uint32(i) + 1)
	}
}

func (c *Context) put(f Field, value any) {
	c.values[f], c.has[f] = value, value != nil
}

func (c *Context) clone() *Context {
	out := &Context{err: c.err, names: c.names}
	copy(out.values[:FieldToolArguments], c.values[:]) // the derived ones follow
	copy(out.has[:FieldToolArguments], c.has[:])
	return out
}

// Get returns a field's value and whether it is present. Derived fields are
// computed on first use, at most once per Context.
func (c *Context) Get(f Field) (any, bool) {
	if c == nil || f.Derived() {
		return c.derived(f)
	}
	return c.values[f], c.has[f]
}

func (c *Context) derived(f Field) (any, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done[f] && !c.has[f] {
		c.done[f] = true
		if provide := providers[f]; provide != nil {
			if v, ok := provide(c); ok {
				c.values[f], c.has[f] = v, true
			}
		}
	}
	return c.values[f], c.has[f]
}

// Has reports whether a field is present.
func (c *Context) Has(f Field) bool {
	_, ok := c.Get(f)
	return ok
}

// Text returns a field that holds a string, "" when it is absent or holds
// anything else.
//
//go:noinline
func (c *Context) Text(f Field) string {
	v, _ := c.Get(f)
	s, _ := v.(string)
	return s
}

// At returns the value at a path and whether it is present.
func (c *Context) At(p Path) (any, bool) {
	v, ok := c.Get(p.Field)
	if !ok || len(p.Keys) == 0 {
		return v, ok
	}
	return lookup(v, p.Keys)
}

// With returns c changed by a patch. c is not changed; derived fields are
// computed again.
func (c *Context) With(p Patch) *Context {
	if c == nil || p.Empty() {
		return c
	}
	out := c.clone()
	for _, e := range p.edits {
		old := out.values[e.Path.Field]
		out.put(e.Path.Field, assign(old, e.Path.Keys, e.Value, e.Delete))
	}
	return out
}

// Project returns what a hook that declared reads may see: those paths, and
// the fields every hook sees. Derived fields named in reads keep the values
// they have in c.
func (c *Context) Project(reads Paths) *Context {
	if c == nil {
		return nil
	}
	out := &Context{}
	for f := range numFields {
		if f.Spec().Always && c.has[f] {
			out.put(f, c.values[f])
		}
	}
	for _, p := range reads.All() {
		v, ok := c.At(p)
		if !ok || p.Field.Spec().Always {
			continue
		}
		out.put(p.Field, assign(out.values[p.Field], p.Keys, v, false))
		if p.Field.Derived() && len(p.Keys) == 0 {
			out.recall(c, p.Field)
		}
	}
	return out
}

// Fields lists the fields that are present and were sent, in the order of the
// vocabulary.
func (c *Context) Fields() []Field {
	if c == nil {
		return nil
	}
	var out []Field
	for f := range numFields {
		if !f.Derived() && c.has[f] {
			out = append(out, f)
		}
	}
	return out
}

// Map returns the present fields by name, as a hook reads them: what the host
// sent, tool_arguments beside tool_input, tool_kind beside tool_name, and the
// derived fields that Project gave it. It does not depend on which derived
// fields have been computed.
func (c *Context) Map() map[string]any {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	has, done := c.has, c.done
	c.mu.Unlock()
	n := 1 // tool_kind may not be known yet
	for _, is := range has {
		if is {
			n++
		}
	}
	out := make(map[string]any, n)
	for f := range numFields {
		if f.Derived() && f != FieldToolArguments && f != FieldToolKind && (!has[f] || done[f]) {
			continue
		}
		if v, ok := c.Get(f); ok {
			out[f.String()] = v
		}
	}
	return out
}

// MarshalJSON is Map as JSON with sorted keys and no HTML escapes.
func (c *Context) MarshalJSON() ([]byte, error) { return EncodeJSON(c.Map()) }

// EncodeJSON is v as compact JSON with sorted keys and no HTML escapes.
func EncodeJSON(v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer func() {
		if e.text.Cap() <= 64<<10 {
			encoders.Put(e)
		}
	}()
	e.text.Reset()
	if err := e.to.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimRight(e.text.Bytes(), "\n")), nil
}

// encoder is what EncodeJSON writes with, and later ones again.
type encoder struct {
	text bytes.Buffer
	to   *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.to = json.NewEncoder(&e.text)
	e.to.SetEscapeHTML(false)
	return e
}}
