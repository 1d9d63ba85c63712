package guard

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// lawNames are the names that the law's files, folders and patterns are made of.
var lawNames = []string{"ax", "bx", "cx.tf", "dx"}

// lawTree makes random files below root and lists them with their folders.
func lawTree(t *testing.T, r *rand.Rand, root string) (files, folders []string) {
	seen := map[string]bool{}
	for range 6 {
		p := ""
		for range 1 + r.IntN(4) {
			p = path.Join(p, lawNames[r.IntN(len(lawNames))])
			if info, err := os.Stat(filepath.Join(root, p)); err == nil && !info.IsDir() {
				break
			}
		}
		if info, err := os.Stat(filepath.Join(root, p)); err == nil && info.IsDir() || os.MkdirAll(filepath.Join(root, path.Dir(p)), 0o755) != nil {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, p), nil, 0o644))
		files = append(files, p)
		for d := path.Dir(p); d != "." && !seen[d]; d = path.Dir(d) {
			seen[d] = true
			folders = append(folders, d)
		}
	}
	return files, folders
}

// lawPattern is a random pattern of every kind that path-guard reads.
func lawPattern(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, []string{lawNames[0], lawNames[1], lawNames[2], lawNames[3], "*", "**", "?x", "{ax,bx}", "*.tf"}[r.IntN(9)])
	}
	p := strings.Join(parts, "/")
	if r.IntN(3) == 0 {
		p = "**/" + p
	}
	return p
}

// lawNamed reports whether a pattern names a path or a folder that holds it,
// which is what a guard protects.
func lawNamed(pattern, p string) bool {
	for ; p != "."; p = path.Dir(p) {
		if doublestar.MatchUnvalidated(pattern, p) {
			return true
		}
	}
	return false
}

// lawHit reports whether a call that takes a folder does so to a protected file:
// one that is there, or one that a pattern with a fixed beginning can name.
func lawHit(pattern, folder string, files []string) bool {
	if lawNamed(pattern, folder) {
		return true
	}
	for _, f := range files {
		if strings.HasPrefix(f, folder+"/") && lawNamed(pattern, f) {
			return true
		}
	}
	if strings.HasPrefix(pattern, "**") {
		return false
	}
	var below func(p string, depth int) bool
	below = func(p string, depth int) bool {
		for _, name := range lawNames {
			q := path.Join(p, name)
			if doublestar.MatchUnvalidated(pattern, q) || depth > 0 && below(q, depth-1) {
				return true
			}
		}
		return false
	}
	return below(folder, 2)
}

// lawCalls are the calls that take the folder D, which is absolute; R is its
// path from the project, and T a path elsewhere.
func lawCalls(dir, rel string) map[string]*policy.Context {
	out := map[string]*policy.Context{}
	for _, form := range []string{
		"rm -rf %D", "rm -r -- %R", "mv %R %T", "mv %D /tmp/elsewhere", "find %R -delete", "find %D -type f -exec rm {} +", "find %R -type f | xargs rm -f", "chmod -R 700 %R", "chmod 000 %D", "chown -R nobody %R",
		"cd %R && rm -rf ./*", "cd %R && find . -delete", "rsync -a --delete %T/ %R/", "sudo rm -rf %R", "bash -c 'rm -rf %R'", "x=%R; rm -rf \"$x\"", "for d in %R; do rm -rf $d; done",
		"git rm -r %R", "git mv %R %T", "rm -rf %T && mv %R %T", "pwsh -c 'Remove-Item -Recurse -Force %R'", "cmd /c 'rd /s /q %R'", "pwsh -c 'Move-Item %R %T'",
		"python3 -c \"import shutil; shutil.rmtree('%R')\"", "python3 -c \"import os; os.rename('%R', '%T')\"", "node -e \"require('fs').rmSync('%R', {recursive: true})\"", "find %R -type f -exec truncate -s 0 {} \\;", "trash %R", "rimraf %R",
		"perl -e 'rename \"%R\", \"%T\"'", "ruby -e \"require 'fileutils'; FileUtils.rm_rf('%R')\"",
	} {
		out[form] = bashCall(strings.NewReplacer("%D", dir, "%R", rel, "%T", "elsewhere").Replace(form))
	}
	for _, tool := range []string{"delete_file", "Delete", "mcp__fs__delete", "mcp__fs__remove_directory", "mcp__x__trash_item", "@fs/rmdir", "deleteFolder"} {
		out[tool] = toolCall(tool, map[string]any{"path": dir})
		out[tool+" in a list"] = toolCall(tool, map[string]any{"items": []any{map[string]any{"target": rel}}})
	}
	for _, tool := range []string{"mcp__fs__move_file", "mcp__fs__rename", "moveFile", "mcp_fs_rename_path"} {
		out[tool] = toolCall(tool, map[string]any{"source": rel, "destination": "elsewhere"})
		out[tool+" over it"] = toolCall(tool, map[string]any{"from": "elsewhere", "to": "file://" + dir})
	}
	return out
}

// TestFoldersAreTaken: a call that removes, moves, replaces, truncates or changes
// the mode of a folder is judged as doing so to everything below it that is there
// or that a protected pattern can name; one that takes nothing protected passes.
func TestFoldersAreTaken(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	hits, misses := 0, 0
	for range depth.Judged(500) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		files, folders := lawTree(t, r, root)
		if len(folders) == 0 {
			continue
		}
		pattern := lawPattern(r)
		folder := folders[r.IntN(len(folders))]
		g := mustGuard(t, "path-guard", map[string]any{"protect": []any{pattern}, "agents": false})
		hit := lawHit(pattern, folder, files)
		for name, in := range lawCalls(filepath.ToSlash(filepath.Join(root, folder)), folder) {
			got := say(t, g, in.Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root)).Verdict
			if hit {
				hits++
				assert.NotEqual(t, policy.None, got, "%s of %s lets %q pass; there is %v", name, folder, pattern, files)
			} else if !strings.Contains(name, "%T") && !strings.Contains(strings.ToLower(name), "move") && !strings.Contains(name, "rename") && !strings.HasPrefix(pattern, "**") {
				misses++
				assert.Equal(t, policy.None, got, "%s of %s is denied for %q; there is %v", name, folder, pattern, files)
			}
		}
		if t.Failed() {
			t.Log(fmt.Sprint(hits, misses))
			return
		}
	}
	assert.Greater(t, hits, 300)
	assert.Greater(t, misses, 300)
}
