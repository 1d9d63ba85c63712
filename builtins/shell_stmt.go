package builtins

import (
	"mvdan.cc/sh/v3/syntax"
)

// stmts reads statements one after the other.
func (a *analysis) stmts(list []*syntax.Stmt, fr *shFrame) {
	for _, s := range list {
		if a.full {
			return
		}
		a.stmt(s, fr)
	}
}

func (a *analysis) stmt(s *syntax.Stmt, fr *shFrame) {
	if s == nil || !a.spend(fr) || !a.enter(fr) {
		return
	}
	defer a.leave()
	if s.Background || s.Coprocess || s.Disown {
		in := fr.subshell()
		in.background = true
		fr = in
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok || s.Cmd == nil {
		a.call(s, call, fr)
		return
	}
	if len(s.Redirs) == 0 {
		a.command(s.Cmd, fr)
		return
	}
	var in shFrame
	var r shRedirected
	a.each(fr, func() {
		in = *fr
		r = a.redirect(s.Redirs, &in)
		a.redirectEffects(r, shTarget{index: -1, offset: fr.offset(s), fr: fr})
	})
	a.command(s.Cmd, &in)
	a.closeRedirect(r, fr)
}

// command reads what is not a simple command.
func (a *analysis) command(c syntax.Command, fr *shFrame) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		a.binary(c, fr)
	case *syntax.Block:
		a.stmts(c.Stmts, fr)
	case *syntax.Subshell:
		a.stmts(c.Stmts, fr.subshell())
	case *syntax.IfClause:
		a.ifClause(c, fr)
	case *syntax.WhileClause:
		a.loop(fr, func(in *shFrame) {
			a.stmts(c.Cond, in)
			a.stmts(c.Do, in)
		})
	case *syntax.ForClause:
		a.forClause(c, fr)
	case *syntax.CaseClause:
		a.caseClause(c, fr)
	case *syntax.FuncDecl:
		a.funcDecl(c, fr)
	case *syntax.DeclClause:
		a.eachState(fr, func(in *shFrame) { a.declare(c, in) })
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			a.calculate(x, fr)
		}
	case *syntax.ArithmCmd:
		a.calculate(c.X, fr)
	case *syntax.TestClause:
		a.each(fr, func() { a.testExpr(c.X, fr) })
	case *syntax.TimeClause:
		a.stmt(c.Stmt, fr.within("time"))
	case *syntax.CoprocClause:
		a.stmt(c.Stmt, fr.subshell())
	case *syntax.TestDecl:
		a.stmt(c.Body, fr.subshell())
	}
}

// binary reads && || and pipelines.
func (a *analysis) binary(c *syntax.BinaryCmd, fr *shFrame) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		a.pipeline(c, fr)
		return
	}
	if failed := a.logical(c, fr); failed != nil {
		a.join(fr.st, failed)
	}
}

// outcome reads a statement. The state of fr is then the one in which it
// succeeded; the one in which it failed is returned, nil when it cannot.
func (a *analysis) outcome(s *syntax.Stmt, fr *shFrame) *shState {
	c, ok := s.Cmd.(*syntax.BinaryCmd)
	if ok && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) && len(s.Redirs) == 0 && !s.Background && !s.Negated {
		if !a.spend(fr) || !a.enter(fr) {
			return nil
		}
		defer a.leave()
		return a.logical(c, fr)
	}
	before := fr.st.clone()
	a.stmt(s, fr)
	failed := fr.st.clone()
	// A failed cd leaves the shell where it was.
	failed.dirs, failed.dead = before.dirs, fr.st.dead
	a.narrow(s, true, fr.st)
	a.narrow(s, false, failed)
	return failed
}

// logical is outcome for && and ||.
func (a *analysis) logical(c *syntax.BinaryCmd, fr *shFrame) *shState {
	conditional := fr.conditional
	failed := a.outcome(c.X, fr)
	fr.conditional = true
	defer func() { fr.conditional = conditional }()
	if c.Op == syntax.AndStmt {
		if succeeds(c.X) {
			failed = nil
		}
		again := a.outcome(c.Y, fr)
		switch {
		case failed == nil:
			if succeeds(c.Y) {
				return nil
			}
			return again
		case again != nil && !succeeds(c.Y):
			a.join(failed, again)
		}
		return failed
	}
	if failed == nil {
		failed = fr.st.clone()
	}
	other := *fr
	other.st = failed
	again := a.outcome(c.Y, &other)
	if !other.st.dead && !succeeds(c.X) {
		a.join(fr.st, other.st)
	}
	return again
}

