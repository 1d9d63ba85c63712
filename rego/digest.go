package rego

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Digest identifies the shared modules and documents that a hook's policy
// file names, by content. What cannot be read counts by its error, which
// Compile reports.
func (c *Compiler) Digest(h *policy.Hook) string {
	if h.File == nil || len(h.File.Rego.Paths)+len(h.File.Rego.Data) == 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.digests[h.File]; ok {
		return known
	}
	sum := sha256.New()
	add := func(roots []diag.Text, wanted func(string) bool) {
		for _, root := range roots {
			files, err := listFiles(root.Value, wanted)
			fmt.Fprintf(sum, "root %d %v\n", len(files), reason(err))
			for _, path := range files {
				content, err := os.ReadFile(path)
				place, _ := filepath.Rel(root.Value, path) // below a folder the way is part of a document's name
				fmt.Fprintf(sum, "file %q %v %d\n", filepath.ToSlash(place), reason(err), len(content))
				sum.Write(content)
			}
		}
	}
	add(h.File.Rego.Paths, isModule)
	add(h.File.Rego.Data, isDocument)
	if c.digests == nil {
		c.digests = map[*policy.FileConfig]string{}
	}
	c.digests[h.File] = hex.EncodeToString(sum.Sum(nil))
	return c.digests[h.File]
}
