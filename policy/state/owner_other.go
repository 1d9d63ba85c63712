//go:build !unix

package state

import "io/fs"

// noFollow has no equivalent here; making symbolic links takes a privilege on
// Windows.
const noFollow = 0

// ours is true: the folder lies in the user's own profile, which the system
// keeps from other users.
func ours(fs.FileInfo) bool { return true }
