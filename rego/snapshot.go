package rego

import (
	"io/fs"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/disk"
)

// Shared is the shared files of a policy as they once were, in the place of the
// disk: Roots are what rego.paths and rego.data named, by rootKey, with the files
// found below each in order, and Files what those held. A file that could not be read is
// not among them. It is not to be changed.
type Shared struct {
	Roots map[string][]string
	Files map[string]string
}

// rootKey tells a root of Rego from one of data: a folder may be both.
func rootKey(root string, data bool) string {
	if data {
		return "data " + root
	}
	return "rego " + root
}

// Capture reads the shared files that the hooks of a policy may use.
func Capture(hooks []*policy.Hook) *Shared {
	s := &Shared{Roots: map[string][]string{}, Files: map[string]string{}}
	var seen []*policy.FileConfig
	for _, h := range hooks {
		if h.File == nil || lists.Among(seen, h.File) {
			continue
		}
		seen = append(seen, h.File)
		s.roots(h.File.Rego.Paths, isModule, false)
		s.roots(h.File.Rego.Data, isDocument, true)
	}
	return s
}

func (s *Shared) roots(roots []diag.Text, wanted func(string) bool, data bool) {
	for _, root := range roots {
		files, err := listFiles(root.Value, wanted)
		if err != nil {
			continue // the compiler reports it, and there is no program then
		}
		s.Roots[rootKey(root.Value, data)] = files
		for _, path := range files {
			if content, err := readText(path); err == nil {
				s.Files[path] = content
			}
		}
	}
}

// filesOf lists the files of a root that are wanted.
func (c *Compiler) filesOf(root string, wanted func(string) bool, data bool) ([]string, error) {
	if c.Shared == nil {
		return listFiles(root, wanted)
	}
	files, ok := c.Shared.Roots[rootKey(root, data)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: root, Err: fs.ErrNotExist}
	}
	return files, nil
}

// raw is what a file holds.
func (c *Compiler) raw(path string) *disk.File {
	if c.Draft != nil {
		if text, ok := c.Draft(path); ok {
			return &disk.File{Content: text}
		}
	}
	if c.Shared == nil {
		return c.read.Read(path, readText)
	}
	content, ok := c.Shared.Files[path]
	if !ok {
		return &disk.File{Err: &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}}
	}
	return &disk.File{Content: content}
}
