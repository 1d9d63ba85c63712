package hookc

import (
	"cmp"
	"slices"
)

// Discover takes the policies of every tier for a project (cli.md "Policy
// sources"); it does not go with named ones. Project and local tiers run only
// when trusted. Where they were never trusted, an engine does not read them: it
// lists the files, and every Decision says so (see Inspect). "" is the folder
// the process is in.
func Discover(project string) Option {
	return func(c *config) { c.discover = cmp.Or(project, ".") }
}

// Managed adds the managed tier (/etc/hookc) to the policies that are named: what
// decides for an agent never goes without it. Discover has it already.
func Managed() Option {
	return func(c *config) { c.managed = true }
}

// UserPolicy says where the user's policy is, for Discover, so that neither HOME
// nor XDG_CONFIG_HOME of the process decides it; "" leaves it to them.
func UserPolicy(path string) Option {
	return func(c *config) { c.user = path }
}

// Inspect makes an engine read also what is not trusted, to list its hooks,
// which never run. It is for a person who looks at a policy: reading takes as
// long as what the project's files name, so it is not for an engine that an
// agent waits for. Load and Compile always do so.
func Inspect() Option {
	return func(c *config) { c.inspect = true }
}

// Around names further folders whose projects count beside the one that
// Discover names: the one that the session of an event began in, and the one
// that the agent is in.
func Around(dirs ...string) Option {
	return func(c *config) { c.around = slices.Clone(dirs) }
}

// AsFound takes the files of projects as they are, trusted or not: for a
// person who looks at a policy, and for commands that run nothing of it. Of a
// project that is not trusted only regular files below its root are read.
func AsFound() Option {
	return func(c *config) { c.asFound = true }
}
