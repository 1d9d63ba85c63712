package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/builtins/guard"
)

// weakens are the commands that an agent may not run by itself: they change
// what is trusted, installed or served.
var weakens = []string{"approvals", "approvals deny", "approvals grant", "approvals key", "bundle", "bundle build", "bundle sign", "init", "install", "log", "log disable", "log enable", "log key", "log key rotate", "log prune", "serve", "serve reload", "serve stop", "trust", "ui", "uninstall"}

// Each command of hookc is either one that reads or one that weakens: a new one
// is classified before it is built in.
func TestEveryCommandIsClassified(t *testing.T) {
	var walk func(cmd *cobra.Command, words []string)
	walk = func(cmd *cobra.Command, words []string) {
		for _, sub := range cmd.Commands() {
			walk(sub, append(slices.Clone(words), sub.Name()))
		}
		if len(words) == 0 || !cmd.Runnable() || cmd.Hidden {
			return
		}
		reads, _ := guard.SelfCommand(words...)
		name := strings.Join(words, " ")
		assert.Equal(t, !slices.Contains(weakens, name), reads, "hookc %s", name)
	}
	walk(newRoot(), nil)
}
