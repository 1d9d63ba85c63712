// Package bundle makes OPA bundles of the files of a policy, and files of bundles
// again.
//
// OPA drops what is neither Rego nor data when it reads a bundle and writes it
// again. So the other files of a policy are data in the bundle, as texts by name
// under data.hookc.files; whatever handles bundles carries them along. A bundle
// that `opa build` made has the policy itself as data, under data.hookc.hooks.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"unicode/utf8"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// The bounds of a bundle: whoever serves one may be anybody until its signature
// was looked at.
const (
	MaxFile  = 8 << 20
	maxBytes = 128 << 20
	maxFiles = 4000
)

// root is the document that hookc's files are below.
const root = "hookc"

var codeBundle = diag.Define("HK230", diag.Error, "bundle that cannot be used").Unprovoked("A bundle is no text, so there is no example.")

// bad is a finding about a file of a bundle.
func bad(name, hint, format string, args ...any) error {
	d := codeBundle.Report(diag.Span{Source: diag.NewSource(name, "")}, format, args...)
	if hint != "" {
		d = d.WithHint("%s", hint)
	}
	return diag.ListError{List: diag.List{d}}
}

// File is one file of a policy. Its name has slashes and is relative to the
// folder of the policy.
type File struct {
	Name string
	Data []byte
}

// Read reads a bundle, all of it. Under a nil v no signature is looked at; else there
// must be one, and it must be right. name is what the bundle is called.
func Read(name string, r io.Reader, v *opa.VerificationConfig) (*opa.Bundle, error) {
	packed, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil {
		err = whole(packed)
	}
	if err != nil {
		return nil, bad(name, "fetch it or build it again", "the bundle is damaged: %v", err)
	}
	reader := opa.NewReader(bytes.NewReader(packed)).WithSizeLimitBytes(MaxFile * 4)
	if v == nil {
		reader.WithSkipBundleVerification(true)
	} else {
		reader.WithBundleVerificationConfig(v)
	}
	b, err := reader.Read()
	if err != nil {
		return nil, bad(name, "", "%v", err)
	}
	if v == nil { // which the reader passes over
		b.Signatures = signatures(packed)
	}
	return &b, nil
}

// whole reads an archive to its end, which OPA's reader does not: what follows the
// last file, the checksum above all, says that nothing is missing.
func whole(packed []byte) error {
	if len(packed) > maxBytes {
		return fault.Errorf("it has more than %d bytes", maxBytes)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	bounded := &io.LimitedReader{R: unzipped, N: maxBytes + 1}
	archive, files := tar.NewReader(bounded), 0
	for ; ; files++ {
		if _, err = archive.Next(); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		_, err = io.Copy(io.Discard, bounded)
	}
	switch {
	case bounded.N <= 0:
		return fault.Errorf("it holds more than %d bytes", maxBytes)
	case files > maxFiles:
		return fault.Errorf("it holds more than %d files", maxFiles)
	}
	return err
}

// signatures are those of a bundle that was read without looking at them.
func signatures(packed []byte) (out opa.SignaturesConfig) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return out
	}
	archive := tar.NewReader(unzipped)
	for {
		h, err := archive.Next()
		if err != nil {
			return out
		}
		if strings.TrimPrefix(path.Clean(h.Name), "/") == ".signatures.json" {
			if json.NewDecoder(archive).Decode(&out) != nil {
				return opa.SignaturesConfig{}
			}
		}
	}
}

// Write writes a bundle. The same bundle is the same bytes.
func Write(w io.Writer, b *opa.Bundle) error {
	sortModules(b)
	return opa.Write(w, *b)
}

//go:noinline
func sortModules(b *opa.Bundle) {
	sort.Slice(b.Modules, func(i, j int) bool { return b.Modules[i].Path < b.Modules[j].Path })
}

