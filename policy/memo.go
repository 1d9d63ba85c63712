package policy

// Memo returns what compute makes of c for a derived field, computed on first
// use, at most once per Context, whoever asks: the form in which Go code reads
// a field whose JSON value is dear to make. compute may read c, but not its
// Memo of any field.
func (c *Context) Memo(f Field, compute func(*Context) any) any {
	if c == nil {
		return compute(nil)
	}
	c.memoMu.Lock()
	defer c.memoMu.Unlock()
	v, ok := c.memo[f]
	if !ok {
		v = compute(c)
		if c.memo == nil {
			c.memo = map[Field]any{}
		}
		c.memo[f] = v
	}
	return v
}

// recall gives c what Memo computed of from for a field, if it did: a
// projection that has the field whole need not compute it again.
func (c *Context) recall(from *Context, f Field) {
	from.memoMu.Lock()
	v, ok := from.memo[f]
	from.memoMu.Unlock()
	if ok {
		c.Memo(f, func(*Context) any { return v })
	}
}
