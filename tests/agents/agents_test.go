package agents_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var agents = []*realAgent{gemini, codex, qwen, claude}

// each runs a test for every agent.
func each(t *testing.T, test func(t *testing.T, a *realAgent)) {
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) { test(t, a) })
	}
}

// TestAgentsWithoutHookc is the control: what the tests below see hookc
// prevent does happen when there are no hooks.
func TestAgentsWithoutHookc(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		s := begin(t, a)
		s.bare = true
		s.play(t, func(s *session) []turn {
			return []turn{a.write(s.project, "vault.txt", "open"), a.shell("echo live > site.txt"), {text: "done"}}
		})
		assert.Equal(t, "open", s.file(t, "vault.txt"))
		assert.Equal(t, "live", s.file(t, "site.txt"))
		requests := s.model.sent()
		require.Len(t, requests, 3)
		assert.NotContains(t, requests[2], "house rule")
		assert.Empty(t, s.debug)
	})
}

func TestAgentsBlockAWrite(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		s := play(t, a, func(s *session) []turn {
			return []turn{
				a.write(s.project, "vault.txt", "open"), a.shell("echo open > vault.txt"), a.write(s.project, "notes.txt", "fine"), {text: "tests pass"},
			}
		})
		assert.Equal(t, "", s.file(t, "vault.txt"))
		assert.Equal(t, "fine", s.file(t, "notes.txt"))
		requests := s.model.sent()
		require.Len(t, requests, 4)
		assert.Equal(t, []int{0, 1, 2, 2}, counts(requests, "the vault is closed"))
	})
}

func TestAgentsRewriteACommand(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		s := play(t, a, func(s *session) []turn {
			return []turn{a.shell("echo live > site.txt"), {text: "tests pass"}}
		})
		requests := s.model.sent()
		require.Len(t, requests, 2)
		if a.rewrites {
			assert.Equal(t, "rehearsed", s.file(t, "site.txt"))
			return
		}
		// It does not take a rewrite: the call must not run as it was.
		assert.Equal(t, "", s.file(t, "site.txt"))
		assert.Contains(t, requests[1], "Make this call instead")
		assert.Contains(t, requests[1], "echo rehearsed > site.txt")
	})
}

func TestAgentsAddContext(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		s := play(t, a, func(s *session) []turn {
			return []turn{a.shell("echo fine > notes.txt"), {text: "tests pass"}}
		})
		assert.Equal(t, "fine", s.file(t, "notes.txt"))
		requests := s.model.sent()
		require.Len(t, requests, 2)
		assert.Contains(t, requests[0], "house rule: answer in one line")
		assert.Equal(t, []int{0, 1}, counts(requests, "note: a command has run"))
	})
}

func TestAgentsKeepWorking(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		s := play(t, a, func(*session) []turn {
			return []turn{{text: "all done"}, {text: "still done"}, {text: "tests pass"}, {text: "too much"}}
		})
		requests := s.model.sent()
		require.Len(t, requests, 3)
		assert.Equal(t, []int{0, a.demands, 2 * a.demands}, counts(requests, "run the tests before you stop"))
		assert.Contains(t, s.stdout, "tests pass")
	})
}

// seen is what became of one conversation.
type seen struct {
	Vault, Notes, Site string
	Requests           int
	// Closed and Tests are how often the refusal and the demand stand in each
	// request; Noted is whether the context of a command that ran does.
	Closed, Tests []int
	Noted         bool
}

// TestAgentsAgree holds one conversation with every agent under one policy
// that `hookc install` put in front of it: the verdicts are the same.
func TestAgentsAgree(t *testing.T) {
	want := seen{
		Notes: "fine", Site: "rehearsed", Requests: 7,
		Closed: []int{0, 1, 2, 2, 2, 2, 2}, Noted: true,
	}
	each(t, func(t *testing.T, a *realAgent) {
		want.Tests = []int{0, 0, 0, 0, 0, 0, a.demands}
		s := begin(t, a)
		s.bare, s.installed = true, true
		s.play(t, func(s *session) []turn {
			return []turn{
				a.write(s.project, "vault.txt", "open"), a.shell("echo open > vault.txt"),
				// Where a call cannot be changed the model is told to make another.
				a.shell("echo live > site.txt"), a.shell("echo rehearsed > site.txt"),
				a.write(s.project, "notes.txt", "fine"), {text: "all done"}, {text: "tests pass"},
			}
		})
		requests := s.model.sent()
		notes := counts(requests, "note: a command has run")
		assert.Equal(t, want, seen{
			Vault: s.file(t, "vault.txt"), Notes: s.file(t, "notes.txt"), Site: s.file(t, "site.txt"), Requests: len(requests),
			Closed: counts(requests, "the vault is closed"), Tests: counts(requests, "run the tests before you stop"), Noted: notes[len(notes)-1] > 0,
		})
	})
}
