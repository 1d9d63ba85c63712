package decisionlog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookc/hookc/internal/fault"
)

// The file keys has a hand-over for each rotation: a note that names the key before and
// the key after, signed by both. Who trusts either so trusts the other, in their order:
// what the older key signed behind an entry that the newer signed counts for nothing.

const handOver = keyName + "/key"

// Rotate replaces the keys of a folder. The new signing key is made known by the old
// one. The old key for masked values is gone then: what was masked before and what is
// masked after cannot be told to be equal. The log has an entry that says so.
func Rotate(dir string, options Options) (err error) {
	lock := flock.New(filepath.Join(dir, "keys.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	old, err := NewSigner(dir)
	if err != nil {
		return err
	}
	secret, public, err := note.GenerateKey(rand.Reader, keyName)
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return err
	}
	signed, err := note.Sign(&note.Note{Text: handOver + "\n" + old.public + "\n" + public + "\n"}, old.signer, signer)
	if err != nil {
		return err
	}
	known, texts, err := keys(dir)
	if err != nil {
		return err
	}
	// A rotation that was cut short left a hand-over to a key that never signed.
	for len(known) > 0 && known[len(known)-1] != old.public {
		known, texts = known[:len(known)-1], texts[:max(0, len(texts)-1)]
	}
	mask := make([]byte, 32)
	if _, err := rand.Read(mask); err != nil {
		return err
	}
	// Whatever interrupts this, the keys that are in force sign, and are known.
	for _, f := range []struct {
		name string
		text []byte
	}{{"keys", bytes.Join(append(texts, signed), nil)}, {"sign.key", []byte(secret + "\n")}, {"sign.pub", []byte(public + "\n")}, {"mask.key", mask}} {
		if err := replace(filepath.Join(dir, f.name), f.text); err != nil {
			return err
		}
	}
	if options.Sign, err = NewSigner(dir); err != nil {
		return err
	}
	options.rotated = string(signed)
	w, err := Open(dir, options)
	if err != nil {
		return err
	}
	return w.Close()
}

// replace writes a file again, at once and private to the user.
func replace(path string, content []byte) error {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// keys are the keys that a folder had, in order, and the notes that say so.
func keys(dir string) (known []string, texts [][]byte, err error) {
	text, err := readSmall(filepath.Join(dir, "keys"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, one := range bytes.SplitAfter(text, []byte(handOver+"\n")) {
		if n := len(texts); n > 0 { // SplitAfter leaves the head of the next behind it
			texts[n-1] = append(texts[n-1], bytes.TrimSuffix(one, []byte(handOver+"\n"))...)
		}
		if bytes.HasSuffix(one, []byte(handOver+"\n")) {
			texts = append(texts, []byte(handOver+"\n"))
		}
	}
	for _, text := range texts {
		lines := strings.Split(string(text), "\n")
		if len(lines) < 4 || len(known) > 0 && known[len(known)-1] != lines[1] {
			return nil, nil, fault.Errorf("%s: a hand-over of keys does not follow the one before it", filepath.Join(dir, "keys"))
		}
		for _, key := range lines[1:3] {
			verifier, err := note.NewVerifier(key)
			if err == nil {
				_, err = note.Open(text, note.VerifierList(verifier))
			}
			if err != nil {
				return nil, nil, fault.Errorf("%s: a hand-over of keys: %w", filepath.Join(dir, "keys"), err)
			}
		}
		if len(known) == 0 {
			known = append(known, lines[1])
		}
		known = append(known, lines[2])
	}
	return known, texts, err
}

// publicOf is the key that verifies what a secret key signs.
func publicOf(secret string) (string, error) {
	parts := strings.SplitN(secret, "+", 5) // PRIVATE+KEY+name+hash+key
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return "", errors.New("it is no key that signs")
	}
	return note.NewEd25519VerifierKey(keyName, ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
}

// trusted are the keys that count with one that is trusted, in order.
func trusted(dir, key string) ([]note.Verifier, error) {
	known, _, err := keys(dir)
	if err != nil {
		return nil, err
	}
	list := []string{key}
	for _, k := range known {
		if k == key {
			list = known
		}
	}
	var out []note.Verifier
	for _, k := range list {
		v, err := note.NewVerifier(k)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