// succeeds reports whether a statement is one that is taken to do what it
// says: what follows && happens.
func succeeds(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return true
		}
		switch name, _ := plainLit(c.Args[0]); name {
		case "cd", "pushd", "popd", "mkdir", "true", ":", "set", "shopt", "alias", "export", "source", ".", "echo", "printf", "git", "touch", "cp", "mv", "trap", "unset", "local", "shift", "read", "mktemp", "sleep", "rm":
			return true
		}
	case *syntax.DeclClause, *syntax.FuncDecl:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && succeeds(c.X) && succeeds(c.Y)
	}
	return false
}

// pipeline reads the stages of a pipe, each in a subshell that reads what the
// one before it prints.
func (a *analysis) pipeline(c *syntax.BinaryCmd, fr *shFrame) {
	stages := []*syntax.Stmt{c.Y}
	left := c.X
	for {
		b, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll || len(left.Redirs) > 0 {
			break
		}
		stages = append(stages, b.Y)
		left = b.X
	}
	stages = append(stages, left)
	a.pipes++
	number := a.pipes
	stdin := fr.stdin
	for i := len(stages) - 1; i >= 0; i-- {
		in := fr.subshell()
		in.stdin, in.pipe, in.stage = stdin, number, len(stages)-1-i
		printed := shValue{}
		if i > 0 {
			in.out = &printed
		}
		a.stmt(stages[i], in)
		fr.st.files = joinTable(fr.st.files, in.st.files)
		stdin = shStream{value: a.bounded(printed, fr), set: true}
		if a.full {
			return
		}
	}
}

func (a *analysis) ifClause(c *syntax.IfClause, fr *shFrame) {
	if len(c.Cond) == 0 { // an else
		a.stmts(c.Then, fr)
		return
	}
	a.stmts(c.Cond, fr)
	then, other := *fr, *fr
	then.st, then.conditional = fr.st.clone(), true
	other.st, other.conditional = fr.st.clone(), true
	a.narrow(c.Cond[len(c.Cond)-1], true, then.st)
	a.narrow(c.Cond[len(c.Cond)-1], false, other.st)
	a.stmts(c.Then, &then)
	if c.Else != nil && a.enter(fr) {
		a.ifClause(c.Else, &other)
		a.leave()
	}
	a.join(then.st, other.st)
	*fr.st = *then.st
}

// loop reads a body until what it changes is known, or is taken for not known.
func (a *analysis) loop(fr *shFrame, body func(in *shFrame)) {
	for pass := range 3 {
		if a.full {
			return
		}
		in := *fr
		in.st, in.conditional = fr.st.clone(), true
		body(&in)
		before := fr.st.clone()
		if !a.join(fr.st, in.st) {
			return
		}
		a.repeat()
		if pass == 1 {
			fr.st.widen(before)
		}
	}
}

// calculate evaluates an arithmetic command for every value its variables may
// have.
func (a *analysis) calculate(x syntax.ArithmExpr, fr *shFrame) {
	if x != nil {
		a.eachState(fr, func(in *shFrame) { a.arithm(x, in) })
	}
}

// maxUnrolled is how many values of a loop's variable are read one by one.
const maxUnrolled = 64

func (a *analysis) forClause(c *syntax.ForClause, fr *shFrame) {
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		a.calculate(loop.Init, fr)
		a.loop(fr, func(in *shFrame) {
			a.calculate(loop.Cond, in)
			a.stmts(c.Do, in)
			a.calculate(loop.Post, in)
		})
		return
	}
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || iter.Name == nil {
		return
	}
	var values []shValue
	if iter.InPos.IsValid() {
		a.each(fr, func() {
			for _, w := range a.fields(iter.Items, fr) {
				values = append(values, matched(w))
			}
		})
	} else {
		values = a.positionals(false, fr).values
	}
	a.forValues(iter.Name.Value, values, c, fr)
}

