package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// library is the shared modules and documents that a policy file names, as
// they were when a compilation began. It is immutable and safe for concurrent
// use; a compilation that finds nothing changed has the same one again.
type library struct {
	roots []libraryRoot
	items []libraryItem
	// modules are the files that parse, by path; where has the text of all.
	modules map[string]*sharedFile
	where   positions
	data    *documents

	digest    func() string
	faults    func() ast.Errors
	forbidden func() []libraryFault
}

// libraryRoot is one entry of rego.paths or rego.data and what is below it.
type libraryRoot struct {
	text  diag.Text
	files []string
	err   error
	data  bool
}

// libraryItem is a file of a library and what is wrong with it, if anything.
type libraryItem struct {
	path  string
	data  bool
	file  *sharedFile
	found diag.List
}

// libraryFault is a forbidden function that a shared file calls.
type libraryFault struct {
	at   *ast.Location
	name string
}

// documents are the data that hooks see. Hooks that see the same share one
// store; its transaction is held for ever, since nothing ever writes.
type documents struct {
	of    []document
	store storage.Store
	txn   storage.Transaction
}

// document is one file of data and the names that lead to its content.
type document struct {
	file  *sharedFile
	below string
	open  bool // it may come to have more
}

// Begin begins a compilation: what was read before may have changed. It must
// not be called while hooks are compiled.
func (c *Compiler) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Begin()
	c.files, c.olderFiles = nil, c.files
	c.libraries, c.olderLibraries = nil, c.libraries
}

// libraryKey is what libraries are told apart by: the settings that name it,
// and the folder that the names of its files are shown from.
type libraryKey struct {
	config *policy.FileConfig
	shown  string
}

// libraryOf is the library of a hook, the same for all hooks of a policy file.
func (c *Compiler) libraryOf(h *policy.Hook) *library {
	var key libraryKey
	if h.File != nil && len(h.File.Rego.Paths)+len(h.File.Rego.Data) > 0 {
		key.config = h.File
		if src := h.Span.Source; src != nil {
			key.shown = filepath.Dir(src.Name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.libraries[key]; l != nil {
		return l
	}
	l := c.load(newUnit(h))
	if old := c.olderLibraries[key]; old != nil && old.is(l) {
		l = old
	}
	if c.libraries == nil {
		c.libraries = map[libraryKey]*library{}
	}
	c.libraries[key] = l
	return l
}

// is reports whether two libraries have the same files with the same findings.
func (l *library) is(m *library) bool {
	return l.data == m.data &&
		slices.EqualFunc(l.roots, m.roots, func(a, b libraryRoot) bool {
			return a.err == nil && b.err == nil && lists.Equal(a.files, b.files)
		}) &&
		slices.EqualFunc(l.items, m.items, func(a, b libraryItem) bool {
			return a.path == b.path && a.file == b.file && a.file != nil
		})
}

// load reads a library. The caller holds mu.
func (c *Compiler) load(u *unit) *library {
	l := &library{modules: map[string]*sharedFile{}, where: positions{}}
	for _, root := range u.config.Paths {
		l.list(c, root, isModule, false)
	}
	for _, root := range u.config.Data {
		l.list(c, root, isDocument, true)
	}
	var docs []document
	data := map[string]any{}
	for i := range l.roots {
		root := &l.roots[i]
		if root.err != nil {
			l.items = append(l.items, libraryItem{found: diag.List{codeShared.Report(root.text.Span, "cannot read %s: %v", u.display(root.text.Value), reason(root.err))}})
		}
		for _, path := range root.files {
			item := c.item(u, root, path)
			if f := item.file; f != nil && root.data {
				doc := document{f, below(root.text.Value, path), lists.Has(u.config.Open, root.text.Value)}
				docs = append(docs, doc)
				item.found = append(lists.Copy(f.found), doc.mergeInto(data)...)
			} else if f != nil {
				item.found, l.where[path] = f.found, f.text
				if f.module != nil {
					l.modules[path] = f
				}
			}
			l.items = append(l.items, item)
		}
	}
	l.data = c.documents(docs, data)
	config, forbid, version := u.config, u.forbid, u.version
	l.digest = lazy.Value(func() string { return l.sum(&config, c) })
	l.faults = lazy.Value(func() ast.Errors { return l.check(forbid, version) })
	l.forbidden = lazy.Value(func() []libraryFault { return l.calls(forbid) })
	return l
}

func (l *library) list(c *Compiler, root diag.Text, wanted func(string) bool, data bool) {
	files, err := c.filesOf(root.Value, wanted, data)
	l.roots = append(l.roots, libraryRoot{root, files, err, data})
}

// item reads one file, from memory when its content is what it was.
func (c *Compiler) item(u *unit, root *libraryRoot, path string) libraryItem {
	name := u.display(path)
	raw := c.raw(path)
	if raw.Err != nil {
		return libraryItem{path: path, data: root.data, found: diag.List{codeShared.Report(root.text.Span, "cannot read %s: %v", name, reason(raw.Err))}}
	}
	key := fileKey{path, name, u.version, root.data}
	if f := c.files[key]; f != nil {
		return libraryItem{path: path, data: root.data, file: f}
	}
	f := c.olderFiles[key]
	if f == nil || f.content != raw.Content {
		f = newSharedFile(key, raw.Content)
	}
	if c.files == nil {
		c.files = map[fileKey]*sharedFile{}
	}
	c.files[key] = f
	return libraryItem{path: path, data: root.data, file: f}
}

// fileKey is what the same content means something else by.
type fileKey struct {
	path, name string
	version    ast.RegoVersion
	data       bool
}

func newSharedFile(key fileKey, content string) *sharedFile {
	f := &sharedFile{content: content}
	source := diag.NewSource(key.name, content)
	body := strings.TrimPrefix(content, "\ufeff")
	f.text = diag.NewText(body, diag.Span{Source: source, End: len(content)}, []diag.Mark{{Body: 0, Source: len(content) - len(body)}})
	if key.data {
		parseDocument(f, key.path)
	} else {
		parseShared(f, key.path, key.version)
	}
	return f
}

// maxShared is how many bytes one file of shared Rego or data may have.
const maxShared = 32 << 20

// readText reads a file that is a file, and no more than it may have: a pipe or
// a device may never end.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir(): // whose error says so
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case info.Size() > maxShared:
		return "", fault.Errorf("it has %d bytes; %d is the most", info.Size(), maxShared)
	}
	content, err := os.ReadFile(path)
	return string(content), err
}

// below is the way from a folder of documents to one of them: the names on it
// prefix its content, as OPA's own loader has it.
func below(root, path string) string {
	if rel, err := filepath.Rel(root, filepath.Dir(path)); err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.ToSlash(rel)
	}
	return ""
}

