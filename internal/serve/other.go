//go:build !unix

package serve

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/exit"
)

// There is no serve on this system: nothing tells who is at the other end of
// a socket. hookgate runs hookc run instead.

func (f *serveFlags) unavailable() error {
	return exit.Cannot("there is no serve on this system; hookgate works without")
}

func (f *serveFlags) serve(*cobra.Command) error        { return f.unavailable() }
func (f *serveFlags) fleet(*cobra.Command) error        { return f.unavailable() }
func (f *serveFlags) status(*cobra.Command) error       { return f.unavailable() }
func (f *serveFlags) printMetrics(*cobra.Command) error { return f.unavailable() }
func (f *serveFlags) stop(*cobra.Command) error         { return f.unavailable() }
func (f *serveFlags) reload(*cobra.Command) error       { return f.unavailable() }