// matched is a word as the value of a loop's variable.
func matched(w ShellWord) shValue {
	v := w.value()
	if !w.Pattern {
		return v
	}
	out := make(shValue, len(v))
	for i, p := range v {
		if p.kind == shGlob {
			p.kind = shMatch
		}
		out[i] = p
	}
	return out
}

func (a *analysis) forValues(name string, values []shValue, c *syntax.ForClause, fr *shFrame) {
	body := *fr
	body.conditional = true
	for i, v := range values {
		if a.full {
			return
		}
		if i > 0 {
			a.repeat()
		}
		if i >= maxUnrolled {
			body.st.forget(name)
			a.stmts(c.Do, &body)
			return
		}
		if !syntax.ValidName(name) {
			return
		}
		body.st.set(name, v)
		before := body.st.clone()
		a.stmts(c.Do, &body)
		if body.st.dead {
			// exit, return, break and continue leave the other values.
			body.st.dead = false
			a.join(body.st, before)
		}
	}
}

func (a *analysis) caseClause(c *syntax.CaseClause, fr *shFrame) {
	a.each(fr, func() { a.single(c.Word, fr) })
	var ends []*shState
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.each(fr, func() { a.single(p, fr) })
		}
		in := *fr
		in.st, in.conditional = fr.st.clone(), true
		a.stmts(item.Stmts, &in)
		ends = append(ends, in.st)
	}
	for _, st := range ends {
		a.join(fr.st, st)
	}
}

func (a *analysis) funcDecl(c *syntax.FuncDecl, fr *shFrame) {
	f := &shFunction{body: c.Body, src: fr.src, base: fr.base}
	if c.Name != nil {
		fr.st.funcs = fr.st.funcs.put(c.Name.Value, f)
	}
	for _, n := range c.Names {
		fr.st.funcs = fr.st.funcs.put(n.Value, f)
	}
}

// testExpr expands the words of [[ … ]]: substitutions in them run.
func (a *analysis) testExpr(x syntax.TestExpr, fr *shFrame) {
	if !a.enter(fr) {
		return
	}
	defer a.leave()
	switch x := x.(type) {
	case *syntax.Word:
		a.single(x, fr)
	case *syntax.ParenTest:
		a.testExpr(x.X, fr)
	case *syntax.UnaryTest:
		a.testExpr(x.X, fr)
	case *syntax.BinaryTest:
		a.testExpr(x.X, fr)
		a.testExpr(x.Y, fr)
	}
}

// narrow learns from a test that a variable is not empty: [ -n "$x" ],
// [ -z "$x" ], [[ -n $x ]]. holds says whether the test was true.
func (a *analysis) narrow(s *syntax.Stmt, holds bool, st *shState) {
	if s == nil {
		return
	}
	name, filled := testedVariable(s)
	if name == "" || filled != holds {
		return
	}
	alts, ok := st.vars.get(name)
	if !ok {
		if p := a.environment(name, &shFrame{st: st}); p.maybe {
			st.set(name, shValue{{text: "$" + name, kind: shAny}})
		}
		return
	}
	var left []shBinding
	for _, b := range alts {
		if v, known := b.value().known(); b.open {
			left = append(left, scalarBinding(shValue{{text: "$" + name, kind: shAny}}))
		} else if !known || v != "" {
			left = append(left, b)
		}
	}
	if len(left) > 0 {
		st.bind(name, left...)
	}
}

// testedVariable is the variable a test looks at, and whether the test is true
// when it is not empty.
func testedVariable(s *syntax.Stmt) (name string, filled bool) {
	var op string
	var w *syntax.Word
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) < 3 {
			return "", false
		}
		if t, _ := plainLit(c.Args[0]); t != "test" && litText(c.Args[0]) != "[" {
			return "", false
		}
		op, w = litText(c.Args[1]), c.Args[2]
	case *syntax.TestClause:
		u, ok := c.X.(*syntax.UnaryTest)
		if !ok {
			return "", false
		}
		op = u.Op.String()
		w, _ = u.X.(*syntax.Word)
	}
	if w == nil || op != "-n" && op != "-z" {
		return "", false
	}
	return wordVariable(w), (op == "-n") != s.Negated
}

func litText(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return ""
	}
	return lit.Value
}

// wordVariable is the name in "$name" or "${name:-}", "" for other words.
func wordVariable(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || !syntax.ValidName(p.Param.Value) {
		return ""
	}
	return p.Param.Value
}
