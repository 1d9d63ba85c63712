package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"mvdan.cc/sh/v3/syntax"
)

// stmts reads statements one after the other.
//
//go:noinline
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
	for i := range a.traps { // which may run at any time
		if t := a.traps[i].fr.st; t.shell == fr.st.shell {
			a.meets(t, fr.st)
		}
	}
	if s.Background || s.Coprocess || s.Disown {
		in := fr.subshell()
		in.background = true
		defer func(st *shState) { st.joinFiles(in.st) }(fr.st)
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
	first := len(a.out.Commands)
	a.command(s.Cmd, &in)
	a.closeRedirect(r, fr, first)
}

// command reads what is not a simple command.
func (a *analysis) command(c syntax.Command, fr *shFrame) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		a.binary(c, fr)
	case *syntax.Block:
		a.stmts(c.Stmts, fr)
	case *syntax.Subshell:
		in := fr.subshell()
		a.stmts(c.Stmts, in)
		fr.st.files = joinTable(fr.st.files, in.st.files)
	case *syntax.IfClause:
		a.ifClause(c, fr)
	case *syntax.WhileClause:
		last := c.Cond[len(c.Cond)-1]
		a.loop(fr, func(in *shFrame) {
			a.stmts(c.Cond, in)
			a.narrow(last, !c.Until, in.st, in)
			a.stmts(c.Do, in)
		}, func() { // it ends where the condition was looked at once more
			a.stmts(c.Cond, fr)
			a.narrow(last, c.Until, fr.st, fr)
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

func (a *analysis) ifClause(c *syntax.IfClause, fr *shFrame) {
	if len(c.Cond) == 0 { // an else
		a.stmts(c.Then, fr)
		return
	}
	last := c.Cond[len(c.Cond)-1]
	holds, known := a.constant(last, fr)
	a.stmts(c.Cond[:len(c.Cond)-1], fr)
	failed, _ := a.outcome(last, fr)
	then, other := *fr, *fr
	then.st, then.conditional = fr.st.clone(), true
	other.st, other.conditional = failed, true
	if then.st.dead, other.st.dead = then.st.dead || known && !holds && len(c.Cond) == 1, other.st.dead || known && holds && len(c.Cond) == 1; !then.st.dead {
		a.stmts(c.Then, &then)
	}
	if c.Else != nil && !other.st.dead && a.enter(fr) {
		a.ifClause(c.Else, &other)
		a.leave()
	}
	a.join(then.st, other.st)
	*fr.st = *then.st
}

// loop reads a body until what it changes is known, or is taken for not known; end is what is done after the last pass.
func (a *analysis) loop(fr *shFrame, body func(in *shFrame), end func()) {
	outer, jumps := a.jumps, &shJumps{}
	a.jumps = jumps
	for pass := 0; !a.full; pass++ {
		if pass == maxAlternatives { // what it changes still changes
			a.unknown(fr, shellTooMany, max(fr.base, 0))
			break
		}
		in := *fr
		in.st, in.conditional = fr.st.clone(), true
		body(&in)
		a.joinAll(in.st, jumps.again)
		before := fr.st.clone()
		if !a.join(fr.st, in.st) {
			break
		}
		a.repeat()
		if pass >= 1 && !fr.st.widen(before) {
			break
		}
	}
	end()
	a.joinAll(fr.st, jumps.broken)
	a.jumps = outer
}

// shJumps are the states in which break and continue leave the body of a loop.
type shJumps struct{ broken, again []*shState }

// jump is break and continue.
func (a *analysis) jump(c *shCall) shValue {
	if st := c.fr.st; a.jumps != nil && !st.dead {
		list := &a.jumps.again
		if c.name == "break" {
			list = &a.jumps.broken
		}
		*list, st.dead = append(*list, st.clone()), true
	}
	return nil
}

// calculate evaluates an arithmetic command for every value its variables may have.
//
//go:noinline
func (a *analysis) calculate(x syntax.ArithmExpr, fr *shFrame) {
	if x != nil {
		a.eachState(fr, func(in *shFrame) { a.arithm(x, in) })
	}
}

// maxUnrolled is how many values of a loop's variable are read one by one, and
// maxLoopSteps how long that may take; the rest are read as one.
const (
	maxUnrolled  = 64
	maxLoopSteps = 6000
)

func (a *analysis) forClause(c *syntax.ForClause, fr *shFrame) {
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		a.calculate(loop.Init, fr)
		a.loop(fr, func(in *shFrame) {
			a.calculate(loop.Cond, in)
			a.stmts(c.Do, in)
			a.calculate(loop.Post, in)
		}, func() { a.calculate(loop.Cond, fr) })
		return
	}
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || iter.Name == nil {
		return
	}
	var values []shValue
	var many []bool // whether each may be any number of values
	if iter.InPos.IsValid() {
		a.each(fr, func() {
			for _, w := range a.fields(iter.Items, fr) {
				if w.Pattern && !w.Dynamic && !strings.Contains(fr.src, "nullglob") { // one at least
					values, many = append(values, matched(w)), append(many, c.Select)
				}
				values, many = append(values, matched(w)), append(many, c.Select || w.Dynamic || w.Pattern)
			}
		})
	} else {
		a.each(fr, func() { values = append(values, a.positionals(false, fr).values...) })
		many = slices.Repeat([]bool{c.Select || !fr.st.argsKnown}, len(values))
	}
	a.forValues(iter.Name.Value, values, many, c, fr)
}

// matched is a word as the value of a loop's variable.
func matched(w Word) shValue {
	if !w.Pattern {
		return w.value()
	}
	return w.value().mapped(func(p *shPart) {
		if p.kind == shGlob {
			p.kind = shMatch
		}
	})
}

func (a *analysis) forValues(name string, values []shValue, many []bool, c *syntax.ForClause, fr *shFrame) {
	body := *fr
	if _, ref := fr.st.refs.get("for " + name); ref { // each value is the name of a variable
		a.unknown(fr, DynamicCode, fr.offset(c))
	}
	if frozen, _ := fr.st.frozen.get(name); frozen { // an error, and no pass
		before := fr.st.clone()
		defer func() { a.join(fr.st, before) }()
	}
	body.conditional = true
	start := a.steps
	outer, jumps := a.jumps, &shJumps{}
	a.jumps = jumps
	defer func() {
		a.joinAll(fr.st, jumps.broken)
		a.jumps = outer
	}()
	for i, v := range values {
		if a.full {
			return
		}
		if i > 0 {
			a.repeat()
		}
		if !syntax.ValidName(name) {
			return
		}
		last := i >= maxUnrolled || a.steps-start > maxLoopSteps
		if last {
			v = anyOf(name, values[i:])
		}
		pass := func(in *shFrame) {
			keep := in.st.keeps(name)
			in.st.set(name, v)
			keep()
			a.stmts(c.Do, in)
		}
		if many[i] && !last {
			a.loop(&body, pass, func() {})
			continue
		}
		before := body.st.clone()
		pass(&body)
		a.joinAll(body.st, jumps.again)
		if body.st.dead {
			// exit, return, break and continue leave the other values.
			body.st.dead = false
			a.join(body.st, before)
		}
		if last {
			body.st.widen(before) // what each of the others may change once more
			return
		}
	}
}

// anyOf is one of several values of a variable.
func anyOf(name string, values []shValue) shValue {
	for _, v := range values {
		if text, ok := v.known(); !ok || text == "" || strings.Trim(text, plainName) != "" || strings.Contains(text, "..") {
			return shValue{{text: "$" + name, kind: shAny}}
		}
	}
	return shValue{{text: "$" + name, kind: shPlain}}
}

// plainName are the characters of names that are one part of a path.
const plainName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

func (a *analysis) caseClause(c *syntax.CaseClause, fr *shFrame) {
	a.each(fr, func() { a.single(c.Word, fr) })
	var ends []*shState
	var through *shState // what fell through from the item before
	word, known := constantWord(c.Word, fr.st)
	known = known && !strings.Contains(fr.src, "nocasematch") && !AnyCommand(a.out.Commands, func(c *Command) bool {
		return c.Name == "shopt" || strings.Contains(strings.Join(WordTexts(c.Argv), " "), "nocasematch")
	})
	for _, item := range c.Items {
		hit := slices.ContainsFunc(item.Patterns, func(p *syntax.Word) bool {
			known = known && p.Lit() != "" && !strings.ContainsAny(p.Lit(), "\\[") && item.Op == syntax.Break
			return known && losses.GlobMatch(p.Lit(), word)
		})
		if known && !hit {
			continue
		}
		for _, p := range item.Patterns {
			a.each(fr, func() { a.single(p, fr) })
		}
		in := *fr
		in.st, in.conditional = fr.st.clone(), true
		in.st.matches(posix.Whole(c.Word), item.Patterns...)
		if through != nil {
			a.join(in.st, through)
		}
		a.stmts(item.Stmts, &in)
		if through = nil; item.Op != syntax.Break {
			through = in.st
		}
		if ends = append(ends, in.st); known {
			*fr.st = *in.st
			return
		}
	}
	a.joinAll(fr.st, ends)
}

// matches says of a variable that is some name in the folder that it matches one of some patterns.
func (s *shState) matches(name string, patterns ...*syntax.Word) {
	alts, _ := s.vars.get(name)
	if len(alts) != 1 || alts[0].array || alts[0].open {
		return
	}
	if v := alts[0].value(); len(v) != 1 || v[0].kind != shMatch || v[0].text != "*" && v[0].text != "*/" {
		return
	}
	var out []shBinding
	for _, p := range patterns {
		text := p.Lit()
		if text == "" || strings.HasPrefix(text, "*") && strings.Trim(text, "*/") == "" || strings.ContainsAny(text, "[(\\") {
			return
		}
		kind := shText
		if strings.ContainsAny(text, "*?") {
			kind = shMatch
		}
		out = append(out, scalarBinding(shValue{{text: text, kind: kind}}))
	}
	s.bind(name, out...)
}

func (a *analysis) funcDecl(c *syntax.FuncDecl, fr *shFrame) {
	for _, n := range append([]*syntax.Lit{c.Name}, c.Names...) {
		if n != nil {
			fr.st.funcs = fr.st.funcs.put(n.Value, &shFunction{body: c.Body, src: fr.src, base: fr.base})
		}
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
		if w, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsVarSet && strings.Contains(a.single(w, fr).text(), "$(") {
			a.unknown(fr, DynamicCode, fr.offset(w))
		}
	case *syntax.BinaryTest:
		a.testExpr(x.X, fr)
		a.testExpr(x.Y, fr)
	}
}
