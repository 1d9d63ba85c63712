package native

import (
	"errors"
	"math"
	"strconv"
)

// shape says what of a Stmt its Op uses.
type shape struct {
	a, b    bool // operands that are read
	target  bool // Target is a local
	writes  bool // which is set,
	changes bool // or read, and changed
	index   bool
	args    bool
	keys    bool
	blocks  int // how many; -1 any
	levels  int // how many breaks it takes to leave it from inside
}

var shapes = [numOps]shape{
	OpNop:              {},
	OpReturn:           {a: true},
	OpCall:             {index: true, target: true, writes: true, args: true},
	OpCallBuiltin:      {index: true, target: true, writes: true, args: true},
	OpCallDynamic:      {target: true, writes: true, args: true, keys: true},
	OpBlock:            {blocks: -1, levels: 1},
	OpBreak:            {index: true},
	OpDot:              {a: true, b: true, target: true, writes: true},
	OpLen:              {a: true, target: true, writes: true},
	OpScan:             {a: true, target: true, writes: true, blocks: 1, levels: 2},
	OpNot:              {blocks: 1, levels: 1},
	OpAssign:           {a: true, target: true, writes: true},
	OpAssignOnce:       {a: true, target: true, changes: true},
	OpReset:            {target: true, writes: true},
	OpMakeArray:        {index: true, target: true, writes: true},
	OpMakeObject:       {target: true, writes: true},
	OpMakeSet:          {target: true, writes: true},
	OpEqual:            {a: true, b: true},
	OpNotEqual:         {a: true, b: true},
	OpIsArray:          {a: true},
	OpIsObject:         {a: true},
	OpIsSet:            {a: true},
	OpIsDefined:        {a: true},
	OpIsUndefined:      {a: true},
	OpArrayAppend:      {a: true, target: true, changes: true},
	OpObjectInsert:     {a: true, b: true, target: true, changes: true, index: true},
	OpObjectInsertOnce: {a: true, b: true, target: true, changes: true},
	OpObjectMerge:      {a: true, b: true, target: true, writes: true},
	OpSetAdd:           {a: true, target: true, changes: true, index: true},
	OpWith:             {a: true, keys: true, blocks: 1, levels: 1},
	OpInput:            {index: true, target: true, writes: true},
}

const (
	maxNesting = 500
	maxFrame   = 1 << 16
)

//go:noinline
func invalid(why string) error { return errors.New("native: invalid program: " + why) }

// program checks everything that closures take for granted.
func (v *verifier) program() error {
	p := v.p
	v.calls = make([][]int32, len(p.Funcs))
	if err := v.values(); err != nil {
		return err
	}
	v.paths = make(functions, len(p.Funcs))
	for i := range p.Funcs {
		fn := &p.Funcs[i]
		if len(fn.Path) > 0 && !v.paths.add(fn.Path, int32(i)) {
			return invalid("two functions at one path")
		}
		v.at = int32(i)
		if err := v.function(fn); err != nil {
			return err
		}
	}
	return v.acyclic()
}

// verifier verifies one program, function after function.
type verifier struct {
	p     *Program
	fn    *Func
	at    int32
	calls [][]int32
	own   []*own // by Program.Builtins
	paths functions
	whole bool
}

func (v *verifier) values() error {
	p := v.p
	for _, c := range p.Consts {
		if !valid(c, 0) {
			return invalid("a constant is no value")
		}
	}
	switch p.Data.(type) {
	case nil, map[string]Value, *Object:
	default:
		return invalid("data is no object")
	}
	if !valid(p.Data, 0) {
		return invalid("data is no value")
	}
	v.own = make([]*own, len(p.Builtins))
	for i, name := range p.Builtins {
		v.own[i] = ownBuiltin(name)
	}
	for _, path := range p.Paths {
		v.whole = v.whole || path == nil
	}
	for _, place := range p.Places {
		if place.File < 0 || int(place.File) >= len(p.Files) {
			return invalid("no file " + strconv.Itoa(int(place.File)))
		}
	}
	return nil
}

// valid reports whether v is a Value that Compare takes.
func valid(v Value, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch x := v.(type) {
	case nil, bool, string, int:
		return true
	case float64:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case Number:
		return wellFormed(string(x))
	case []Value:
		for _, e := range x {
			if !valid(e, depth+1) {
				return false
			}
		}
		return true
	case map[string]Value:
		for _, e := range x {
			if !valid(e, depth+1) {
				return false
			}
		}
		return true
	case *Object:
		for i := range x.pairs {
			if !valid(x.pairs[i].key, depth+1) || !valid(x.pairs[i].value, depth+1) {
				return false
			}
		}
		return true
	case *Set:
		return valid(x.elems, depth)
	}
	return false
}

func wellFormed(text string) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			ok = false
		}
	}()
	parseDecimal(text)
	return true
}

