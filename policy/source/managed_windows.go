package source

import (
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
