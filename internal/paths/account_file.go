//go:build ((!cgo && !darwin) || osusergo || android) && !windows

package paths

// asked reports whether os/user asks the system, and nobody else, who an account is.
const asked = false
