package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/policy/install"
)

// editFolders is edit for a folder of HOOK.md folders.
func (s *site) editFolders(want []install.Entry, dry bool) (*rewritten, error) {
	found, err := s.target.ReadFolders(s.path)
	if err != nil {
		return nil, cannot("%v", err)
	}
	out := &rewritten{}
	for _, e := range want {
		if err := s.writeFolder(e, found, out, dry); err != nil {
			return nil, err
		}
	}
	for _, f := range found {
		if !f.Own || slices.ContainsFunc(want, func(e install.Entry) bool { return e.Event == f.Event }) {
			continue
		}
		out.changes, out.changed = append(out.changes, install.Change{Event: f.Event, What: "removed"}), true
		if err := s.removeFolder(f.Event, out, dry); err != nil {
			return nil, err
		}
	}
	if len(want) == 0 && !dry && out.changed {
		_ = os.Remove(s.path) // as far as it is empty
		_ = os.Remove(filepath.Dir(s.path))
	}
	return out, nil
}

func (s *site) writeFolder(e install.Entry, found []install.Found, out *rewritten, dry bool) error {
	own := slices.ContainsFunc(found, func(f install.Found) bool { return f.Own && f.Event == e.Event })
	folder := filepath.Join(s.path, install.FolderName(e.Event))
	if _, err := os.Lstat(folder); err == nil && !own {
		return cannot("%s is there and is not hookc's: nothing is written", folder)
	}
	same := true
	for _, file := range s.target.FolderFiles(e) {
		disk, err := install.Load(filepath.Join(s.path, file.Path))
		if err != nil {
			return cannot("%v", err)
		}
		diff := install.Diff(shownFrom(filepath.Dir(s.target.Name), filepath.Join(s.target.Name, file.Path)), disk.Content, []byte(file.Content))
		if diff == "" {
			continue
		}
		same, out.diff = false, out.diff+diff
		if dry {
			continue
		}
		if _, err := disk.Replace([]byte(file.Content)); err != nil {
			return cannot("%v", err)
		}
		if err := os.Chmod(disk.Path, file.Mode); err != nil {
			return cannot("%v", err)
		}
	}
	what := "added"
	switch {
	case own && same:
		what = "kept"
	case own:
		what = "updated"
	}
	out.changes, out.changed = append(out.changes, install.Change{Event: e.Event, What: what}), out.changed || !same
	return nil
}

func (s *site) removeFolder(event string, out *rewritten, dry bool) error {
	folder := filepath.Join(s.path, install.FolderName(event))
	for _, name := range []string{"HOOK.md", filepath.Join("scripts", "run.sh")} {
		disk, err := install.Load(filepath.Join(folder, name))
		if err != nil {
			return cannot("%v", err)
		}
		out.diff += install.Diff(filepath.Join(s.target.Name, install.FolderName(event), name), disk.Content, nil)
		if dry {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return cannot("%v", err)
		}
	}
	if dry {
		return nil
	}
	for _, dir := range []string{filepath.Join(folder, "scripts"), folder} {
		if err := os.Remove(dir); err != nil {
			return cannot("%v: what else lies in it is left", err)
		}
	}
	return nil
}
