// Package directed makes events that are directed at what the rules of a program test,
// so that native code is compared with OPA where it could differ.
package directed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
)

// mostLiterals bounds how many values of one slot a block is tried with: of
// longer lists the first and the last half of it.
const mostLiterals = 256

// MostAlike is how many rules of one shape, which differ in constants only, are
// tried with values near their literals; the others with their literals.
const MostAlike = 32

// mostNear is beside how many literals of a slot values are tried.
const mostNear = 8

// What is tried of a program of many blocks is bounded, for each event is evaluated by
// all of them: allAround and allFound, by the number of its blocks, are how many rules
// of a shape are tried with values near their literals, and how many literals and
// lookups of each rule are.
const (
	allAround  = 2048
	allFound   = 32768
	leastFound = 8
)

// Events are events for a program that are directed at what its rules test:
// of each rule, and each function that it calls, one in which all tests of it
// may hold, and for each slot one with each other literal of it and each key of
// a table that it looks up, with a text, number or type next to a literal, with
// null, and without it. The blocks of not, every and else are tests like others.
//
// Others are literals of the rules that the program does not have, though it
// should: they are tried wherever something is tested.
// Orphans are the tables that it does not have, though it should: each is taken for
// what each table may be meant to be.
func Events(p *native.Program, event policy.Event, others []any, orphans []native.Value, plain func(native.Value) any) *Tries {
	t := &Tries{p: p, plain: plain, nth: map[int][]int{}, orphans: orphans, event: event, seen: map[string]bool{}, alike: map[string]int{}, forms: map[int][]byte{}, pool: map[int32][]any{}}
	t.add(nil)
	for i := range p.Funcs {
		for j := range p.Funcs[i].Blocks {
			for _, w := range t.wants(&p.Funcs[i].Blocks[j]) {
				if have := t.pool[w.slot]; len(w.steps) == 0 && len(have) < mostPooled && !slices.ContainsFunc(have, func(v any) bool { return reflect.DeepEqual(v, w.values[0]) }) {
					t.pool[w.slot] = append(have, w.values[0])
				}
			}
		}
	}
	blocks := 1
	for i := range p.Funcs {
		blocks += len(p.Funcs[i].Blocks)
	}
	near := min(max(allAround/blocks, 1), MostAlike)
	t.most = min(max(allFound/blocks, leastFound), mostFound)
	for i := range p.Funcs {
		for j := range p.Funcs[i].Blocks {
			own := t.wants(&p.Funcs[i].Blocks[j])
			nth := t.shape(&p.Funcs[i].Blocks[j])
			t.nth[i] = append(t.nth[i], nth)
			t.aim = Aim{i, j, nth}
			for k := range own {
				for _, v := range others {
					t.add(choose(own, k, v))
				}
			}
			for _, found := range t.lookups(&p.Funcs[i].Blocks[j]) {
				t.add(append(found, choose(own, -1, nil)...))
			}
			if nth > near {
				t.through(own, nil)
			} else {
				t.around(own, nil)
			}
			if p.Funcs[i].Params > contextParams {
				continue
			}
			for _, c := range callees(p, p.Funcs[i].Blocks[j:j+1]) {
				for k := range p.Funcs[c].Blocks {
					if inner := t.wants(&p.Funcs[c].Blocks[k]); nth > near {
						t.through(inner, own)
					} else {
						t.around(inner, own)
					}
				}
			}
		}
	}
	return t
}

// Tries makes events.
type Tries struct {
	// Events are what was made, aims what each is directed at, aim what the next one
	// is. nth says of the blocks of each function which of its shape it is, from 1 on.
	Events []*policy.Context
	aims   []Aim
	nth    map[int][]int
	aim    Aim

	p     *native.Program
	event policy.Event
	seen  map[string]bool
	alike map[string]int
	forms map[int][]byte
	// most bounds the literals and lookups of one rule.
	most int
	// plain is a value as an event has it.
	plain func(native.Value) any
	// pool are literals of slots, of whatever rule.
	pool map[int32][]any
	// orphans are tables of the rules that the program does not have.
	orphans []native.Value
}

// mostPooled bounds the literals of other rules that a slot is tried with.
const mostPooled = 12

// mostLong bounds the texts that are made for their size.
const mostLong = 1 << 16

// shape is how many blocks of a block's shape there were, with it.
func (t *Tries) shape(b *native.Block) int {
	shape := string(t.shapeOf(b))
	t.alike[shape]++
	return t.alike[shape]
}

// form is a hash of the shapes of a function's blocks: two rules are alike that call
// functions which are.
func (t *Tries) form(fn int) []byte {
	if t.forms[fn] == nil {
		h := sha256.New()
		for j := range t.p.Funcs[fn].Blocks {
			shape := t.shapeOf(&t.p.Funcs[fn].Blocks[j])
			h.Write(binary.AppendVarint(nil, int64(len(shape))))
			h.Write(shape)
		}
		t.forms[fn] = h.Sum(nil)
	}
	return t.forms[fn]
}

func (t *Tries) shapeOf(b *native.Block) []byte {
	var shape []byte
	native.Walk([]native.Block{*b}, func(s *native.Stmt) {
		shape = append(shape, byte(s.Op))
		shape = binary.AppendVarint(shape, int64(s.Target))
		switch s.Op {
		case native.OpInput, native.OpCallBuiltin:
			shape = binary.AppendVarint(shape, int64(s.Index))
		case native.OpCall:
			shape = append(shape, t.form(int(s.Index))...)
		}
		for _, o := range s.Operands() {
			if !o.Const {
				shape = binary.AppendVarint(shape, int64(o.N))
			}
		}
	})
	return shape
}

