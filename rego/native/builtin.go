package native

// builtins are the functions that native has itself, by OPA's names. Files of
// builtins register their own at package load.
var builtins = make(map[string]own, 160)

// own is one of them: arity is how many arguments it takes, which Link checks,
// so that it need not.
type own struct {
	arity int
	call  Builtin
}

// register adds builtins of so many arguments:
// var _ = register(2, map[string]Builtin{...}).
func register(arity int, table map[string]Builtin) bool {
	for name, f := range table {
		if builtins[name].call != nil {
			panic("native: builtin " + name + " is there twice")
		}
		builtins[name] = own{arity, f}
	}
	return true
}
