package native

// own is a function that native has itself, by OPA's name: arity is how many
// arguments it takes, which Link checks, so that it need not, and builtin makes
// it. Nothing is made before a program asks for it: a process that decides one
// event starts with nothing to do here.
type own struct {
	name    string
	arity   int
	builtin func() Builtin
}

// owns are the tables of the files of builtins.
var owns = [...][]own{
	aggregatesBuiltins, collectionsBuiltins, compareBuiltins, encodingBuiltins, globBuiltins, graphBuiltins,
	numbersBuiltins, objectsBuiltins, regexBuiltins, sprintfBuiltins, stringsBuiltins,
	templateBuiltins, timeBuiltins,
}

// ownBuiltin is native's own builtin of a name, nil if there is none.
//
//go:noinline
func ownBuiltin(name string) *own {
	for _, table := range owns {
		for i := range table {
			if table[i].name == name {
				return &table[i]
			}
		}
	}
	return nil
}

// call makes the builtin, nil when there is none.
func (o *own) call() Builtin {
	if o == nil {
		return nil
	}
	return o.builtin()
}
