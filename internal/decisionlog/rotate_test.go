package decisionlog

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
)

// written is a writer under way that wrote n decisions with a secret at the same place.
func write(t *testing.T, w *Writer, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, w.Add(t.Context(), decided(i, "vault")))
	}
}

// TestRotatedKeys: whichever key was kept, all checkpoints verify by it, also those of
// a writer that was under way; values masked before and after are not equal.
func TestRotatedKeys(t *testing.T) {
	dir := t.TempDir()
	signer, err := NewSigner(dir)
	require.NoError(t, err)
	w := started(t, dir, Options{Sign: signer, Every: 5, Durable: true, Mask: []string{"/input/tool_input/command"}})
	var kept []string
	for range 4 {
		key, err := VerifierKey(dir)
		require.NoError(t, err)
		kept = append(kept, key)
		write(t, w, 12)
		require.NoError(t, Rotate(dir, Options{}))
	}
	write(t, w, 12)
	require.NoError(t, w.Close())
	key, err := VerifierKey(dir)
	require.NoError(t, err)
	for _, key := range append(kept, key) {
		check, err := Checker(dir, key)
		require.NoError(t, err)
		v, err := Verify(dir, check)
		require.NoError(t, err)
		require.Greater(t, v.Checkpoints, 8)
	}
	masked := map[any]int{}
	for _, e := range decisions(t, dir) {
		masked[e.Input["tool_input"].(map[string]any)["command"]]++
	}
	require.Len(t, masked, 5)
	for _, n := range masked {
		require.Equal(t, 12, n)
	}
	told := 0
	for e, err := range Entries(dir) {
		require.NoError(t, err)
		if e.Type == "key" {
			told++
		}
	}
	require.Equal(t, 4, told)
	_, stranger, err := note.GenerateKey(zeros{}, keyName)
	require.NoError(t, err)
	check, err := Checker(dir, stranger)
	require.NoError(t, err)
	_, err = Verify(dir, check)
	require.ErrorContains(t, err, "the checkpoint")
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestOldKeyIsOver: what the old key signs behind the new one counts for nothing.
func TestOldKeyIsOver(t *testing.T) {
	dir := filled(t, 12)
	old, err := os.ReadFile(filepath.Join(dir, "sign.key"))
	require.NoError(t, err)
	require.NoError(t, Rotate(dir, Options{}))
	for range 2 {
		signer, err := NewSigner(dir)
		require.NoError(t, err)
		w := started(t, dir, Options{Sign: signer, Every: 5, Durable: true})
		write(t, w, 12)
		require.NoError(t, w.Close())
		if _, err = verified(t, dir); err != nil {
			require.ErrorContains(t, err, "had been handed over")
			return
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sign.key"), old, 0o600))
	}
	t.Fatal("the old key signs on")
}

// TestRotationCutShort: wherever it ended, the log is written and verified, and the next
// rotation goes on from there.
func TestRotationCutShort(t *testing.T) {
	names := []string{"keys", "sign.key", "sign.pub", "mask.key"}
	for done := range len(names) {
		dir := filled(t, 12)
		require.NoError(t, Rotate(dir, Options{}))
		before := map[string][]byte{}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			before[name] = text
		}
		require.NoError(t, Rotate(dir, Options{}))
		for _, name := range names[done:] {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), before[name], 0o600))
		}
		for range 2 {
			signer, err := NewSigner(dir)
			require.NoError(t, err)
			w := started(t, dir, Options{Sign: signer, Every: 5, Durable: true})
			write(t, w, 12)
			require.NoError(t, w.Close())
			_, err = verified(t, dir)
			require.NoError(t, err, "%d", done)
			require.NoError(t, Rotate(dir, Options{}))
		}
	}
}

// TestForgedHandOver: a hand-over that either key did not sign is an error, and no key
// is trusted by it.
func TestForgedHandOver(t *testing.T) {
	dir := filled(t, 12)
	require.NoError(t, Rotate(dir, Options{}))
	require.NoError(t, Rotate(dir, Options{}))
	path := filepath.Join(dir, "keys")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := 0; at < len(whole); at += 7 {
		forged := bytes.Clone(whole)
		forged[at] ^= 1
		require.NoError(t, os.WriteFile(path, forged, 0o600))
		_, err := verified2(t, dir)
		require.Error(t, err, "byte %d", at)
	}
}

// verified2 is verified, with what Checker says too.
func verified2(t *testing.T, dir string) (*Verified, error) {
	t.Helper()
	key, err := VerifierKey(dir)
	require.NoError(t, err)
	check, err := Checker(dir, key)
	if err != nil {
		return nil, err
	}
	return Verify(dir, check)
}

// TestManyRotate: rotations beside one another leave one chain of keys.
func TestManyRotate(t *testing.T) {
	dir := filled(t, 12)
	done := make(chan error)
	for range 8 {
		go func() { done <- Rotate(dir, Options{}) }()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	known, _, err := keys(dir)
	require.NoError(t, err)
	require.Len(t, known, 9)
	_, err = verified(t, dir)
	require.NoError(t, err)
}