// through adds events with all wants and with each other literal of one, and another
// text: those of other rules are about what does not hold in it. Where numbers are compared, so do
// those beside them. Others are wanted beside them.
func (t *Tries) through(wants, beside []want) {
	if len(wants) == 0 {
		return
	}
	all := append(lists.Copy(wants), beside...)
	for _, by := range []int{0, 1, -1} {
		moved, numbers := movedBy(all, by)
		if by != 0 && !numbers {
			return
		}
		t.add(choose(moved, -1, nil))
		for i := range wants {
			for _, v := range append(slices.Clip(wants[i].values[1:min(len(wants[i].values), t.most)]), "another") {
				t.add(choose(moved, i, v))
			}
		}
	}
}

// movedBy are wants whose first value is a number beside theirs.
func movedBy(wants []want, by int) (out []want, numbers bool) {
	out = lists.Copy(wants)
	for i, w := range out {
		if n, is := w.values[0].(int); is {
			out[i].values, numbers = []any{n + by}, true
		}
	}
	return out, numbers
}

// callees are the functions that blocks call, and those that they call.
func callees(p *native.Program, blocks []native.Block) []int {
	var out []int
	var visit func([]native.Block)
	visit = func(of []native.Block) {
		native.Walk(of, func(s *native.Stmt) {
			if to := int(s.Index); s.Op == native.OpCall && !lists.Among(out, to) {
				out = append(out, to)
				visit(p.Funcs[to].Blocks)
			}
		})
	}
	visit(blocks)
	return out
}

// want is what a test of a slot has to do with a place in its value.
type want struct {
	slot   int32
	steps  []string // a key, or each for an element
	values []any
}

// each is the step into an element.
const each = "\x00"

// size is the step to how large a value is.
const size = "\x01"

// around adds events about wants: with all of them, and with each other value of
// one. Others are wanted beside them.
func (t *Tries) around(wants, beside []want) {
	if len(wants) == 0 {
		return
	}
	all := append(lists.Copy(wants), beside...)
	t.add(choose(all, -1, nil))
	for i := range wants {
		for _, v := range wants[i].values {
			t.add(choose(all, i, v))
		}
		for _, v := range t.pool[wants[i].slot] {
			t.add(choose(all, i, v))
		}
		for j, literal := range wants[i].values {
			if j >= mostNear {
				break
			}
			if _, text := literal.(string); j > 0 && text {
				continue // The first shows what a text does.
			}
			for _, v := range near(literal) {
				t.add(choose(all, i, v))
			}
		}
		t.add(lists.Without(choose(all, -1, nil), func(c *chosen) bool { return c.slot == wants[i].slot }))
		t.add(append([]chosen{{slot: wants[i].slot}}, choose(all, -1, nil)...))
	}
}

// chosen is a value at a place.
type chosen struct {
	slot  int32
	steps []string
	value any
}

// choose takes the first value of each want, and v of the one that is other.
//
//go:noinline
func choose(wants []want, other int, v any) []chosen {
	var out []chosen
	if other >= 0 {
		out = append(out, chosen{wants[other].slot, wants[other].steps, v})
	}
	for i, w := range wants {
		if i != other {
			out = append(out, chosen{w.slot, w.steps, w.values[0]})
		}
	}
	return out
}

// near are values beside a literal: of other text, on both sides of a number, of
// another type.
func near(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{"x " + v + " y", "another", "", 7, []any{v}, map[string]any{v: v}}
	case int:
		return []any{v - 1, v + 1, float64(v) + 0.5, float64(v), "another", true}
	case json.Number:
		return []any{json.Number("9007199254740993"), json.Number("9007199254740992"), json.Number("9007199254740992.0"), "another"}
	}
	return []any{"another", 7, true, false, 1.5, []any{v}}
}

// add makes an event of values, of which those before win. One that is as
// another is left out.
func (t *Tries) add(values []chosen) {
	fields := map[string]any{}
	for _, c := range values {
		if path := t.p.Paths[c.slot]; len(path) > 0 {
			put(fields, lists.Concat(path, c.steps), c.value)
		}
	}
	key, err := json.Marshal(fields)
	if err != nil || t.seen[string(key)] {
		return
	}
	t.seen[string(key)] = true
	c := policy.NewContext(t.event)
	for _, f := range policy.Fields() {
		if v, ok := fields[f.String()]; ok && f != policy.FieldEvent {
			c.Set(f, v)
		}
	}
	t.Events, t.aims = append(t.Events, c.Frozen(t.event)), append(t.aims, t.aim)
}

// put sets a value below keys, unless something is there that is no such thing.
func put(to map[string]any, keys []string, v any) {
	key, rest := keys[0], keys[1:]
	have, there := to[key]
	if made := within(have, there, rest, v); made != nil || !there {
		to[key] = made
	}
}

// within is what is to be where have is; nil leaves it.
func within(have any, there bool, steps []string, v any) any {
	if len(steps) == 0 {
		if there {
			return nil
		}
		return v
	}
	if steps[0] == size {
		n, ok := v.(int)
		if there || !ok || n < 0 || n > mostLong {
			return nil
		}
		return strings.Repeat("x", n)
	}
	if steps[0] == each {
		list, _ := have.([]any)
		if there && list == nil {
			return nil
		}
		if len(list) == 0 {
			return []any{within(nil, false, steps[1:], v)}
		}
		if first := within(list[0], true, steps[1:], v); first != nil {
			list[0] = first
		}
		return list
	}
	inner, _ := have.(map[string]any)
	if there && inner == nil {
		return nil
	}
	if inner == nil {
		inner = map[string]any{}
	}
	put(inner, steps, v)
	return inner
}

// contextParams are the parameters of a function for input and data.
const contextParams = 2
