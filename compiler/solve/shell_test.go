package solve

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEffectWords: what a member of an effect may be are the constants of its type, no
// more and no fewer, and for each of them a command line is known.
func TestEffectWords(t *testing.T) {
	want := map[string][]string{}
	names := map[string]string{"EffectKind": "kind", "Domain": "domain", "Certainty": "certainty", "Zone": "place"}
	files, err := filepath.Glob("../../builtins/shell/*.go")
	require.NoError(t, err)
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if v, is := n.(*ast.ValueSpec); is && v.Type != nil && len(v.Values) == 1 {
				if of, is := v.Type.(*ast.Ident); is && names[of.Name] != "" {
					text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					want[names[of.Name]] = append(want[names[of.Name]], text)
				}
			}
			return true
		})
	}
	for name, words := range effectWords {
		assert.ElementsMatch(t, want[name], words, name)
		for _, word := range words {
			found := word == "above_project" // the project of the events that are made lies in /
			for _, effects := range effectsOf() {
				for _, e := range effects {
					found = found || e.(map[string]any)[name] == word
				}
			}
			assert.True(t, found, "no command line has an effect of %s %s", name, word)
		}
	}
}

// TestShellShape: `shell` of real command lines has the parts that the shape has, of
// the same types.
func TestShellShape(t *testing.T) {
	var compare func(at string, shape, v any)
	compare = func(at string, shape, v any) {
		switch v := v.(type) {
		case map[string]any:
			of, is := shape.(map[string]any)
			require.True(t, is, at)
			for key, part := range v {
				part2, there := of[key]
				if any, open := of[anyName]; open {
					part2, there = any, true
				}
				require.True(t, there, at+"."+key)
				compare(at+"."+key, part2, part)
			}
		case []any:
			of, is := shape.([]any)
			require.True(t, is, at)
			for _, part := range v {
				compare(at+"[]", of[0], part)
			}
		default:
			assert.IsType(t, shape, v, at)
		}
	}
	for _, line := range append(effectLines, "A=b sudo env x >y 2>&1 | (cat <<E\nx\nE\n) || f() { :; }") {
		compare("shell", shellShape(), shellOf(strings.ReplaceAll(line, "TARGET:", "")))
	}
}
