package policy

// Memo returns what compute makes of c for a derived field, computed on first
// use, at most once per Context, whoever asks: the form in which Go code reads
// a field whose JSON value is dear to make. compute may read c, but not its
// Memo of any field.
func (c *Context) Memo(f Field, compute func(*Context) any) any {
	s := c.slots
	s.memoMu.Lock()
	defer s.memoMu.Unlock()
	v, ok := s.memo[f]
	if !ok {
		v = compute(c)
		if s.memo == nil {
			s.memo = map[Field]any{}
		}
		s.memo[f] = v
	}
	return v
}

// recall gives c what Memo computed of from for a field, if it did: a
// projection that has the field whole need not compute it again.
func (c *Context) recall(from *Context, f Field) {
	from.slots.memoMu.Lock()
	defer from.slots.memoMu.Unlock()
	if v, ok := from.slots.memo[f]; ok {
		if c.slots.memo == nil {
			c.slots.memo = map[Field]any{}
		}
		c.slots.memo[f] = v
	}
}
