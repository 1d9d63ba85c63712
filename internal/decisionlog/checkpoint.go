package decisionlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookc/hookc/internal/fault"
)

// A checkpoint is a signed note (golang.org/x/mod/sumdb/note) of four lines: the
// origin with the writer, how many checkpoints the writer made, the root of the
// tree over them (golang.org/x/mod/sumdb/tlog), and the number and chain of the
// entry before the checkpoint. It lies in the log as an entry and can be copied
// elsewhere: who has it can tell that nothing before it was changed since.

// keyName is the name in the key that signs.
const keyName = "hookc-log"

// Signer signs the checkpoints of one folder.
type Signer struct {
	dir    string
	signer note.Signer
	public string
	// Export is given each note when it is signed; nil if there is none. An error stops
	// the batch: it is not written.
	Export func(signed []byte) error
}

// NewSigner reads the folder's key, and makes one when there is none.
func NewSigner(dir string) (*Signer, error) {
	s := &Signer{dir: dir}
	return s, s.read()
}

// read reads the key: it may be another since it was read.
func (s *Signer) read() error {
	dir, path := s.dir, filepath.Join(s.dir, "sign.key")
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeKey(dir, path)
	}
	if err != nil {
		return err
	}
	secret := strings.TrimSpace(string(text))
	if s.signer, err = note.NewSigner(secret); err == nil {
		s.public, err = publicOf(secret)
	}
	if err != nil {
		return fault.Errorf("%s: %w", path, err)
	}
	return nil
}

// makeKey makes the pair of keys of a folder, or reads what another process made.
func makeKey(dir, path string) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	secret, public, err := note.GenerateKey(rand.Reader, keyName)
	if err != nil {
		return nil, err
	}
	if made, err := place(path, []byte(secret+"\n")); err != nil || !made {
		if err != nil {
			return nil, err
		}
		return readSmall(path)
	}
	return []byte(secret), os.WriteFile(filepath.Join(dir, "sign.pub"), []byte(public+"\n"), 0o644)
}

// VerifierKey is the key of a folder that verifies its checkpoints.
func VerifierKey(dir string) (string, error) {
	text, err := readSmall(filepath.Join(dir, "sign.pub"))
	return strings.TrimSpace(string(text)), err
}

// treeFile holds the stored hashes of the tree over a writer's checkpoints.
func treeFile(dir string, writer int) string {
	return filepath.Join(dir, fmt.Sprintf("w%d.tree", writer))
}

type hashFile struct{ *os.File }

// ReadHashes is tlog.HashReader.
func (f hashFile) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if _, err := f.ReadAt(out[i][:], at*tlog.HashSize); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func leaf(writer int, seq uint64, chain string) []byte {
	return fmt.Appendf(nil, "w%d %d %s", writer, seq, chain)
}

// sign is the signed note for what a writer has written so far.
func (s *Signer) sign(writer int, seq uint64, chain string) (signed []byte, err error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(treeFile(s.dir, writer), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	tree := hashFile{file}
	n, size, err := leaves(file)
	if err != nil {
		return nil, err
	}
	hashes, err := tlog.StoredHashes(n, leaf(writer, seq, chain), tree)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	if _, err := file.WriteAt(b, size); err != nil {
		return nil, err
	}
	root, err := tlog.TreeHash(n+1, tree)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s/w%d\n%d\n%v\n%d %s\n", keyName, writer, n+1, root, seq, chain)
	if signed, err = note.Sign(&note.Note{Text: text}, s.signer); err != nil || s.Export == nil {
		return signed, err
	}
	return signed, s.Export(signed)
}

// leaves is how many checkpoints a tree has whole, and how many bytes they are.
func leaves(file *os.File) (n, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	for have := info.Size() / tlog.HashSize; tlog.StoredHashCount(n+1) <= have; {
		n++
	}
	return n, tlog.StoredHashCount(n) * tlog.HashSize, nil
}

// checkpoint appends a checkpoint to the batch.
func (w *Writer) checkpoint() error {
	signed, err := w.options.Sign.sign(w.slot, w.at.seq, w.at.chain.String())
	if err != nil {
		return fault.Errorf("a checkpoint could not be made: %w", err)
	}
	for _, file := range w.exports {
		if err := appendTo(file, append(signed, '\n')); err != nil {
			return fault.Errorf("a checkpoint could not be copied: %w", err)
		}
	}
	w.note("checkpoint", string(appendString([]byte(`,"note":`), string(signed))))
	return nil
}

// Checker verifies the checkpoints of a log by a verifier key, for Verify.
func Checker(dir, key string) (func(e *Entry, chain string) error, error) {
	list, err := trusted(dir, strings.TrimSpace(key))
	if err != nil {
		return nil, err
	}
	known, newest := note.VerifierList(list...), map[int]int{}
	return func(e *Entry, chain string) error {
		n, err := note.Open([]byte(e.Note), known)
		if err != nil {
			return fault.Errorf("the checkpoint: %w", err)
		}
		by := 0
		for list[by].KeyHash() != n.Sigs[0].Hash {
			by++
		}
		if by < newest[e.Writer] {
			return errors.New("the checkpoint is signed by a key that had been handed over")
		}
		newest[e.Writer] = by
		return inTree(dir, e, n.Text, chain)
	}, nil
}

// inTree verifies that a note is about the entries before it, and in its writer's tree.
func inTree(dir string, e *Entry, text, chain string) error {
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[0] != fmt.Sprintf("%s/w%d", keyName, e.Writer) || lines[3] != fmt.Sprintf("%d %s", e.Seq-1, chain) {
		return errors.New("the checkpoint is about other entries than those before it")
	}
	var size int64
	if _, err := fmt.Sscan(lines[1], &size); err != nil || size < 1 {
		return errors.New("the checkpoint does not say how large its tree is")
	}
	file, err := os.Open(treeFile(dir, e.Writer))
	if err != nil {
		return fault.Errorf("the tree of checkpoints cannot be read: %w", err)
	}
	defer file.Close()
	tree := hashFile{file}
	at := tlog.StoredHashIndex(0, size-1)
	hashes, err := tree.ReadHashes([]int64{at})
	if err != nil {
		return fault.Errorf("the tree of checkpoints is too short: %w", err)
	}
	root, err := tlog.TreeHash(size, tree)
	if err != nil || hashes[0] != tlog.RecordHash(leaf(e.Writer, e.Seq-1, chain)) || root.String() != lines[2] {
		return errors.New("the checkpoint is not in the tree of checkpoints")
	}
	return nil
}