// mergeInto adds a document to the data.
func (d *document) mergeInto(data map[string]any) diag.List {
	object, ok := d.file.value.(map[string]any)
	if !ok {
		return nil
	}
	if at := merge(data, d.under(object)); at != "" {
		start := diag.Span{Source: d.file.text.Span.Source}
		return diag.List{codeShared.Report(start, "data%s is set by another document too", at)}
	}
	return nil
}

// under is the content of a document below the names that lead to it.
func (d *document) under(object map[string]any) map[string]any {
	if d.below != "" {
		for _, part := range slices.Backward(strings.Split(d.below, "/")) {
			object = map[string]any{part: object}
		}
	}
	return object
}

// open reports whether an object of the documents may come to have a key: one of an
// open document, where no other document has a key that is written nearly so.
func (d *documents) open(path []string, key string) bool {
	open := false
	var closed []string
	for _, doc := range d.of {
		object, is := doc.file.value.(map[string]any)
		object = doc.under(object)
		for _, name := range path {
			object, is = object[name].(map[string]any)
		}
		open = open || is && doc.open
		if !doc.open {
			closed = slices.AppendSeq(closed, maps.Keys(object))
		}
	}
	return open && diag.Suggest(key, closed) == ""
}

// documents is the store of a list of documents, which another library may
// have as well.
func (c *Compiler) documents(of []document, data map[string]any) *documents {
	if len(of) == 0 {
		return noDocuments()
	}
	for _, all := range []map[libraryKey]*library{c.libraries, c.olderLibraries} {
		for _, l := range all {
			if lists.Equal(l.data.of, of) {
				return l.data
			}
		}
	}
	return newDocuments(of, data)
}

// noDocuments is what most hooks see.
var noDocuments = lazy.Value(func() *documents { return newDocuments(nil, map[string]any{}) })

func newDocuments(of []document, data map[string]any) *documents {
	d := &documents{of: of, store: inmem.NewFromASTObject(toTerm(data).Value.(ast.Object))}
	txn, err := d.store.NewTransaction(context.Background())
	if err != nil {
		panic("rego: in-memory store refused a transaction: " + err.Error())
	}
	d.txn = txn
	return d
}

// check compiles the shared modules on their own: a hook is compiled with
// those alone that it can see, and what is wrong with the others is an error
// all the same.
func (l *library) check(forbid map[string]struct{}, version ast.RegoVersion) ast.Errors {
	if len(l.modules) == 0 {
		return nil
	}
	compiler := newOPACompiler(version, forbid).WithPathConflictsCheck(storage.NonEmpty(context.Background(), l.data.store, l.data.txn))
	modules := map[string]*ast.Module{}
	for path, f := range l.modules {
		modules[path] = f.module
	}
	compiler.Compile(modules)
	return compiler.Errors
}

// calls lists the calls of forbidden functions.
func (l *library) calls(forbid map[string]struct{}) []libraryFault {
	var out []libraryFault
	for _, path := range lists.Keys(l.modules) {
		out = append(out, forbiddenCalls(l.modules[path].module, forbid)...)
	}
	return out
}

// sum identifies the library by content. What cannot be read counts by its
// error.
func (l *library) sum(config *policy.RegoConfig, c *Compiler) string {
	if len(config.Paths)+len(config.Data) == 0 {
		return ""
	}
	sum := sha256.New()
	for i := range l.roots {
		root := &l.roots[i]
		fmt.Fprintf(sum, "root %d %v\n", len(root.files), reason(root.err))
		for _, path := range root.files {
			raw := c.raw(path)
			place, _ := filepath.Rel(root.text.Value, path) // below a folder the way is part of a document's name
			fmt.Fprintf(sum, "file %q %v %d\n", filepath.ToSlash(place), reason(raw.Err), len(raw.Content))
			sum.Write([]byte(raw.Content))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Digest identifies the shared modules and documents that a hook's policy
// file names, by content. What cannot be read counts by its error, which
// Compile reports.
func (c *Compiler) Digest(h *policy.Hook) string {
	if h.File == nil || len(h.File.Rego.Paths)+len(h.File.Rego.Data) == 0 {
		return ""
	}
	return c.libraryOf(h).digest()
}
