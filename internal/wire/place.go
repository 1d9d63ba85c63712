package wire

import "strconv"

// Dir is the folder of the server's socket: below $XDG_RUNTIME_DIR, or else
// the user's state folder; "" when the environment names neither. Relative
// ones are ignored, as the XDG specification demands.
func Dir(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); absolute(dir) {
		return dir + "/hookc"
	}
	if dir := getenv("XDG_STATE_HOME"); absolute(dir) {
		return dir + "/hookc/run"
	}
	if dir := getenv("HOME"); absolute(dir) {
		return dir + "/.local/state/hookc/run"
	}
	return ""
}

func absolute(path string) bool { return path != "" && path[0] == '/' }

// Socket is the socket of a build in a folder. The name carries the protocol
// and the build, so that a gate never meets a server of another hookc: after
// an upgrade it finds none, and decides without.
func Socket(dir, build string) string {
	return dir + "/p" + strconv.Itoa(Version) + "-" + build + ".sock"
}