func (v *verifier) function(fn *Func) error {
	v.fn = fn
	switch {
	case fn.Params < 2 || fn.Locals < fn.Params || fn.Locals > maxFrame:
		return invalid("locals of " + fn.Name)
	case fn.Return <= DataLocal || int32(fn.Return) >= fn.Locals:
		return invalid("result of " + fn.Name)
	case fn.Memo && fn.Params != 2:
		return invalid("memo of " + fn.Name)
	}
	for i := range fn.Blocks {
		if err := v.block(&fn.Blocks[i], 1, 0); err != nil {
			return err
		}
	}
	return nil
}

// block verifies a block that levels breaks lead out of.
func (v *verifier) block(b *Block, levels, nesting int) error {
	if nesting > maxNesting {
		return invalid("blocks too deep in " + v.fn.Name)
	}
	if !v.place(b.Place) {
		return invalid("no place")
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if s.Op >= numOps {
			return invalid("no such statement")
		}
		if why := v.stmt(s, levels); why != "" {
			return invalid(why + " in " + v.fn.Name)
		}
		for j := range s.Blocks {
			if err := v.block(&s.Blocks[j], levels+shapes[s.Op].levels, nesting+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) place(n int32) bool { return n >= -1 && int(n) < len(v.p.Places) }

// stmt tells what is wrong with a statement.
func (v *verifier) stmt(s *Stmt, levels int) string {
	shape := &shapes[s.Op]
	switch {
	case shape.a && !v.operand(s.A), shape.b && !v.operand(s.B):
		return "operand"
	case !shape.args && len(s.Args) > 0, !shape.keys && len(s.Keys) > 0:
		return "operands too many"
	case shape.blocks >= 0 && len(s.Blocks) != shape.blocks:
		return "blocks"
	case shape.target && !v.target(s.Target) && !(s.Op == OpCallBuiltin && s.Target == None):
		return "target"
	case !v.place(s.Place):
		return "place"
	case !v.operands(s.Keys):
		return "keys"
	}
	switch s.Op {
	case OpCall:
		return v.call(s)
	case OpCallBuiltin:
		if s.Index < 0 || int(s.Index) >= len(v.p.Builtins) || !v.operands(s.Args) {
			return "builtin"
		}
		if own := v.own[s.Index]; own != nil && own.arity != len(s.Args) {
			return "arguments of " + v.p.Builtins[s.Index]
		}
	case OpCallDynamic:
		if len(s.Args) != 2 || !passes(s.Args) || levels < 4 {
			return "dynamic call"
		}
	case OpBreak:
		if s.Index < 0 || int(s.Index) >= levels {
			return "break"
		}
	case OpScan:
		if s.B.Const || !v.target(Local(s.B.N)) || Local(s.B.N) == s.Target {
			return "key"
		}
	case OpMakeArray:
		if s.Index < 0 {
			return "capacity"
		}
	case OpWith:
		return v.with(s)
	case OpInput:
		if s.Index < 0 || int(s.Index) >= len(v.p.Paths) {
			return "slot"
		}
	}
	return ""
}

func (v *verifier) with(s *Stmt) string {
	if s.Target != InputLocal && s.Target != DataLocal {
		return "target of with"
	}
	for _, k := range s.Keys {
		if !k.Const {
			return "path of with"
		}
		if _, ok := v.p.Consts[k.N].(string); !ok {
			return "path of with"
		}
	}
	if len(s.Keys) > 0 && s.Target == InputLocal && !v.whole {
		return "input without a slot"
	}
	return ""
}

func (v *verifier) call(s *Stmt) string {
	if s.Index < 0 || int(s.Index) >= len(v.p.Funcs) {
		return "call"
	}
	if int32(len(s.Args)) != v.p.Funcs[s.Index].Params || !passes(s.Args) || !v.operands(s.Args[2:]) {
		return "arguments"
	}
	v.calls[v.at] = append(v.calls[v.at], s.Index)
	return ""
}

// passes reports whether arguments begin with input and data: what a function
// computes of them is remembered.
func passes(args []Operand) bool {
	return len(args) >= 2 && args[0] == Operand{N: int32(InputLocal)} && args[1] == Operand{N: int32(DataLocal)}
}

func (v *verifier) operands(list []Operand) bool {
	for _, o := range list {
		if !v.operand(o) {
			return false
		}
	}
	return true
}

func (v *verifier) operand(o Operand) bool {
	if o.Const {
		return o.N >= 0 && int(o.N) < len(v.p.Consts)
	}
	return o.N >= 0 && o.N < v.fn.Locals && (o.N > 0 || v.whole)
}

func (v *verifier) target(t Local) bool { return t > DataLocal && int32(t) < v.fn.Locals }

// acyclic checks that no function calls itself through others. What
// OpCallDynamic calls shows when it runs: the depth of calls is bounded.
func (v *verifier) acyclic() error {
	const (
		open = 1
		shut = 2
	)
	state := make([]uint8, len(v.calls))
	var visit func(fn int32) bool
	visit = func(fn int32) bool {
		if state[fn] != 0 {
			return state[fn] == shut
		}
		state[fn] = open
		for _, next := range v.calls[fn] {
			if !visit(next) {
				return false
			}
		}
		state[fn] = shut
		return true
	}
	for fn := range v.calls {
		if !visit(int32(fn)) {
			return invalid("recursion in " + v.p.Funcs[fn].Name)
		}
	}
	return nil
}