// FromFolder makes a bundle of the policy in a folder: of all its files but those
// whose names begin with a dot, other bundles and compiled policies.
func FromFolder(dir string) (*opa.Bundle, error) {
	files, err := folder(dir)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	archive := gzip.NewWriter(&packed)
	w, texts := tar.NewWriter(archive), map[string]any{}
	for _, f := range files {
		rego := strings.HasSuffix(f.Name, ".rego")
		if !rego {
			if !utf8.Valid(f.Data) {
				return nil, bad(filepath.Join(dir, f.Name), "leave it out of the folder", "the file is not text in UTF-8, and a bundle holds texts")
			}
			texts[f.Name] = string(f.Data)
		}
		if rego || opa.IsStructuredDoc(f.Name) {
			if err := w.WriteHeader(&tar.Header{Name: "/" + f.Name, Mode: 0o600, Typeflag: tar.TypeReg, Size: int64(len(f.Data))}); err != nil {
				return nil, err
			}
			if _, err := w.Write(f.Data); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(w.Close(), archive.Close()); err != nil {
		return nil, err
	}
	b, err := Read(dir, &packed, nil)
	if err != nil {
		return nil, err
	}
	own, _ := b.Data[root].(map[string]any)
	if own == nil {
		own = map[string]any{}
	}
	own["files"] = texts
	b.Data[root] = own
	if _, err := Files(dir, b); err != nil {
		return nil, err
	}
	return b, nil
}

// folder reads the files that go into a bundle, in the order of their names.
func folder(dir string) (out []File, err error) {
	total := 0
	err = filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		switch {
		case at != dir && strings.HasPrefix(name, "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir(), strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".hookc"):
			return nil
		case !e.Type().IsRegular():
			return bad(at, "put the file itself there", "only regular files go into a bundle")
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Size() > MaxFile {
			return bad(at, "", "the file has %d bytes; %d is the most", info.Size(), MaxFile)
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		out = append(out, File{filepath.ToSlash(rel), data})
		if total += len(data); total > maxBytes/2 || len(out) > maxFiles {
			return bad(dir, "build it of the policy's own folder", "the folder holds more than a bundle may")
		}
		return nil
	})
	return out, err
}

// Files are the files of the policy that a bundle holds, in the order of their
// names. name is what the bundle is called.
func Files(name string, b *opa.Bundle) ([]File, error) {
	data, err := dataOf(b)
	if err != nil {
		return nil, bad(name, "", "%v", err)
	}
	out := map[string][]byte{}
	for _, m := range b.Modules {
		out[strings.TrimPrefix(filepath.ToSlash(m.Path), "/")] = m.Raw
	}
	own, _ := data[root].(map[string]any)
	texts, _ := own["files"].(map[string]any)
	for name, text := range texts {
		if text, ok := text.(string); ok {
			out[name] = []byte(text)
		} else {
			return nil, bad(name, "", "the file %q in data.hookc.files is no text", name)
		}
	}
	if hooks, ok := own["hooks"].(map[string]any); ok && texts == nil {
		rest := maps.Clone(data)
		delete(rest, root)
		for file, doc := range map[string]any{"hooks.yaml": hooks, "data.json": rest} {
			if out[file], err = json.MarshalIndent(doc, "", "  "); err != nil {
				return nil, err
			}
		}
	}
	policy := false
	files := make([]File, 0, len(out))
	for _, at := range lists.Keys(out) {
		if !filepath.IsLocal(filepath.FromSlash(at)) || path.Clean(at) != at || strings.ContainsAny(at, "\\:\x00") {
			return nil, bad(name, "", "the name %q does not stay in the folder of the policy", at)
		}
		policy = policy || at == "hooks.yaml" || path.Base(at) == "HOOK.md" && strings.Count(at, "/") == 1
		files = append(files, File{at, out[at]})
	}
	if !policy {
		return nil, bad(name, "build it with hookc bundle build, or have opa build read the policy as hookc/hooks/data.yaml",
			"the bundle holds no policy: no hooks.yaml, no folder with a HOOK.md, and no data.hookc.hooks")
	}
	return files, nil
}

// dataOf is the data of a bundle, also of one whose data OPA has not read yet.
func dataOf(b *opa.Bundle) (map[string]any, error) {
	if len(b.Raw) == 0 || len(b.Data) > 0 {
		return b.Data, nil
	}
	out := map[string]any{}
	for _, raw := range b.Raw {
		if !opa.IsStructuredDoc(raw.Path) || path.Base(raw.Path) == ".manifest" {
			continue
		}
		var doc map[string]any
		if err := util.Unmarshal(raw.Value, &doc); err != nil {
			return nil, fault.Errorf("%s: %w", raw.Path, err)
		}
		at := out
		for _, part := range strings.Split(strings.Trim(path.Dir(raw.Path), "/."), "/") {
			if part == "" {
				continue
			}
			below, ok := at[part].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[part] = below
			}
			at = below
		}
		maps.Copy(at, doc)
	}
	return out, nil
}

// Digest is one hash of all files.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d ", len(f.Name), f.Name, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Unpack writes files into a folder that is not there yet. A file that begins as a
// script may be run; the mode in the archive is covered by no signature.
func Unpack(dir string, files []File) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	folders := map[string]bool{dir: true}
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f.Name))
		for below := filepath.Dir(at); !folders[below]; below = filepath.Dir(below) {
			folders[below] = true
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		if err := write(at, f.Data, mode); err != nil {
			return err
		}
	}
	for _, at := range lists.Keys(folders) { // the names of files survive a loss of power too
		if err := syncFolder(at); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if runtime.GOOS == "windows" { // which has no such thing
		err = nil
	}
	return errors.Join(err, f.Close())
}

// write writes a file to the disk.
func write(at string, data []byte, mode os.FileMode) (err error) {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode) // whatever the umask
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
