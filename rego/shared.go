package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeShared = diag.Define(diag.Code{
	ID: "HK077", Severity: diag.Error,
	Title: "shared Rego or data cannot be used",
	Help: `rego: {paths: [...]} lists files and folders of .rego files that all rego hooks of the
policy file may import; rego: {data: [...]} lists JSON and YAML documents whose top
level becomes data. A file that is missing, is not what its name says, or sets a value
another one sets too makes every rego hook of the file uncertain, so it is an error.`,
	Bad: `-- hooks.yaml --
rego: {data: [limits.json]}
pre_tool_execution:
  - name: shell
    type: rego
    source: |
      package hooks.shell
      deny contains "no" if input.tool_name in data.limits.forbidden
-- limits.json --
["Bash"]
`,
	Good: `-- hooks.yaml --
rego: {data: [limits.json]}
pre_tool_execution:
  - name: shell
    type: rego
    source: |
      package hooks.shell
      deny contains "no" if input.tool_name in data.limits.forbidden
-- limits.json --
{"limits": {"forbidden": ["Bash"]}}
`,
})

// sharedFile is one file read: a module or a document, and what is wrong with
// it. The findings point into one Source, so that hooks sharing the file
// report them alike.
type sharedFile struct {
	content string
	version ast.RegoVersion
	text    diag.Text
	module  *ast.Module
	value   any
	found   diag.List
}

// library adds the shared modules and documents of the hook's policy file.
func (u *unit) library(c *Compiler) {
	for _, root := range u.config.Paths {
		for _, path := range u.list(root, isModule) {
			if filepath.Clean(path) == filepath.Clean(u.hook.Body.File) {
				u.ownPath = path
				continue
			}
			f, err := c.read(path, u.display(path), u.version, parseShared)
			if err != nil {
				u.found.Add(codeShared.Report(root.Span, "cannot read %s: %v", u.display(path), reason(err)))
				continue
			}
			u.where[path], u.files[path] = f.text, f
			u.found.Add(f.found...)
			if f.module != nil {
				u.modules[path] = f.module
			}
		}
	}
	for _, root := range u.config.Data {
		for _, path := range u.list(root, isDocument) {
			u.document(c, root, path)
		}
	}
}

func isModule(path string) bool {
	return strings.HasSuffix(path, ".rego") && !strings.HasSuffix(path, "_test.rego")
}

func isDocument(path string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))
}

// list returns the files under a path in order: a file itself, whatever its
// name, of a folder those wanted, hidden folders left out.
func (u *unit) list(root diag.Text, wanted func(string) bool) []string {
	files, err := listFiles(root.Value, wanted)
	if err != nil {
		u.found.Add(codeShared.Report(root.Span, "cannot read %s: %v", u.display(root.Value), reason(err)))
	}
	return files
}

func listFiles(root string, wanted func(string) bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
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

// read returns a file as make understood it, from memory when the content is
// what it was.
func (c *Compiler) read(path, name string, version ast.RegoVersion, make func(*sharedFile, string)) (*sharedFile, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[path]; f != nil && f.content == string(content) && f.version == version && f.text.Span.File() == name {
		return f, nil
	}
	f := &sharedFile{content: string(content), version: version}
	source := diag.NewSource(name, f.content)
	body := strings.TrimPrefix(f.content, "\ufeff")
	f.text = diag.NewText(body, diag.Span{Source: source, End: len(f.content)},
		[]diag.Mark{{Body: 0, Source: len(f.content) - len(body)}})
	make(f, path)
	if c.files == nil {
		c.files = map[string]*sharedFile{}
	}
	c.files[path] = f
	return f, nil
}

func parseShared(f *sharedFile, path string) {
	module, err := parseModule(path, f.text.Value, f.version)
	if err != nil {
		f.found = syntaxFindings(positions{path: f.text}, f.text.Value, f.version, err)
		return
	}
	f.module = module
}

// document merges one data document. Below a folder, the names of the folders
// on the way prefix it, as OPA's own loader has it.
func (u *unit) document(c *Compiler, root diag.Text, path string) {
	f, err := c.read(path, u.display(path), u.version, parseDocument)
	if err != nil {
		u.found.Add(codeShared.Report(root.Span, "cannot read %s: %v", u.display(path), reason(err)))
		return
	}
	u.found.Add(f.found...)
	u.files[path] = f
	object, ok := f.value.(map[string]any)
	if !ok {
		return
	}
	if rel, err := filepath.Rel(root.Value, filepath.Dir(path)); err == nil && filepath.IsLocal(rel) && rel != "." {
		parts := strings.Split(filepath.ToSlash(rel), "/")
		for _, part := range slices.Backward(parts) {
			object = map[string]any{part: object}
		}
	}
	if at := merge(u.data, object); at != "" {
		start := diag.Span{Source: f.text.Span.Source}
		u.found.Add(codeShared.Report(start, "data%s is set by another document too", at))
	}
}

// merge adds the members of src to dst and returns the path of a value both
// hold, "" when there is none. Objects are merged, never shared.
func merge(dst, src map[string]any) string {
	for _, k := range slices.Sorted(maps.Keys(src)) {
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

var yamlLine = regexp.MustCompile(`\bline ([0-9]+)`)

// errorAt is where a JSON or YAML error says it is, else the file's start.
func (f *sharedFile) errorAt(err error) diag.Span {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := int(syntax.Offset)
		return f.text.At(max(at-1, 0), at)
	}
	if m := yamlLine.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil {
			return f.text.AtLineCol(line, 1)
		}
	}
	return diag.Span{Source: f.text.Span.Source}
}
