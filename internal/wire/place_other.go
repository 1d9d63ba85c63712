//go:build !unix

package wire

import "io/fs"

// fileID is empty: there is no server here for which files must be told apart.
func fileID(fs.FileInfo) string { return "" }
