//go:build !unix

package health

import "os/exec"

func users() []user { return []user{own()} }

func (user) become(*exec.Cmd) {}
