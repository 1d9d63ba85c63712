package native

// usage says which locals of a function are read where, so that what nobody
// reads is not written.
type usage struct {
	fn *Func
	// total counts reads in the function, here those in the block at hand.
	total, here []int32
	// exposed are the locals that some block may read before it writes them.
	exposed bits
	// entered is the block at hand.
	entered *Block
}

func newUsage(fn *Func) usage {
	counts := make([]int32, 2*fn.Locals)
	u := usage{fn: fn, total: counts[:fn.Locals], here: counts[fn.Locals:], exposed: newBits(fn.Locals)}
	written := newBits(fn.Locals)
	for i := range fn.Blocks {
		count(&fn.Blocks[i], u.total, 1)
		clear(written)
		u.expose(&fn.Blocks[i], written)
	}
	u.total[fn.Return]++
	u.exposed.set(fn.Return)
	return u
}

// enter begins one of the function's own blocks.
func (u *usage) enter(b *Block) {
	if u.entered != nil {
		count(u.entered, u.here, -1)
	}
	count(b, u.here, 1)
	u.entered = b
}

// once reports whether a local that was just written is read in one place of
// the block and nowhere else: if that is the next statement, it need not be
// written.
func (u *usage) once(t Local) bool {
	return t > DataLocal && u.here[t] == 1 && !u.exposed.has(t)
}

// dead reports whether nobody reads a local.
func (u *usage) dead(t Local) bool { return t > DataLocal && u.total[t] == 0 }

// count adds by for each read of a local in b.
func count(b *Block, into []int32, by int32) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		reads(s, func(n int32) { into[n] += by })
		for j := range s.Blocks {
			count(&s.Blocks[j], into, by)
		}
	}
}

// expose adds what b reads before written, which it extends, has it.
func (u *usage) expose(b *Block, written bits) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		reads(s, func(n int32) {
			if !written.has(Local(n)) {
				u.exposed.set(Local(n))
			}
		})
		if s.Op == OpScan {
			inner := written.clone()
			inner.set(Local(s.B.N))
			inner.set(s.Target)
			u.expose(&s.Blocks[0], inner)
			continue
		}
		for j := range s.Blocks {
			u.expose(&s.Blocks[j], written.clone())
		}
		if shapes[s.Op].writes && s.Target >= 0 {
			written.set(s.Target)
		}
	}
}

// reads yields the locals that a statement itself reads.
func reads(s *Stmt, yield func(n int32)) {
	shape := &shapes[s.Op]
	if shape.a && !s.A.Const {
		yield(s.A.N)
	}
	if shape.b && !s.B.Const {
		yield(s.B.N)
	}
	if shape.changes {
		yield(int32(s.Target))
	}
	for _, o := range s.Args {
		if !o.Const {
			yield(o.N)
		}
	}
	for _, o := range s.Keys {
		if !o.Const {
			yield(o.N)
		}
	}
}

// bits is a set of locals.
type bits []uint64

func newBits(n int32) bits { return make(bits, (n+63)/64) }

func (b bits) set(n Local)      { b[n/64] |= 1 << (n % 64) }
func (b bits) has(n Local) bool { return b[n/64]&(1<<(n%64)) != 0 }
func (b bits) clone() bits      { return append(bits(nil), b...) }
