//go:build !unix

package health

import (
	"os"
	"os/exec"
)

func users() []user { return []user{own()} }

func (user) become(*exec.Cmd) {}

func (user) owns(os.FileInfo) bool { return true }
