package hookc

import (
	"context"
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego"
)

// Discover takes the policies of every tier for a project (cli.md "Policy
// sources"); it does not go with named ones. Project and local tiers run only
// when trusted. Where they were never trusted, an engine does not read them: it
// lists the files, and every Decision says so (see Inspect). "" is the folder
// the process is in.
func Discover(project string) Option {
	return func(c *config) { c.discover = lists.First(project, ".") }
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
	return func(c *config) { c.around = lists.Copy(dirs) }
}

// AsFound takes the files of projects as they are, trusted or not: for a
// person who looks at a policy, and for commands that run nothing of it. Of a
// project that is not trusted only regular files below its root are read.
func AsFound() Option {
	return func(c *config) { c.asFound = true }
}

// Withhold keeps what AsFound takes of a project that is not trusted from doing
// more than evaluating rules. A hook of it that starts a process or asks a model
// fails instead of doing so, unless Answers answers for it, and told is called
// with it, from any goroutine. Its Rego may call none of the functions that are
// forbidden by default.
func Withhold(delivered func(*policy.Hook)) Option {
	return func(c *config) { c.withhold = delivered }
}

var errWithheld = errors.New("the project is not trusted: nothing of it is started")

// withheld is a body that does nothing in the place of one that would start
// something that nobody agreed to.
func (c *config) withheld(h *policy.Hook, body dag.Body) dag.Body {
	if c.withhold == nil || h.Kind.InProcess() || !unagreed(h) {
		return body
	}
	body.Runner = policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) {
		c.withhold(h)
		return policy.Result{}, errWithheld
	})
	return body
}

// unagreed reports whether a hook is of a project that is not trusted.
func unagreed(h *policy.Hook) bool { return h.File != nil && h.File.Within != "" }

// confine forbids the Rego of projects that are not trusted what is forbidden by
// default, whatever their own files say.
func (c *config) confine(p *policy.Policy) {
	for _, h := range p.Hooks {
		if c.withhold == nil || !unagreed(h) || h.File.Rego.Forbid == nil {
			continue
		}
		for _, name := range rego.DefaultForbid() {
			if !lists.Has(h.File.Rego.Forbid, name) {
				h.File.Rego.Forbid = append(h.File.Rego.Forbid, name)
			}
		}
	}
}
