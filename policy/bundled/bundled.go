// Package bundled knows the bundles that are in force on this machine: hookcd
// writes them below the folder of the managed tier, and whoever decides reads them
// there, whether hookcd runs or not.
package bundled

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/internal/fault"
)

// The places below the folder of the managed tier. Index says which folders below
// Folders are in force; it is written in one step, and a folder is never changed
// once it is in the index. Seen is what hookcd last learned of each bundle.
const (
	Index   = "bundles.json"
	Seen    = "bundles.seen.json"
	Folders = "bundles"
)

// maxIndex bounds the files that are read, in bytes.
const maxIndex = 1 << 20

// What becomes of decisions when nobody confirmed a bundle for longer than its
// MaxAge.
const (
	Warn = "warn"
	Deny = "deny"
)

// Bundle is one bundle in force.
type Bundle struct {
	Name   string `json:"name"`
	Folder string `json:"folder"` // below Folders
	// Revision is what the bundle calls itself, Plan the hash of what was compiled of it
	// here, Digest the hash of its files.
	Revision string `json:"revision"`
	Plan     string `json:"plan"`
	Digest   string `json:"digest"`
	Serial   int64  `json:"serial,omitempty"`
	// Earlier are the digests of what was in force before, the newest last.
	Earlier []string `json:"earlier,omitempty"`
	// MaxAge is for how many seconds it counts without being confirmed, 0 for ever;
	// OnStale is Warn or Deny.
	MaxAge  int64  `json:"max_age,omitempty"`
	OnStale string `json:"on_stale,omitempty"`
}

// Contact is what was last learned of a bundle.
type Contact struct {
	// Confirmed is when its server last said which revision there is.
	Confirmed time.Time `json:"confirmed"`
	// Refused says why what the server has did not come into force, "" when it did.
	Refused string `json:"refused,omitempty"`
}

// Read reads the bundles in force below the folder of the managed tier; no index is
// no bundle. check looks at who may have written it.
func Read(dir string, check func(fs.FileInfo) error) ([]Bundle, error) {
	var index struct {
		Bundles []Bundle `json:"bundles"`
	}
	err := read(filepath.Join(dir, Index), &index, check)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, b := range index.Bundles {
		if err == nil && (b.Folder == "" || !filepath.IsLocal(b.Folder) || filepath.Base(b.Folder) != b.Folder) {
			err = fault.Errorf("the folder %q of the bundle %q is no name", b.Folder, b.Name)
		}
		if err == nil && b.OnStale != "" && b.OnStale != Warn && b.OnStale != Deny {
			err = fault.Errorf("on_stale of the bundle %q is %q", b.Name, b.OnStale)
		}
	}
	if err == nil && len(index.Bundles) == 0 {
		err = errors.New("it names no bundle")
	}
	return index.Bundles, err
}

// ReadContacts reads what was last learned of each bundle, by name. Nothing is known of a
// bundle where that cannot be read.
func ReadContacts(dir string, check func(fs.FileInfo) error) map[string]Contact {
	var out map[string]Contact
	if err := read(filepath.Join(dir, Seen), &out, check); err != nil {
		return nil
	}
	return out
}

func read(path string, into any, check func(fs.FileInfo) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() > maxIndex:
		return fault.Errorf("it has more than %d bytes", maxIndex)
	}
	if err := check(info); err != nil {
		return err
	}
	return json.NewDecoder(f).Decode(into)
}

// Stale is why a bundle must not be relied on any more, "" when it may be. A clock
// that was set back a little makes no bundle older; one that was confirmed further in the
// future than it counts for is not known to be current.
func (b *Bundle) Stale(contact Contact, now time.Time) string {
	limit := time.Duration(b.MaxAge) * time.Second
	switch age := now.Sub(contact.Confirmed); {
	case b.MaxAge == 0 || age <= limit && age >= -limit:
		return ""
	case age < 0:
		return fmt.Sprintf("the fleet's policy %s %s was last confirmed at %s, which is not yet: the clock was changed", b.Name, b.Revision, contact.Confirmed.Format(time.RFC3339))
	case contact.Confirmed.IsZero():
		return fmt.Sprintf("the fleet's policy %s %s was never confirmed", b.Name, b.Revision)
	default:
		return fmt.Sprintf("the fleet's policy %s %s was last confirmed at %s, and counts for %s", b.Name, b.Revision, contact.Confirmed.Format(time.RFC3339), limit)
	}
}
