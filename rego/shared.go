package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeShared = diag.Define("HK077", diag.Error, "shared Rego or data cannot be used")

// sharedFile is one file read: a module or a document, and what is wrong with
// it. The findings point into one Source, so that hooks sharing the file
// report them alike.
type sharedFile struct {
	content string
	text    diag.Text
	module  *ast.Module
	value   any
	found   diag.List
	// refs are what the module refers to under data, in its package.
	refs []ast.Ref
}

func isModule(path string) bool {
	return strings.HasSuffix(path, ".rego") && !strings.HasSuffix(path, "_test.rego")
}

func isDocument(path string) bool {
	return lists.Has([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))
}

// maxLooked is how many files and folders a folder of shared Rego or data may
// hold: more than people write, less than a disk.
const maxLooked = 20_000

// listFiles returns the files under a path in order: a file itself, whatever
// its name, of a folder those wanted, hidden folders left out.
func listFiles(root string, wanted func(string) bool) ([]string, error) {
	var out []string
	looked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		looked++
		switch {
		case err != nil:
			return err
		case looked > maxLooked:
			return fault.Errorf("it holds more than %d files and folders", maxLooked)
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && (path == root || wanted(path)):
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// display is the path as people know it: relative to where the policy file
// was read from.
func (u *unit) display(path string) string {
	if u.hook.File == nil || u.hook.Span.Source == nil {
		return path
	}
	rel, err := filepath.Rel(u.hook.File.Dir, path)
	if err != nil {
		return path
	}
	return filepath.Join(filepath.Dir(u.hook.Span.Source.Name), rel)
}

// reason is an error of the file system without the path it repeats.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func parseShared(f *sharedFile, path string, version ast.RegoVersion) {
	module, err := parseModule(path, f.text.Value, version)
	if err != nil {
		f.found = syntaxFindings(positions{path: f.text}, f.text.Value, version, err)
		return
	}
	f.module, f.refs = module, dataRefs(module)
}

// merge adds the members of src to dst and returns the path of a value both
// hold, "" when there is none. Objects are merged, never shared.
func merge(dst, src map[string]any) string {
	for _, k := range lists.Keys(src) {
		inner, isObject := src[k].(map[string]any)
		old, exists := dst[k]
		switch {
		case !exists && !isObject:
			dst[k] = src[k]
			continue
		case !exists:
			old = map[string]any{}
			dst[k] = old
		}
		into, both := old.(map[string]any)
		if !both || !isObject {
			return "." + k
		}
		if at := merge(into, inner); at != "" {
			return "." + k + at
		}
	}
	return ""
}

func parseDocument(f *sharedFile, path string) {
	var err error
	if filepath.Ext(path) == ".json" {
		f.value, err = policy.DecodeJSON([]byte(f.text.Value))
	} else {
		err = util.Unmarshal([]byte(f.text.Value), &f.value)
	}
	start := diag.Span{Source: f.text.Span.Source}
	if err != nil {
		f.found.Add(codeShared.Report(f.errorAt(err), "not %s: %v", strings.TrimPrefix(filepath.Ext(path), "."), err))
		f.value = nil
		return
	}
	if _, ok := f.value.(map[string]any); !ok {
		f.found.Add(codeShared.Report(start, "the document is not an object, so it names nothing under data"))
	}
}

var yamlLine = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\bline ([0-9]+)`) })

// errorAt is where a JSON or YAML error says it is, else the file's start.
func (f *sharedFile) errorAt(err error) diag.Span {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := int(syntax.Offset)
		return f.text.At(max(at-1, 0), at)
	}
	if m := yamlLine().FindStringSubmatch(fmt.Sprint(err)); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil {
			return f.text.AtLineCol(line, 1)
		}
	}
	return diag.Span{Source: f.text.Span.Source}
}
