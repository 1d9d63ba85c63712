package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRootForOneCommand: a root that has one command says of it what the whole
// one says, and finds it under its name.
func TestRootForOneCommand(t *testing.T) {
	said := func(root *cobra.Command, args ...string) string {
		var out bytes.Buffer
		root.SetArgs(args)
		root.SetOut(&out)
		root.SetErr(&out)
		require.NoError(t, root.Execute(), "%v", args)
		return out.String()
	}
	for name := range commands() {
		cmd, _, err := rootFor([]string{name}).Find([]string{name, "x"})
		require.NoError(t, err)
		assert.Equal(t, name, cmd.Name())
		assert.Len(t, rootFor([]string{name}).Commands(), 1, name)
		assert.Equal(t, said(newRoot(), name, "--help"), said(rootFor([]string{name}), name, "--help"), name)
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "run"}, {"rum"}, {"completion", "bash"}, {cobra.ShellCompRequestCmd, "r"}} {
		assert.Greater(t, len(rootFor(args).Commands()), len(commands()), strings.Join(args, " "))
	}
}
