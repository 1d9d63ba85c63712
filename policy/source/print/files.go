package print

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Named reports whether a file of a folder is one that fmt lays out.
func Named(path string) bool {
	name := filepath.Base(path)
	return name == "hooks.yaml" || name == "hooks.local.yaml" || name == "HOOK.md" || strings.HasSuffix(name, "_test.yaml") || filepath.Ext(name) == ".rego"
}

// Files adds the files of a folder and those below it, by name.
func Files(out []string, dir string) ([]string, error) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && path != dir && (name == ".git" || name == "node_modules"):
			return filepath.SkipDir
		case e.Type().IsRegular() && Named(path):
			out = append(out, path)
		}
		return nil
	})
	return out, err
}
