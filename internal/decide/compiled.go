package decide

import (
	"io"
	"os"
	"path/filepath"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/source"
)

// CompiledRefused is that a compiled policy cannot be used here; it ends the
// program as the error in it does.
type CompiledRefused struct{ error }

func (e CompiledRefused) Unwrap() error { return e.error }

// CompiledPolicy is the compiled policy among the policies that are named, "" if there
// is none. It stands alone.
func (s *Sources) CompiledPolicy(from *Caller, args []string) (string, error) {
	all := lists.Concat(s.Files, args)
	for _, path := range all {
		in, err := source.ParseInput(path)
		if err != nil || !IsCompiled(from.Path(in.Path)) {
			continue // what is wrong with it is said where it is read
		}
		switch {
		case in.Path != path:
			return "", exit.Cannot("%s is a compiled policy: the tiers of its hooks are in it", in.Path)
		case len(all) > 1:
			return "", exit.Cannot("%s is a compiled policy: it goes with no other", path)
		case s.Format != "":
			return "", exit.Cannot("%s is a compiled policy: it goes without --format", path)
		}
		return path, nil
	}
	return "", nil
}

// IsCompiled reports whether a file is a compiled policy, by its name or by what
// it begins with.
func IsCompiled(path string) bool {
	if artifact.Named(path) {
		return true
	}
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json", ".md", ".toml":
		return false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [16]byte
	n, _ := io.ReadFull(f, begin[:])
	return artifact.Is(begin[:n])
}

// TakeProfile takes the profile that a compiled policy was compiled under, where
// none is named: the event is in that agent's words.
func (s *Sources) TakeProfile(from *Caller) error {
	path, err := s.CompiledPolicy(from, nil)
	if err != nil || path == "" || s.Profile != "" {
		return err
	}
	f, err := artifact.Open(from.Path(path))
	if err != nil {
		return exit.Cannot("%v", err)
	}
	defer f.Close()
	conditions, err := f.Conditions()
	if err != nil {
		return exit.Cannot("%v", err)
	}
	s.Profile, s.Faithful = conditions.Flag("profile"), conditions.Flag("faithful") != ""
	return nil
}

// DependsOn lists the files that a compiled policy depends on, nil where it cannot
// be read: then it is no plan.
func DependsOn(path string) []string {
	f, err := artifact.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.Sources()
	if err != nil {
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Path
	}
	return out
}
