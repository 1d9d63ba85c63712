package weight

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// sorted names the types of hookc that slices.SortFunc and its kin sort by value, and why.
// Each struct among them is 20 kB of the program: sort.Slice sorts it for nothing.
var sorted = map[string]string{}

// A pointer is no row: all pointers share their code.
var sortOf = regexp.MustCompile(`slices\.\.dict\.(?:pdqsort|stable)CmpFunc\[((?:main|github\.com/hookc/hookc)[^\]]*)\]`)

// TestSortsOfStructs reads from the linked program what is sorted.
func TestSortsOfStructs(t *testing.T) {
	depth.NotShort(t)
	found := map[string]bool{}
	for _, m := range sortOf.FindAllStringSubmatch(run(t, root(t), os.Environ(), "go", "tool", "nm", programs.Hookc(t)), -1) {
		found[strings.TrimPrefix(m[1], "github.com/hookc/hookc/")] = true
	}
	assert.Equal(t, slices.Sorted(maps.Keys(sorted)), slices.Sorted(maps.Keys(found)), "sort.Slice, or a row here with its reason")
}
