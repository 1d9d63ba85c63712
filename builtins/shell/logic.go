package shell

import (
	"slices"

	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"mvdan.cc/sh/v3/syntax"
)

// binary reads && || and pipelines.
func (a *analysis) binary(c *syntax.BinaryCmd, fr *shFrame) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		a.pipeline(c, fr)
		return
	}
	if _, likely := a.logical(c, fr); likely != nil {
		a.join(fr.st, likely)
	}
}

// outcome reads a statement. The state of fr is then the one in which it
// succeeded; the one in which it failed is returned, and that without what is
// not to be expected to fail, nil when nothing is left.
func (a *analysis) outcome(s *syntax.Stmt, fr *shFrame) (failed, likely *shState) {
	c, ok := s.Cmd.(*syntax.BinaryCmd)
	if ok && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) && len(s.Redirs) == 0 && !s.Background && !s.Negated {
		if !a.spend(fr) || !a.enter(fr) {
			return fr.st.clone(), nil
		}
		defer a.leave()
		return a.logical(c, fr)
	}
	before := fr.st.clone()
	a.stmt(s, fr)
	failed = fr.st.clone()
	// A failed cd leaves the shell where it was; what else failed may have moved it before.
	if failed.dirs, failed.stack = before.dirs, before.stack; !posix.MovesOn(s) {
		failed.dirs = lists.Distinct(append(slices.Clip(before.dirs), fr.st.dirs...))
		failed.several = failed.several || len(failed.dirs) > 1
	}
	if s.Negated {
		fr.st.dirs, failed.dirs = failed.dirs, fr.st.dirs
		fr.st.several = fr.st.several || failed.several
	}
	a.narrow(s, true, fr.st, fr)
	a.narrow(s, false, failed, fr)
	if !posix.Succeeds(s) || s.Negated || fr.st.frozen != nil {
		likely = failed.clone()
	}
	return failed, likely
}

// logical is outcome for && and ||.
func (a *analysis) logical(c *syntax.BinaryCmd, fr *shFrame) (failed, likely *shState) {
	conditional := fr.conditional
	holds, known := a.constant(c.X, fr)
	failed, likely = a.outcome(c.X, fr)
	if known && holds == (c.Op == syntax.OrStmt) { // what comes after it never runs
		failed.dead, fr.st.dead = failed.dead || holds, fr.st.dead || !holds
		return failed, likely
	}
	fr.conditional = true
	defer func() { fr.conditional = conditional }()
	if c.Op == syntax.AndStmt {
		again, alsoLikely := a.outcome(c.Y, fr)
		a.join(failed, again)
		if likely == nil {
			return failed, alsoLikely
		}
		if alsoLikely != nil {
			a.join(likely, alsoLikely)
		}
		return failed, likely
	}
	other := *fr
	other.st = failed
	again, alsoLikely := a.outcome(c.Y, &other)
	if likely == nil && !posix.MovesOn(c.X) && !posix.MovesOn(c.Y) {
		return again, nil
	}
	if !other.st.dead {
		a.join(fr.st, other.st)
	}
	return again, alsoLikely
}

// pipeline reads the stages of a pipe, each in a subshell that reads what the one before it prints.
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
	// What one stage prints is what the next reads, also where it may be one of
	// several things: the whole pipeline is read for each.
	inner := *fr
	inner.out = nil
	if fr.out == nil {
		a.each(&inner, func() { a.stages(stages, number, fr) })
		return
	}
	a.stages(stages, number, fr)
}

// stages reads the stages of a pipeline, the last one first in the list.
func (a *analysis) stages(stages []*syntax.Stmt, number int, fr *shFrame) {
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

// narrow learns from a test that a variable is not empty, [ -n "$x" ], [ -z "$x" ], [[ -n $x ]],
// or what it is, [ "$x" = a ]. holds says whether the test was true.
func (a *analysis) narrow(s *syntax.Stmt, holds bool, st *shState, fr *shFrame) {
	if len(st.otherArgs) > 0 && s != nil && posix.HasArguments(fr.source(s), holds) {
		st.setArgs(st.argsKnown, lists.DeleteFunc(st.argLists(), func(list []shValue) bool { return len(list) == 0 })...)
	}
	if name, pattern := posix.Matched(s); holds && pattern != nil {
		st.matches(name, pattern)
	}
	name, value, filled := posix.TestedVariable(s)
	if name == "" || filled != holds || st.shadows(posix.Program(s)) {
		return
	}
	if value != "" {
		st.set(name, shLiteral(value))
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

// constant reports whether a condition is known to hold or not: true, false, or a test of known words.
func (a *analysis) constant(s *syntax.Stmt, fr *shFrame) (holds, known bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(s.Redirs)+len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false, false
	}
	name := c.Args[0].Lit()
	switch n := len(c.Args); {
	case fr.st.shadows(name):
	case n == 1 && WordIn(name, "true false :"):
		return name != "false", true
	case name == "[" && n == 5 && c.Args[4].Lit() == "]", name == "test" && n == 4:
		x, okX := constantWord(c.Args[1], fr.st)
		y, okY := constantWord(c.Args[3], fr.st)
		return (x == y) == (c.Args[2].Lit() != "!="), okX && okY && WordIn(c.Args[2].Lit(), "= == !=")
	}
	return false, false
}
