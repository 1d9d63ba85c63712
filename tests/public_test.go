package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lent are the types of other packages that the public ones name. They are promised
// with those.
var lent = []string{"executor.Action", "executor.Actions", "executor.Outcome", "executor.StepOutcome", "executor.Reused",
	"policy/approval.Asker", "policy/approval.Block", "policy/approval.Blocks", "policy/approval.Grant", "policy/approval.Rule", "policy/approval.Terms", "policy/approval.Webhook",
	"policy/observe.Observer", "policy/pattern.Flavour", "policy/pattern.Pattern", "policy/record.Setting", "policy/record.When"}

// typed reads the exported names of packages of this module, with their types.
func typed(t *testing.T, names []string) map[string]*types.Package {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, name := range names {
		args = append(args, strings.TrimSuffix(module+"/"+name, "/"))
	}
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		files[p.ImportPath] = p.Export
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	all := map[string]*types.Package{}
	for _, name := range names {
		p, err := from.Import(strings.TrimSuffix(module+"/"+name, "/"))
		require.NoError(t, err)
		all[name] = p
	}
	return all
}

// meets calls see for each type of this module that a reader of an exported object
// meets: in signatures, exported fields and methods.
func meets(o types.Object, see func(*types.TypeName)) {
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	named := func(n *types.TypeName) bool {
		if n.Pkg() == nil || !strings.HasPrefix(n.Pkg().Path(), module) {
			return false
		}
		see(n)
		return true
	}
	visit = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			named(t.Obj())
			visit(t.Rhs())
		case *types.Named:
			named(t.Obj())
			for i := range t.TypeArgs().Len() {
				visit(t.TypeArgs().At(i))
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Chan:
			visit(t.Elem())
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Tuple:
			for i := range t.Len() {
				visit(t.At(i).Type())
			}
		case *types.Signature:
			visit(t.Params())
			visit(t.Results())
		case *types.Struct:
			for i := range t.NumFields() {
				if f := t.Field(i); f.Exported() {
					visit(f.Type())
				}
			}
		case *types.Interface:
			for i := range t.NumMethods() {
				if m := t.Method(i); m.Exported() {
					visit(m.Type())
				}
			}
		}
	}
	visit(o.Type())
	if n, ok := o.(*types.TypeName); ok && !n.IsAlias() {
		own, _ := n.Type().(*types.Named)
		visit(own.Underlying())
		for i := range own.NumMethods() {
			if m := own.Method(i); m.Exported() {
				visit(m.Type())
			}
		}
	}
}

// TestPublicTypes: who reads what a public package exports meets no type of a package
// that is not.
func TestPublicTypes(t *testing.T) {
	used := map[string]bool{}
	check := func(o types.Object) {
		meets(o, func(n *types.TypeName) {
			in, name := local(n.Pkg().Path()), local(n.Pkg().Path())+"."+n.Name()
			if !slices.Contains(public, in) {
				used[name] = true
				assert.Contains(t, lent, name, "%s.%s names it, and its package is not public", o.Pkg().Name(), o.Name())
			}
		})
	}
	packages := typed(t, append(slices.Clone(public), "executor", "policy/approval", "policy/observe", "policy/pattern", "policy/record"))
	for _, name := range public {
		scope := packages[name].Scope()
		for _, id := range scope.Names() {
			if o := scope.Lookup(id); o.Exported() {
				check(o)
			}
		}
	}
	for _, name := range lent {
		in, id, _ := strings.Cut(name, ".")
		check(packages[in].Scope().Lookup(id))
	}
	for _, name := range lent {
		assert.True(t, used[name], "lent has %s, which no public package names", name)
	}
}

// TestPromise: README.md promises the packages that are public, and no other.
func TestPromise(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "- **Go**: the packages ")
	list, _, _ = strings.Cut(list, ", and the types")
	var promised []string
	for i, name := range strings.Split(list, "`") {
		if i%2 == 1 {
			promised = append(promised, strings.TrimPrefix(name, "hookc"))
		}
	}
	assert.ElementsMatch(t, public, promised)
}

// TestExamples: there is an example of what a host does first, and go test compares what
// each of them prints.
func TestExamples(t *testing.T) {
	var found []string
	for _, dir := range []string{"", "policy"} {
		paths, err := filepath.Glob(filepath.Join("..", dir, "example*_test.go"))
		require.NoError(t, err)
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			require.NoError(t, err)
			for _, e := range doc.Examples(file) {
				found = append(found, e.Name)
				assert.True(t, e.Output != "" || e.EmptyOutput, "%s: nothing compares what it prints", e.Name)
			}
		}
	}
	assert.Subset(t, found, []string{"Open", "Engine_PreTool", "Rules", "Engine_Session", "Engine_Run", "Engine_Reload", "Model", "Decision"})
}

// TestPublicDocs: every exported name of a public package has a comment, but for
// methods that an interface of the standard library describes.
func TestPublicDocs(t *testing.T) {
	described := []string{"String", "Error", "Unwrap"}
	for _, name := range public {
		_, files, _ := sources(t, name)
		comment := func(id *ast.Ident, docs ...*ast.CommentGroup) {
			has := slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil })
			assert.True(t, has || !id.IsExported(), "%s: %s has no comment", name, id.Name)
		}
		for _, file := range files {
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil || !slices.Contains(described, d.Name.Name) {
						comment(d.Name, d.Doc)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							comment(s.Name, s.Doc, d.Doc)
						case *ast.ValueSpec:
							for _, id := range s.Names {
								comment(id, s.Doc, s.Comment, d.Doc)
							}
						}
					}
				}
			}
		}
	}
}
