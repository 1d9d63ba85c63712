package compiler

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

var codeGlob = diag.Define("HK126", diag.Error, "glob cannot be used")

// pathGlob matches the file a call is about, by its path relative to the
// project root or its absolute path; paths are compared as text, no disk is
// looked at.
func pathGlob(v diag.Text) (policy.Atom, *diag.Diagnostic) {
	glob, err := pattern.Glob(v.Value)
	if err != nil {
		return policy.Atom{}, patternProblem(codeGlob, v, err)
	}
	return policy.Atom{Op: policy.AtomMatch, Field: policy.FieldPath, Values: []string{v.Value},
		Reads: []policy.Field{policy.FieldPath, policy.FieldCwd, policy.FieldProjectRoot},
		Test: func(c *policy.Context) bool {
			file := c.Text(policy.FieldPath)
			if file == "" {
				return false
			}
			absolute := absolutePath(file, c.Text(policy.FieldCwd))
			relative, inside := relativePath(absolute, c.Text(policy.FieldProjectRoot))
			return glob.Match(absolute) || inside && glob.Match(relative)
		}}, nil
}

// absolutePath is file with slashes, cleaned, relative ones taken from cwd.
// Without a cwd a relative path stays what it is.
func absolutePath(file, cwd string) string {
	file = filepath.ToSlash(file)
	if !path.IsAbs(file) && filepath.VolumeName(file) == "" && cwd != "" {
		file = filepath.ToSlash(cwd) + "/" + file
	}
	return path.Clean(file)
}

// relativePath is file seen from root, and whether it lies inside. What is not
// absolute is taken as relative to the root already.
func relativePath(file, root string) (string, bool) {
	if !path.IsAbs(file) && filepath.VolumeName(file) == "" {
		return file, !strings.HasPrefix(file, "../")
	}
	if root == "" {
		return "", false
	}
	root = strings.TrimSuffix(path.Clean(filepath.ToSlash(root)), "/")
	rest, inside := spell.CutPrefix(file, root+"/")
	return rest, inside
}
