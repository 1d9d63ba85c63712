package paths

import (
	"os/user"
	"path/filepath"

	"github.com/hookc/hookc/internal/lazy"
)

// Account is the home folder of the account that the process runs as, whatever HOME
// says; "" where the system does not say. A repository can have an agent set HOME, and
// cannot change this one. It is looked up once.
var Account = lazy.Value(func() string {
	who, err := user.Current()
	if err != nil || !filepath.IsAbs(who.HomeDir) {
		return ""
	}
	return filepath.Clean(who.HomeDir)
})
