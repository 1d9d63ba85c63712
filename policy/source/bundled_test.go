//go:build unix

package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/bundled"
)

// TestBundlesInForce: what hookcd put in force is managed policy, and whatever is
// wrong with it is an error, or a warning of every decision: never no policy.
func TestBundlesInForce(t *testing.T) {
	write := func(t *testing.T, path string, v any) {
		t.Helper()
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	bundle := func(change func(*bundled.Bundle)) map[string]any {
		b := bundled.Bundle{Name: "main", Folder: "one", Revision: "v1", MaxAge: 60}
		if change != nil {
			change(&b)
		}
		return map[string]any{"bundles": []bundled.Bundle{b}}
	}
	contact := func(ago time.Duration) map[string]bundled.Contact {
		return map[string]bundled.Contact{"main": {Confirmed: time.Now().Add(-ago)}}
	}
	for name, test := range map[string]struct {
		change      func(t *testing.T, dir string)
		hooks       int
		says, warns string
	}{
		"in force":       {func(*testing.T, string) {}, 1, "", ""},
		"clock set back": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, bundled.Seen), contact(-time.Hour)) }, 1, "", "the clock was changed"},
		"refused": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, bundled.Seen), map[string]bundled.Contact{"main": {Confirmed: time.Now(), Refused: "its signature is wrong"}})
		}, 1, "", "its signature is wrong"},
		"old":             {func(t *testing.T, dir string) { write(t, filepath.Join(dir, bundled.Seen), contact(time.Hour)) }, 1, "", "last confirmed"},
		"never confirmed": {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, bundled.Seen))) }, 1, "", "never confirmed"},
		"old and denies": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, bundled.Seen), contact(time.Hour))
			write(t, filepath.Join(dir, bundled.Index), bundle(func(b *bundled.Bundle) { b.OnStale = bundled.Deny }))
		}, 4, "", "last confirmed"},
		"folder gone": {func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, bundled.Folders))) }, 0, "HK001", ""},
		"folder empty": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, bundled.Folders, "one", "hooks.yaml")))
		}, 0, "HK015", ""},
		"damaged":      {func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, bundled.Index), 20)) }, 0, "HK231", ""},
		"empty":        {func(t *testing.T, dir string) { write(t, filepath.Join(dir, bundled.Index), map[string]any{}) }, 0, "HK231", ""},
		"others write": {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, bundled.Index), 0o666)) }, 0, "HK231", ""},
		"elsewhere": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, bundled.Index), bundle(func(b *bundled.Bundle) { b.Folder = ".." }))
		}, 0, "HK231", ""},
		"unknown posture": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, bundled.Index), bundle(func(b *bundled.Bundle) { b.OnStale = "allow" }))
		}, 0, "HK231", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, bundled.Index), bundle(nil))
			write(t, filepath.Join(dir, bundled.Seen), contact(0))
			write(t, filepath.Join(dir, bundled.Folders, "one", "hooks.yaml"), map[string]any{"notify": []map[string]any{{"name": "told", "message": `"x"`}}})
			test.change(t, dir)
			p, found := LoadDiscovered(DiscoverOptions{Dir: t.TempDir(), Managed: dir, User: filepath.Join(dir, "none")}, Options{})
			assert.Equal(t, test.says != "", found.HasErrors(), found.Render())
			assert.Contains(t, found.Render(), test.says)
			if !found.HasErrors() {
				require.Len(t, p.Hooks, test.hooks, found.Render())
				for _, h := range p.Hooks {
					assert.Equal(t, policy.TierManaged, h.Tier)
				}
			}
			warned := bundled.NotCurrent(found)
			assert.Equal(t, test.warns != "", len(warned) > 0)
			if len(warned) > 0 {
				assert.Contains(t, warned[0].Text, test.warns)
			}
		})
	}
}
