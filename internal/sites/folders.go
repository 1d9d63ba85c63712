package sites

import (
	"os"
	"path/filepath"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy/install"
)

// editFolders is Edit for a folder of HOOK.md folders.
func (s *Site) editFolders(want []install.Entry, dry bool) (*Done, error) {
	found, err := s.Target.ReadFolders(s.Path)
	if err != nil {
		return nil, err
	}
	out := &Done{}
	for _, e := range want {
		if err := s.writeFolder(e, found, out, dry); err != nil {
			return nil, err
		}
	}
	for _, f := range found {
		if !f.Own || lists.Some(want, func(e *install.Entry) bool { return e.Event == f.Event }) {
			continue
		}
		out.Changes, out.Changed = append(out.Changes, install.Change{Event: f.Event, What: "removed"}), true
		if err := s.removeFolder(f.Event, out, dry); err != nil {
			return nil, err
		}
	}
	if len(want) == 0 && !dry && out.Changed {
		_ = os.Remove(s.Path) // as far as it is empty
		_ = os.Remove(filepath.Dir(s.Path))
	}
	return out, nil
}

func (s *Site) writeFolder(e install.Entry, found []install.Found, out *Done, dry bool) error {
	own := lists.Some(found, func(f *install.Found) bool { return f.Own && f.Event == e.Event })
	folder := filepath.Join(s.Path, install.FolderName(e.Event))
	if _, err := os.Lstat(folder); err == nil && !own {
		return fault.Errorf("%s is there and is not hookc's: nothing is written", folder)
	}
	same := true
	for _, file := range s.Target.FolderFiles(e) {
		disk, err := install.Load(filepath.Join(s.Path, file.Path))
		if err != nil {
			return err
		}
		diff := install.Diff(paths.ShownFrom(filepath.Dir(s.Target.Name), filepath.Join(s.Target.Name, file.Path)), disk.Content, []byte(file.Content))
		if diff == "" {
			continue
		}
		same, out.Diff = false, out.Diff+diff
		if dry {
			continue
		}
		if _, err := disk.Replace([]byte(file.Content)); err != nil {
			return err
		}
		if err := os.Chmod(disk.Path, file.Mode); err != nil {
			return err
		}
	}
	what := "added"
	switch {
	case own && same:
		what = "kept"
	case own:
		what = "updated"
	}
	out.Changes, out.Changed = append(out.Changes, install.Change{Event: e.Event, What: what}), out.Changed || !same
	return nil
}

func (s *Site) removeFolder(event string, out *Done, dry bool) error {
	folder := filepath.Join(s.Path, install.FolderName(event))
	for _, name := range []string{"HOOK.md", filepath.Join("scripts", "run.sh")} {
		disk, err := install.Load(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		out.Diff += install.Diff(filepath.Join(s.Target.Name, install.FolderName(event), name), disk.Content, nil)
		if dry {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	if dry {
		return nil
	}
	for _, dir := range []string{filepath.Join(folder, "scripts"), folder} {
		if err := os.Remove(dir); err != nil {
			return fault.Errorf("%w: what else lies in it is left", err)
		}
	}
	return nil
}
