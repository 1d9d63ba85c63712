package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// caller is who wants an event decided: its working directory and its
// environment. A command reads both from here, so that hookc serve decides as
// a process of the caller's own would. The caller of a context without one is
// this process. It is immutable.
type caller struct {
	dir     string
	environ []string
}

type callerKey struct{}

func withCaller(ctx context.Context, c *caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

//go:noinline
func callerOf(ctx context.Context) *caller {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// env is the caller's environment.
func (c *caller) env() []string {
	if c == nil {
		return os.Environ()
	}
	return c.environ
}

// getenv is os.Getenv for the caller: of a variable that is there twice, the
// first counts.
func (c *caller) getenv(name string) string {
	if c == nil {
		return os.Getenv(name)
	}
	for _, kv := range c.environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && strings.HasPrefix(kv, name) {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// workDir is the folder the caller is in.
func (c *caller) workDir() (string, error) {
	if c == nil {
		return workDir()
	}
	return c.dir, nil
}

// path is a path as the caller means it.
func (c *caller) path(path string) string {
	if c == nil || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir, path)
}
