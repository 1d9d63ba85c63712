package hookc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/approval"
	_ "github.com/hookc/hookc/internal/approval/judge"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
)

const pushes = `
pre_tool_execution:
  - {name: push, ask: 'command startsWith "git push"', reason: pushes}
  - {name: force, deny: 'command contains "--force"', reason: forced}
`

// asked is an engine and the store of the home it has; call decides a command.
func asked(t *testing.T, text string, more ...hookc.Option) (call func(command string) *policy.Decision, s *approval.Store) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home, err := state.Home()
	require.NoError(t, err)
	options := append([]hookc.Option{hookc.Text("hooks.yaml", text), hookc.Approvals(), hookc.SkipVerify()}, more...)
	eng, err := hookc.Open(context.Background(), options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, eng.Close()) })
	return func(command string) *policy.Decision {
		in := policy.NewContext(hookc.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}).
			Set(policy.FieldSessionID, "s").Set(policy.FieldCwd, "/")
		d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
		require.NoError(t, err)
		return d
	}, approval.Open(home)
}

func tiered(tier policy.Tier, text string) hookc.Option {
	return host.Input[hookc.Option](source.Input{Path: fmt.Sprint(tier, ".yaml"), Tier: tier, Format: "hooksyaml", Content: []byte(text)})
}

func pending(t *testing.T, s *approval.Store) *approval.Approval {
	t.Helper()
	all, err := s.List()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all[0]
}

func grant(t *testing.T, s *approval.Store, by string) {
	t.Helper()
	_, err := s.Answer(context.Background(), pending(t, s).ID, by, approval.Grant, approval.Scope{}, "fine")
	require.NoError(t, err)
}

