package shell

import (
	"slices"
	"strings"
	"sync"
)

// shProgram reads what a program does from its arguments, and says what it
// prints as far as that can be known.
type shProgram func(a *analysis, c *shCall) shValue

// shFills fill the tables of the analysis, in this order. They are run when a
// table is first read: most processes never look at a command line, and all
// would pay for it when they start. They are listed by init because they refer
// to what reads the tables.
var shFills []func()

func init() {
	shFills = []func(){
		fillBuild, fillBuiltin, fillCloud, fillContainer, fillDatabase, fillFeed,
		fillFiles, fillForeign, fillGit, fillGit2, fillInterp, fillLosses, fillNet, fillOutput, fillOwn, fillSystem, fillWrap,
	}
}

// shFilled fills the tables, once.
var shFilled = sync.OnceFunc(func() {
	for _, fill := range shFills {
		fill()
	}
})

// shProgramTable are the programs that are known, by name; programOf reads it.
var shProgramTable = map[string]shProgram{}

// programOf is the program of a name, nil for one that is not known.
func programOf(name string) shProgram {
	shFilled()
	return shProgramTable[name]
}

// programs adds a program under its names.
func programs(f shProgram, names string) {
	for name := range strings.FieldsSeq(names) {
		if shProgramTable[name] != nil {
			panic("builtins: program " + name + " is known twice")
		}
		shProgramTable[name] = f
	}
}

// programNames lists the programs that a glob in a command's name may mean.
var programNames = sync.OnceValue(func() []string {
	var out []string
	shFilled()
	for name := range shProgramTable {
		out = append(out, name)
	}
	for name := range shRuleTable {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// printsText is a program that prints what cannot be known.
func printsText(a *analysis, c *shCall) shValue {
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// printsPlain is a program that prints a name or a number.
func printsPlain(a *analysis, c *shCall) shValue {
	return shValue{{text: "$(" + c.name + ")", kind: shPlain}}
}
