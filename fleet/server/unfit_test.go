package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// unfit are policies that would act on this machine with what a client sent, for every
// kind of hook that is not evaluated inside hookc and in every place of a policy;
// MARK is a file that they would make.
func unfit() map[string]string {
	out := map[string]string{
		"command": "{name: a, command: 'touch MARK'}",
		"async":   "{name: a, command: 'touch MARK', async: true}",
		"group":   "{name: g, parallel: [{name: b, deny: 'false', reason: no}, {name: a, command: 'touch MARK'}]}",
		"narrow":  "{name: a, command: 'touch MARK', filter: {tool_name: Rare}}",
		"path":    "{name: a, use: path-guard, protect: ['*.env']}",
		"shell":   "{name: a, use: shell-guard}",
		"self":    "{name: a, use: self-guard}",
	}
	for _, kind := range policy.KindNames() {
		if k := policy.Kind(kind); !k.InProcess() {
			out["kind "+kind] = map[policy.Kind]string{policy.KindBash: "{name: a, type: bash, command: 'touch MARK'}", policy.KindLLM: "{name: a, type: llm, prompt: 'is it well?'}"}[k]
		}
	}
	all := map[string]string{"fact": "facts:\n  branch: {command: touch MARK}\n" + guard + "  - {name: f, deny: 'facts.branch == \"main\"', reason: no}\n"}
	before := strings.Replace(guard, "REASON", "unfit", 1)
	for name, hook := range out {
		all[name] = before + "  - " + hook + "\n"
		if tools := []string{"path", "self", "shell", "narrow"}; !slices.Contains(tools, name) {
			all[name+" of another event"] = before + "stop:\n  - " + hook + "\n"
		}
	}
	return all
}

// TestUnfitEdit: an edit by which a policy would act on this machine does not come into
// force by a Reload, whatever it would act by. The policy before decides, nothing runs,
// and readiness, metrics and the error say so, until the policy is fit again. The
// policies of other clients change all the same.
func TestUnfitEdit(t *testing.T) {
	for name, text := range unfit() {
		for _, compiled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s compiled %v", name, compiled), func(t *testing.T) {
				require.NotContains(t, text, "- \n", "a kind of hook that this test does not know")
				mark := filepath.Join(t.TempDir(), "mark")
				path := filepath.Join(t.TempDir(), "hooks.yaml")
				if compiled {
					path = filepath.Join(t.TempDir(), "policy.hookc")
				}
				edit := func(text string) {
					if !compiled {
						require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
						return
					}
					x, found, err := hookc.NewArtifact(hookc.Text("hooks.yaml", text))
					require.NoError(t, err)
					require.NotNil(t, x, found.Render())
					require.NoError(t, x.WriteFile(path, nil))
				}
				edit(strings.Replace(guard, "REASON", "first", 1))
				other := policyFile(t, "other first")
				r, url := listening(t, func(o *Options) { o.Policies = []string{path, "zebra=" + other} })
				get := func(path string) string {
					res, err := http.Get(url + path)
					require.NoError(t, err)
					defer res.Body.Close()
					assert.Equal(t, http.StatusOK, res.StatusCode)
					text, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					return string(text)
				}
				reasons := func() []string {
					post(t, http.DefaultClient, url+"/v1/events/stop", `{"event":"stop","cwd":"/nowhere"}`)
					return post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove).Reason
				}
				edit(strings.ReplaceAll(text, "MARK", mark))
				require.NoError(t, os.WriteFile(other, []byte(strings.Replace(guard, "REASON", "other second", 1)), 0o600))
				err := r.Reload(context.Background())
				require.ErrorContains(t, err, "stays as it was")
				assert.Regexp(t, "it would run here|this disk is not the client's", err.Error())
				assert.Equal(t, []string{"first"}, reasons())
				assert.Contains(t, get("/health/ready"), "refused")
				assert.Contains(t, get("/metrics"), "hookcd_stale_policies 1\n")
				assert.NoFileExists(t, mark)
				zebra, err := r.tenants.Of("zebra")
				require.NoError(t, err)
				assert.True(t, slices.ContainsFunc(zebra.eng.Policy().Hooks, func(h *policy.Hook) bool { return h.Body.Rules[0].Reason.Value == "other second" }))

				edit(strings.Replace(guard, "REASON", "second", 1))
				require.NoError(t, r.Reload(context.Background()))
				assert.Equal(t, []string{"second"}, reasons())
				assert.Equal(t, "ok\n", get("/health/ready"))
				assert.Contains(t, get("/metrics"), "hookcd_stale_policies 0\n")
			})
		}
	}
}
