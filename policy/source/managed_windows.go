package source

import (
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// defaultManagedDir asks the system, not the environment, for the folder that
// only an administrator writes to.
func defaultManagedDir() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		dir = `C:\ProgramData`
	}
	return filepath.Join(dir, "hookc")
}

// writtenByOthers is nil: who may write a file is not in its mode there.
func writtenByOthers(fs.FileInfo) error { return nil }
