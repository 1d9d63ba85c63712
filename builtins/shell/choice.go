package shell

// shChoice is the alternative of a variable that is being read.
type shChoice struct {
	name     string
	index, n int
}

// shBegun is a command that changes the shell: the state now, and the one it began in, kept when it has choices.
type shBegun struct{ now, start *shState }

// choose picks an alternative of one of n for the command being read; the same
// name gives the same one until the next combination.
//
//go:noinline
func (a *analysis) choose(name string, n int) int {
	if n <= 1 {
		return 0
	}
	for i := range a.choices {
		if a.choices[i].name == name {
			a.choices[i].n = max(a.choices[i].n, n)
			return min(a.choices[i].index, n-1)
		}
	}
	if len(a.choices) >= maxChoices {
		a.crowded = true
		return 0
	}
	for i := range a.before {
		if b := &a.before[i]; b.start == nil {
			b.start = b.now.clone()
		}
	}
	a.choices = append(a.choices, shChoice{name: name, n: n})
	return 0
}

// each runs f once for every combination of alternatives it asks for. Inside
// of another each, what prints something for it to use runs once, with the
// alternatives of the one around it.
func (a *analysis) each(fr *shFrame, f func()) {
	if a.choosing > 0 && fr.out != nil {
		f()
		return
	}
	a.choosing++
	defer func() { a.choosing-- }()
	base := len(a.choices)
	for n := 1; ; n++ {
		f()
		if a.crowded {
			a.crowded = false
			a.unknown(fr, shellTooMany, max(fr.base, 0))
		}
		for len(a.choices) > base && a.choices[len(a.choices)-1].index+1 >= a.choices[len(a.choices)-1].n {
			a.choices = a.choices[:len(a.choices)-1]
		}
		if len(a.choices) == base {
			return
		}
		if n >= maxCombos {
			a.choices = a.choices[:base]
			a.unknown(fr, shellTooMany, max(fr.base, 0))
			return
		}
		a.choices[len(a.choices)-1].index++
		a.repeat()
	}
}

// dir is the directory a command runs in.
//
//go:noinline
func (a *analysis) dir(st *shState) string {
	return st.dirs[a.choose("\x00dir", len(st.dirs))]
}

// lookup finds a variable; ok is false for one that was never assigned.
func (a *analysis) lookup(st *shState, name string) (shBinding, bool) {
	alts, ok := st.vars.get(name)
	if !ok || len(alts) == 0 {
		return shBinding{}, false
	}
	return alts[a.choose(name, len(alts))], true
}
