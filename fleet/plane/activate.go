package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/config"

	"github.com/hookc/hookc/internal/bundle"
	"github.com/hookc/hookc/internal/bundle/proof"
	"github.com/hookc/hookc/policy/bundled"
)

const (
	// mostEarlier is how many revisions before the one in force are known again.
	mostEarlier = 200
	// linger is how long the files of a revision stay after another one took its
	// place: for as long as anybody may still read them.
	linger = 10 * time.Minute
	// settle is how old the files of a policy are before it comes into force: hookc
	// takes one that was written less than a second ago for half written (HK023).
	settle = 1200 * time.Millisecond
)

// store is the folder of the managed tier, as far as bundles are concerned.
type store struct{ dir string }

// mine lets pass whoever wrote a file: hookcd replaces what it did not write.
func mine(os.FileInfo) error { return nil }

func (s store) bundles() ([]bundled.Bundle, error) { return bundled.Read(s.dir, mine) }

// find is the bundle in force of that name, nil if there is none.
func find(list []bundled.Bundle, name string) *bundled.Bundle {
	i := slices.IndexFunc(list, func(b bundled.Bundle) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// write writes which bundles are in force, in one step that survives a loss of power.
func (s store) write(list []bundled.Bundle) error {
	at := filepath.Join(s.dir, bundled.Index)
	if len(list) == 0 {
		return os.Remove(at)
	}
	slices.SortFunc(list, func(a, b bundled.Bundle) int { return strings.Compare(a.Name, b.Name) })
	if err := replace(at, map[string]any{"bundles": list}, true); err != nil {
		return err
	}
	return syncFolder(s.dir)
}

// past is what must not be forgotten of what is in force no more: an older revision does
// not come back by a detour.
type past struct {
	// Bundles are those that the configuration does not name any more, as they were.
	Bundles map[string]bundled.Bundle `json:"bundles,omitempty"`
	// Serial is the highest of a configuration that was discovered.
	Serial int64 `json:"serial,omitempty"`
}

const pastFile = "bundles.past.json"

func (s store) past() (out past, err error) {
	text, err := os.ReadFile(filepath.Join(s.dir, pastFile))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		err = fmt.Errorf("what was in force before is not known: %s: %w", pastFile, err)
	}
	return out, err
}

// dropped is a bundle that was in force before, nil if there was none of that name.
func (s store) dropped(name string) (*bundled.Bundle, error) {
	all, err := s.past()
	if b, ok := all.Bundles[name]; ok && err == nil {
		return &b, nil
	}
	return nil, err
}

// remember writes the past, changed.
func (s store) remember(change func(*past)) error {
	all, err := s.past()
	if err != nil {
		return err
	}
	change(&all)
	return replace(filepath.Join(s.dir, pastFile), all, true)
}

// OnConfigDiscovery looks at a configuration that was discovered before it counts: one
// with a lower serial than one before is refused. Whoever answers for the server could
// otherwise send an old one, which names no bundle.
func (p *Plane) OnConfigDiscovery(_ context.Context, c *config.Config) (*config.Config, error) {
	found, err := parse(c.Plugins[Name])
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, err := p.store.past()
	switch {
	case err != nil:
		return nil, err
	case found.Serial < known.Serial && !p.settings().AllowRollback:
		return nil, fmt.Errorf("the configuration has plugins.hookc.serial %d, and one before had %d: going back needs plugins.hookc.allow_rollback", found.Serial, known.Serial)
	case found.Serial == known.Serial:
		return c, nil
	}
	return c, p.store.remember(func(all *past) { all.Serial = found.Serial })
}

// replace writes a file in one step.
func replace(path string, v any, sync bool) (err error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Chmod(0o644) // everybody decides by it, and only its owner writes it
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// take puts the policy that a bundle holds in force, or says why not: then nothing
// has changed.
func (p *Plane) take(ctx context.Context, name string, b *opa.Bundle) error {
	if b.Type() == opa.DeltaBundleType {
		return errors.New("it is a delta bundle, which nobody can sign: serve whole bundles")
	}
	settings := p.settings()
	if settings.RequireSignature && len(b.Signatures.Signatures) == 0 {
		return errors.New("it has no signature, and plugins.hookc.require_signature is on")
	}
	if settings.RequireSignature && !p.verifies(name) {
		return errors.New("its signature was not verified: its configuration has no signing, and plugins.hookc.require_signature is on")
	}
	files, err := bundle.Files(name, b)
	if err != nil {
		return err
	}
	list, err := p.store.bundles()
	if err != nil {
		p.log.Error("%s is written again: %v", bundled.Index, err)
		list = nil
	}
	next := bundled.Bundle{Name: name, Revision: b.Manifest.Revision, Digest: bundle.Digest(files), Serial: bundle.Of(b).Serial,
		MaxAge: int64(settings.maxAge / time.Second), OnStale: settings.OnStale}
	next.Folder = folderOf(name, next.Digest)
	now := find(list, name)
	before := now
	if before == nil {
		if before, err = p.store.dropped(name); err != nil {
			return err
		}
	}
	if before != nil {
		if err := settings.forward(before, &next); err != nil {
			return err
		}
		next.Earlier = earlier(before, next.Digest)
	}
	if now != nil && now.Folder == next.Folder && p.store.whole(next.Folder, files) {
		next.Plan = now.Plan
		if samePlace(now, &next) {
			return nil // nothing is new but that it was confirmed
		}
	} else if next.Plan, err = p.stage(ctx, next.Folder, files); err != nil {
		return err
	}
	if said := bundle.Of(b).Plan; said != "" && said != next.Plan {
		p.log.Warn("bundle %s %s: it was built by hookc %s with plan %s; the plan here is %s", name, next.Revision, bundle.Of(b).Hookc, said, next.Plan)
	}
	if now == nil {
		list = append(list, next)
	} else {
		*now = next
	}
	if err := p.store.write(list); err != nil {
		return fmt.Errorf("it cannot be put in force: %w", err)
	}
	p.log.Info("bundle %s %s is in force, plan %s", name, next.Revision, next.Plan)
	p.store.tidy(list)
	return nil
}

// samePlace reports whether two entries say the same.
func samePlace(a, b *bundled.Bundle) bool {
	return a.Revision == b.Revision && a.Serial == b.Serial && a.MaxAge == b.MaxAge && a.OnStale == b.OnStale
}

// forward is an error for a revision that is older than the one in force: one with a
// lower serial number, or one that was in force before.
func (s *Settings) forward(now, next *bundled.Bundle) error {
	switch {
	case s.AllowRollback || now.Digest == next.Digest && next.Serial >= now.Serial:
		return nil
	case next.Serial < now.Serial:
		return fmt.Errorf("revision %s has serial %d and %s, which is in force, has %d: going back needs plugins.hookc.allow_rollback", next.Revision, next.Serial, now.Revision, now.Serial)
	case next.Serial == now.Serial && slices.Contains(now.Earlier, next.Digest):
		return fmt.Errorf("revision %s was in force before %s: going back needs plugins.hookc.allow_rollback, or a higher serial", next.Revision, now.Revision)
	}
	return nil
}

// earlier are the digests that were in force before the next one.
func earlier(now *bundled.Bundle, next string) []string {
	out := slices.Clone(now.Earlier)
	if now.Digest != next {
		out = slices.DeleteFunc(append(out, now.Digest), func(d string) bool { return d == next })
	}
	return out[max(0, len(out)-mostEarlier):]
}

// folderOf is the name of the folder of a revision.
func folderOf(name, digest string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
	return fmt.Sprintf("%.40s-%s", plain, digest[:24])
}

// stage writes the files of a policy where they will be in force, and proves them
// there; nothing reads them before the index names them.
func (p *Plane) stage(ctx context.Context, folder string, files []bundle.File) (plan string, err error) {
	base := filepath.Join(p.store.dir, bundled.Folders)
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(base, ".new-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "policy")
	if err := bundle.Unpack(dir, files); err != nil {
		return "", err
	}
	old := time.After(settle)
	within := p.settings().testTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("more than %v (plugins.hookc.test_timeout)", within))
	defer cancel()
	proven, err := p.prove(ctx, dir)
	if err != nil {
		return "", errors.New(strings.TrimSpace(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")))
	}
	<-old
	at := filepath.Join(base, folder)
	if err := os.RemoveAll(at); err != nil { // what a crash left, or somebody changed
		return "", err
	}
	if err := os.Rename(dir, at); err != nil {
		return "", err
	}
	return proven.Plan, syncFolder(base)
}

// proven proves a policy. A fault of hookc's own is a reason to refuse it too.
func proven(ctx context.Context, dir string) (out *proof.Result, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("hookc failed on it: %v", fault)
		}
	}()
	return proof.Policy(ctx, dir)
}

// whole reports whether a folder holds just these files.
func (s store) whole(folder string, files []bundle.File) bool {
	base, n := filepath.Join(s.dir, bundled.Folders, folder), 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(base, filepath.FromSlash(f.Name)))
		if err != nil || string(text) != string(f.Data) {
			return false
		}
	}
	err := filepath.WalkDir(base, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	return err == nil && n == len(files)
}

// tidy takes away what is in force no more, some time after it was.
func (s store) tidy(list []bundled.Bundle) {
	base := filepath.Join(s.dir, bundled.Folders)
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || slices.ContainsFunc(list, func(b bundled.Bundle) bool { return b.Folder == e.Name() }) {
			continue
		}
		at, mark := filepath.Join(base, e.Name()), filepath.Join(base, e.Name(), ".retired")
		switch retired, err := os.Stat(mark); {
		case strings.HasPrefix(e.Name(), ".new-"):
			if time.Since(info.ModTime()) > linger {
				os.RemoveAll(at)
			}
		case err != nil:
			_ = os.WriteFile(mark, nil, 0o644)
		case time.Since(retired.ModTime()) > linger:
			os.RemoveAll(at)
		}
	}
}
