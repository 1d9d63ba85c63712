package decide

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Caller is who wants an event decided: its working directory and its
// environment. A command reads both from here, so that hookc serve decides as
// a process of the caller's own would. The caller of a context without one is
// this process. It is immutable.
type Caller struct {
	Dir     string
	Environ []string
}

type callerKey struct{}

//go:noinline
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

//go:noinline
func CallerOf(ctx context.Context) *Caller {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Env is the caller's environment.
func (c *Caller) Env() []string {
	if c == nil {
		return os.Environ()
	}
	return c.Environ
}

// Getenv is os.Getenv for the caller: of a variable that is there twice, the
// first counts.
func (c *Caller) Getenv(name string) string {
	if c == nil {
		return os.Getenv(name)
	}
	for _, kv := range c.Environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && strings.HasPrefix(kv, name) {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// WorkDir is the folder the caller is in.
func (c *Caller) WorkDir() (string, error) {
	if c == nil {
		return WorkDir()
	}
	return c.Dir, nil
}

// Path is a path as the caller means it.
func (c *Caller) Path(path string) string {
	if c == nil || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}
