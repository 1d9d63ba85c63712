package native

// Where this differs from the design's text: Func says Result, the local that
// is returned, only through OpReturn; Stmt's fields are read as each Op says.
// Locals 0 and 1 of every function are input and data, parameters are locals
// 0 to Params-1 (OPA's plan numbers the result between them: renumber), and a
// read of local 0 other than as first argument of a call needs a nil path in
// Paths.

// Program is compiled Rego as plain data: what Append writes and Link runs. It
// is not changed once it is linked.
type Program struct {
	// Consts are ground values; what an Operand that is Const refers to.
	Consts []Value
	// Paths are what of the input is read by constant keys: the slots of an
	// Input. A nil path is the whole input.
	Paths [][]string
	// Builtins are the names of the functions that are called.
	Builtins []string
	Funcs    []Func
	// Places are where rules and statements are written, in Files.
	Places []Place
	Files  []string
	// Data is the base documents, an object; nil is an empty one.
	Data Value
}

// Place is where something is written: an index into Program.Files, and row
// and column from 1.
type Place struct{ File, Row, Col int32 }

// Local is a variable of a function.
type Local int32

// Locals that every function has.
const (
	// None is no local: the result of a call that has none.
	None Local = -1
	// InputLocal is the input, DataLocal the base documents. Only OpWith
	// changes them.
	InputLocal Local = 0
	DataLocal  Local = 1
)

// Func is a rule's or function's plan. Its parameters are its first locals,
// input and data before all.
type Func struct {
	// Name is what explain calls it, Path its place in the function tree that
	// OpCallDynamic and Code.Func look in, such as g0, hooks, deny.
	Name   string
	Path   []string
	Params int32
	Locals int32
	// Return is the local that the function builds and returns: for Rules, and
	// for the value that is made at the first Add.
	Return Local
	Blocks []Block
	// Memo says that the function takes nothing but input and data: it is
	// evaluated once.
	Memo bool
}

// Block is statements that run until one of them is undefined, or breaks out.
// Place is an index into Program.Places, -1 if there is none; of a function's own
// blocks it is the rule's head.
type Block struct {
	Stmts []Stmt
	Place int32
}

// Operand is a local or, when Const, an index into Program.Consts.
type Operand struct {
	Const bool
	N     int32
}

// Stmt is one statement. Place is an index into Program.Places, -1 if there is none.
type Stmt struct {
	Op     Op
	A, B   Operand
	Target Local
	Index  int32
	Args   []Operand
	Blocks []Block
	Keys   []Operand
	Place  int32
}

// Op is what a statement does. A statement that is undefined ends the block it
// stands in: it is a break of 0. Breaks count blocks from the innermost: each
// of OpBlock's and OpNot's and OpWith's is one, OpScan's is two, of which
// leaving the first goes on with the next element.
type Op uint8

// The statements. A local that was never set, or was reset, is undefined.
const (
	// OpNop does nothing.
	OpNop Op = iota
	// OpReturn returns A from the function.
	OpReturn
	// OpCall sets Target to the result of function Index of Args, the first
	// two of which are input and data; an undefined result is undefined.
	OpCall
	// OpCallBuiltin sets Target to the result of builtin Index of Args; with
	// Target None the result is dropped.
	OpCallBuiltin
	// OpCallDynamic looks Keys up in the function tree. Without a function
	// there it is undefined; an undefined result of it breaks out by 3.
	OpCallDynamic
	// OpBlock runs Blocks, each to its end.
	OpBlock
	// OpBreak leaves Index blocks and the one it stands in.
	OpBreak
	// OpDot sets Target to A[B].
	OpDot
	// OpLen sets Target to the length of A: a string's in bytes.
	OpLen
	// OpScan runs Blocks[0] for each element of A, with the key in local B.N
	// and the value in Target.
	OpScan
	// OpNot runs Blocks[0] and is undefined when that came to its end.
	OpNot
	// OpAssign sets Target to A, undefined too.
	OpAssign
	// OpAssignOnce sets Target to A; another value that is there is a conflict.
	OpAssignOnce
	// OpReset makes Target undefined.
	OpReset
	// OpMakeArray sets Target to an empty array with room for Index elements,
	// OpMakeObject to an empty object, OpMakeSet to an empty set.
	OpMakeArray
	OpMakeObject
	OpMakeSet
	// OpEqual is undefined unless A and B are equal, OpNotEqual if they are.
	OpEqual
	OpNotEqual
	// OpIsArray, OpIsObject, OpIsSet, OpIsDefined and OpIsUndefined are
	// undefined unless A is that.
	OpIsArray
	OpIsObject
	OpIsSet
	OpIsDefined
	OpIsUndefined
	// OpArrayAppend appends A to the array in Target.
	OpArrayAppend
	// OpObjectInsert sets key A of the object in Target to B; with Index 1 it is a
	// new key of an object as it is written, with 2 B is a part that rules add to. OpObjectInsertOnce does, and
	// another value that is there is a conflict.
	OpObjectInsert
	OpObjectInsertOnce
	// OpObjectMerge sets Target to A with what only B has, objects in objects
	// merged alike.
	OpObjectMerge
	// OpSetAdd adds A to the set in Target; with Index 1 it is an element of a
	// set as it is written.
	OpSetAdd
	// OpWith runs Blocks[0] with Target, which is input or data, replaced by A
	// or, with Keys (constant strings), changed there. It is undefined unless
	// the block came to its end.
	OpWith
	// OpInput sets Target to slot Index of the input.
	OpInput

	numOps
)
