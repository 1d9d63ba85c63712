// Package covered keeps which lines of a policy's files its tests reach, so that an
// editor can show it. It is kept in the state folder of the project that a file is of.
package covered

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

const slot = "coverage"

// most bounds how many files of a project are kept.
const most = 1000

// Lines are the lines on which something is counted, from 1: true of those of which
// the tests reach all.
type Lines map[int]bool

// file is what was reached of a text.
type file struct {
	Text  string `json:"text"`
	Lines Lines  `json:"lines"`
}

// Keep keeps what tests reached of the file at an absolute path, when it held a text.
func Keep(path, text string, lines Lines) error {
	folder, err := state.Open(policy.ProjectRoot(filepath.Dir(path)))
	if err != nil {
		return err
	}
	return folder.UpdateLazy(slot, func(content []byte) ([]byte, error) {
		files := read(content)
		if len(files) >= most {
			files = map[string]file{}
		}
		files[path] = file{hash(text), lines}
		return json.Marshal(files)
	})
}

// Of is what the tests reached when they ran last, nil where the file at an absolute
// path had another text then, or nobody asked.
func Of(path, text string) Lines {
	folder, err := state.Open(policy.ProjectRoot(filepath.Dir(path)))
	if err != nil {
		return nil
	}
	content, err := folder.Read(slot)
	if f := read(content)[path]; err == nil && f.Text == hash(text) {
		return f.Lines
	}
	return nil
}

// read takes what is no such record for none: the tests write it again.
func read(content []byte) map[string]file {
	files := map[string]file{}
	if json.Unmarshal(content, &files) != nil {
		return map[string]file{}
	}
	return files
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