func TestApproval(t *testing.T) {
	call, s := asked(t, "approval: {}\n"+pushes)
	d := call("git push")
	assert.Equal(t, policy.Block, d.Action)
	a := pending(t, s)
	assert.Equal(t, []string{"push"}, a.Rules)
	assert.Contains(t, d.Reasons[1], "`hookc approvals grant "+a.ID+"`")
	grant(t, s, "alice")
	d = call("git push")
	assert.Equal(t, policy.Proceed, d.Action)
	assert.Equal(t, a.ID, d.Grant.ID)
	assert.Equal(t, []string{"alice"}, d.Grant.By)
	text, err := d.MarshalJSON()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"grant":{"id":"`+a.ID+`","by":["alice"],"scope":"once","use":1,"reason":"fine"}`)
	assert.Equal(t, policy.Block, call("git push").Action, "it counts once")
	assert.Equal(t, policy.Block, call("git push origin").Action)
	assert.Equal(t, policy.Proceed, call("ls").Action)
}

// TestApprovalNeverPermitsARefusal: what another hook denies stays denied, whatever has
// been granted.
func TestApprovalNeverPermitsARefusal(t *testing.T) {
	dir := t.TempDir()
	veto := filepath.Join(dir, "veto")
	call, s := asked(t, "approval: {}\n"+pushes+"  - {name: veto, command: 'if [ -e "+veto+" ]; then exit 2; fi', protocol: claude}\n")
	require.Equal(t, policy.Block, call("git push").Action)
	grant(t, s, "alice")
	require.NoError(t, os.WriteFile(veto, nil, 0o600))
	d := call("git push")
	assert.Equal(t, policy.Block, d.Action)
	assert.Equal(t, "veto", d.By)
	assert.Nil(t, d.Grant)
	assert.Equal(t, "force", call("git push --force").By)
	require.NoError(t, os.Remove(veto))
	assert.Equal(t, policy.Proceed, call("git push").Action, "the grant has not been used")
}

// TestApprovalOfEveryAsker: a second rule that asks is asked about.
func TestApprovalOfEveryAsker(t *testing.T) {
	call, s := asked(t, "approval: {}\n"+pushes+"  - {name: late, ask: 'command endsWith \"main\"', reason: main}\n")
	require.Equal(t, policy.Block, call("git push main").Action)
	assert.Equal(t, []string{"push", "late"}, pending(t, s).Rules)
}

// TestApprovalTiers: a file cannot have the questions of a more trusted one answered,
// nor loosen how they are.
func TestApprovalTiers(t *testing.T) {
	tiers := func(user, project string) []hookc.Option {
		return []hookc.Option{tiered(policy.TierUser, user), tiered(policy.TierProject, project)}
	}
	t.Run("enable", func(t *testing.T) {
		call, s := asked(t, "{}", tiers(pushes, "approval: {}\n")...)
		assert.Equal(t, policy.AskUser, call("git push").Action)
		all, err := s.List()
		require.NoError(t, err)
		assert.Empty(t, all)
	})
	t.Run("strictest", func(t *testing.T) {
		call, s := asked(t, "{}", tiers("approval: {approvers: [leads], quorum: 2, ttl: 10m, once: true, groups: {leads: [alice, bob]}}\n"+pushes,
			"approval: {approvers: [leads, mallory], quorum: 1, ttl: 1h, groups: {leads: [mallory, carol]}}\n")...)
		require.Equal(t, policy.Block, call("git push").Action)
		terms := pending(t, s).Terms
		assert.Equal(t, []string{"alice", "bob"}, terms.Approvers)
		assert.Equal(t, 2, terms.Quorum)
		assert.Zero(t, terms.Longest)
		assert.Equal(t, 10*time.Minute, pending(t, s).TTL)
	})
}

func TestApprovalRequire(t *testing.T) {
	call, s := asked(t, "approval: {approvers: [alice, bob, carol], require: [{hook: 'pu*', quorum: 2}, {hook: other, quorum: 3}]}\n"+pushes)
	require.Equal(t, policy.Block, call("git push").Action)
	grant(t, s, "alice")
	d := call("git push")
	assert.Equal(t, policy.Block, d.Action)
	assert.Contains(t, d.Reasons[1], "1 of 2 have granted it")
	grant(t, s, "carol")
	assert.Equal(t, []string{"alice", "carol"}, call("git push").Grant.By)
}

// TestApprovalSource: Rego says who may approve what, and what it cannot decide is not
// approved.
func TestApprovalSource(t *testing.T) {
	answer := func(source, by string) error {
		text, err := json.Marshal(source)
		require.NoError(t, err)
		call, s := asked(t, "approval: {groups: {leads: [alice]}, source: "+string(text)+"}\n"+pushes)
		require.Equal(t, policy.Block, call("git push").Action)
		_, err = s.Answer(context.Background(), pending(t, s).ID, by, approval.Grant, approval.Scope{}, "")
		return err
	}
	leads := "package a\ndeny contains sprintf(\"%s may not %s\", [input.raw.approval.by, input.tool_input.command]) if not \"leads\" in input.raw.approval.groups\n"
	assert.NoError(t, answer(leads, "alice"))
	assert.ErrorContains(t, answer(leads, "bob"), "bob may not git push")
	assert.ErrorContains(t, answer("package a\ndeny contains \"x\" if to_number(input.cwd) > 1\ndeny contains 1 if true\n", "alice"), "approval.source")
}

// TestApprovalWaits: a call that waits goes ahead when it is granted, and is refused
// when it is denied.
func TestApprovalWaits(t *testing.T) {
	call, s := asked(t, "approval: {wait: 1h}\n"+pushes)
	for _, verdict := range []approval.Verdict{approval.Grant, approval.Deny} {
		done := make(chan *policy.Decision)
		go func() { done <- call("git push") }()
		var id string
		require.Eventually(t, func() bool {
			all, err := s.List()
			if err != nil || len(all) == 0 || all[0].State != approval.Pending {
				return false
			}
			id = all[0].ID
			return true
		}, time.Minute, time.Millisecond)
		_, err := s.Answer(context.Background(), id, "alice", verdict, approval.Scope{}, "because")
		require.NoError(t, err)
		d := <-done
		assert.Equal(t, verdict == approval.Grant, d.Permits())
		assert.Contains(t, strings.Join(d.Reasons, "\n"), "because")
	}
}

// TestApprovalDamaged: a store that is damaged refuses, and says so.
func TestApprovalDamaged(t *testing.T) {
	call, s := asked(t, "approval: {}\n"+pushes)
	require.Equal(t, policy.Block, call("git push").Action)
	grant(t, s, "alice")
	require.NoError(t, os.WriteFile(filepath.Join(s.Path(), pending(t, s).ID+".json"), []byte("{"), 0o600))
	d := call("git push")
	assert.Equal(t, policy.Block, d.Action)
	assert.Contains(t, d.Reasons[1], "cannot be read, and nothing goes ahead by it")
	require.NoError(t, os.RemoveAll(s.Path()))
	require.NoError(t, os.WriteFile(s.Path(), nil, 0o600))
	assert.Equal(t, policy.Block, call("git push").Action, "a file where the folder should be")
}

// TestApprovalWebhook: a new question is posted, signed, once; one that cannot be told
// of is said.
func TestApprovalWebhook(t *testing.T) {
	posted := make(chan string, 4)
	code := http.StatusOK
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posted <- r.Header.Get("X-Hookc-Signature")
		w.WriteHeader(code)
	}))
	defer receiver.Close()
	call, _ := asked(t, "{}", tiered(policy.TierUser, "approval: {webhook: {url: '"+receiver.URL+"', format: slack}}\n"+pushes))
	assert.Len(t, call("git push").Reasons, 2)
	assert.Contains(t, <-posted, "v0=")
	call("git push")
	assert.Empty(t, posted)
	code = http.StatusInternalServerError
	d := call("git push other")
	assert.Equal(t, policy.Block, d.Action)
	assert.Equal(t, "hookc: approval.webhook could not be told of it: it answered 500 Internal Server Error", d.Reasons[2])
}

// TestApprovalsArePartOfThePlan: a grant does not outlive the policy it was given under.
func TestApprovalsArePartOfThePlan(t *testing.T) {
	hash := func(text string) string {
		p, found := hookc.Compile(hookc.Text("hooks.yaml", text), hookc.SkipVerify())
		require.False(t, found.HasErrors(), found.Render())
		return p.Hash
	}
	assert.Equal(t, hash("approval: {quorum: 1}\n"+pushes), hash("approval: {quorum: 1}\n"+pushes))
	assert.NotEqual(t, hash("approval: {}\n"+pushes), hash("approval: {approvers: [alice]}\n"+pushes))
	_, found := source.Load(source.Options{Inputs: []source.Input{{Path: "hooks.yaml", Tier: policy.TierProject, Format: "hooksyaml",
		Content: []byte("approval: {webhook: {url: 'https://example.com'}}\n" + pushes)}}})
	assert.True(t, found.HasErrors(), "a project has no webhook")
}

// TestApprovalOfText: an event that is given as text asks as one that was read does.
func TestApprovalOfText(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home, err := state.Home()
	require.NoError(t, err)
	eng, err := hookc.Open(context.Background(), hookc.Text("hooks.yaml", "approval: {}\n"+pushes), hookc.Approvals(), hookc.SkipVerify())
	require.NoError(t, err)
	defer eng.Close()
	fire := func() *policy.Decision {
		d, err := eng.FireJSON(context.Background(), hookc.PreToolExecution, []byte(`{"tool_name":"Bash","tool_input":{"command":"git push"},"session_id":"s","cwd":"/"}`))
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, policy.Block, fire().Action)
	s := approval.Open(home)
	grant(t, s, "alice")
	d := fire()
	assert.Equal(t, policy.Proceed, d.Action)
	require.NotNil(t, d.Grant)
	assert.Equal(t, policy.Block, fire().Action)
}
