package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/internal/lists"
)

// contextParams is how many parameters every function of a plan has before its
// own: input and data.
const contextParams = 2

// planned is a plan with its functions by name. Of several plans of one
// program, all but the first have a suffix that keeps their generations (what
// with statements made again) apart; the first generation is the same in all.
type planned struct {
	*ir.Policy
	funcs  map[string]*ir.Func
	suffix string
}

func newPlanned(p *ir.Policy, suffix string) *planned {
	out := &planned{Policy: p, funcs: make(map[string]*ir.Func, len(p.Funcs.Funcs)), suffix: suffix}
	for _, f := range p.Funcs.Funcs {
		out.funcs[f.Name] = f
	}
	return out
}

// firstGeneration is the head of the paths of functions in which with replaced
// nothing.
const firstGeneration = "g0"

// generation is the head of a function's path among all plans of the program.
func (p *planned) generation(name string) string {
	if name == firstGeneration {
		return name
	}
	return name + p.suffix
}

// document is the function of a document of the first generation, nil if there is none.
func (p *planned) document(ref ast.Ref) *ir.Func {
	path := []string{firstGeneration}
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			return nil
		}
		path = append(path, string(s))
	}
	for _, f := range p.Funcs.Funcs {
		if lists.Equal(f.Path, path) && len(f.Params) == contextParams {
			return f
		}
	}
	return nil
}

// text is a constant string of the plan.
func (p *planned) text(i int) string { return p.Static.Strings[i].Value }

// dispatched are the functions whose path a dynamic call can mean.
func (p *planned) dispatched(s *ir.CallDynamicStmt) []*ir.Func {
	var out []*ir.Func
	for _, f := range p.Funcs.Funcs {
		if len(f.Path) == len(s.Path) && p.matches(s.Path, f.Path) {
			out = append(out, f)
		}
	}
	return out
}

func (p *planned) matches(path []ir.Operand, names []string) bool {
	for i, o := range path {
		if c, ok := o.Value.(ir.StringIndex); ok && p.text(int(c)) != names[i] {
			return false
		}
	}
	return true
}

// nested are the blocks of a statement.
func nested(s ir.Stmt) []*ir.Block {
	switch s := s.(type) {
	case *ir.BlockStmt:
		return s.Blocks
	case *ir.ScanStmt:
		return []*ir.Block{s.Block}
	case *ir.NotStmt:
		return []*ir.Block{s.Block}
	case *ir.WithStmt:
		return []*ir.Block{s.Block}
	}
	return nil
}

// walkStmts visits every statement, those in blocks of others after them.
func walkStmts(blocks []*ir.Block, visit func(ir.Stmt)) {
	for _, b := range blocks {
		for _, s := range b.Stmts {
			visit(s)
			walkStmts(nested(s), visit)
		}
	}
}

// targets are the locals a statement sets or changes, those of its blocks not
// included.
func targets(s ir.Stmt) []ir.Local {
	switch s := s.(type) {
	case *ir.CallStmt:
		return []ir.Local{s.Result}
	case *ir.CallDynamicStmt:
		return []ir.Local{s.Result}
	case *ir.DotStmt:
		return []ir.Local{s.Target}
	case *ir.LenStmt:
		return []ir.Local{s.Target}
	case *ir.ScanStmt:
		return []ir.Local{s.Key, s.Value}
	case *ir.AssignIntStmt:
		return []ir.Local{s.Target}
	case *ir.AssignVarStmt:
		return []ir.Local{s.Target}
	case *ir.AssignVarOnceStmt:
		return []ir.Local{s.Target}
	case *ir.ResetLocalStmt:
		return []ir.Local{s.Target}
	case *ir.MakeNullStmt:
		return []ir.Local{s.Target}
	case *ir.MakeNumberIntStmt:
		return []ir.Local{s.Target}
	case *ir.MakeNumberRefStmt:
		return []ir.Local{s.Target}
	case *ir.MakeArrayStmt:
		return []ir.Local{s.Target}
	case *ir.MakeObjectStmt:
		return []ir.Local{s.Target}
	case *ir.MakeSetStmt:
		return []ir.Local{s.Target}
	case *ir.ArrayAppendStmt:
		return []ir.Local{s.Array}
	case *ir.ObjectInsertStmt:
		return []ir.Local{s.Object}
	case *ir.ObjectInsertOnceStmt:
		return []ir.Local{s.Object}
	case *ir.ObjectMergeStmt:
		return []ir.Local{s.Target}
	case *ir.SetAddStmt:
		return []ir.Local{s.Set}
	}
	return nil
}

// replacedData are the paths of base documents that some with statement of the
// plan replaces. What puts data back as it was replaces nothing.
func (p *planned) replacedData() [][]string {
	var out [][]string
	scan := func(blocks []*ir.Block) {
		saved := map[ir.Local]bool{}
		walkStmts(blocks, func(s ir.Stmt) {
			switch s := s.(type) {
			case *ir.AssignVarStmt:
				if s.Source.Value == ir.Val(ir.Data) {
					saved[s.Target] = true
				}
			case *ir.WithStmt:
				value, ok := s.Value.Value.(ir.Local)
				if s.Local != ir.Data || ok && len(s.Path) == 0 && saved[value] {
					return
				}
				path := make([]string, len(s.Path))
				for i, c := range s.Path {
					path[i] = p.text(c)
				}
				out = append(out, path)
			}
		})
	}
	for _, f := range p.Funcs.Funcs {
		scan(f.Blocks)
	}
	for _, q := range p.Plans.Plans {
		scan(q.Blocks)
	}
	return out
}

// overlap reports whether one path is on the way to the other.
func overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return lists.Equal(a[:n], b[:n])
}
