package vectors

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// sentEvent is one event as an agent sends it.
type sentEvent struct {
	Event string
	Sent  json.RawMessage
}

// sentEvents are the events of an agent that a real one was recorded to send
// (tests/agents), and after them those that its documents show.
func sentEvents(t *testing.T, id string) []sentEvent {
	t.Helper()
	var out []sentEvent
	for _, from := range []string{"sent", "documented"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", from, id+".jsonl"))
		if from == "sent" && os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			e := sentEvent{Sent: bytes.TrimSpace(line)}
			if from == "documented" {
				require.NoError(t, json.Unmarshal(line, &e))
			}
			out = append(out, e)
		}
	}
	return out
}

// decoded is what hookc makes of an event.
func (e sentEvent) decoded(t *testing.T, d *agent.Agent) (*policy.Context, policy.Event) {
	t.Helper()
	call, err := d.Decode(e.Sent, e.Event, func(string) string { return "" })
	require.NoError(t, err, "%s", e.Sent)
	return call.Context.Frozen(call.Event()), call.Event()
}

// families are the agents without their variants.
func families() []*agent.Agent {
	return slices.DeleteFunc(agent.All(), func(d *agent.Agent) bool { return strings.Contains(d.ID, "@") })
}

// TestNothingSentIsLost: every value that an agent sends is in what rules read,
// in a field of the event or in raw.
func TestNothingSentIsLost(t *testing.T) {
	t.Parallel()
	for _, d := range families() {
		for _, e := range sentEvents(t, d.ID) {
			in, _ := e.decoded(t, d)
			v, err := policy.DecodeJSON(e.Sent)
			require.NoError(t, err)
			have := in.Map()
			for key, value := range v.(map[string]any) {
				if value != nil && !slices.Contains([]string{"hook_event_name", "hookEventName", "event", "event_type"}, key) {
					assert.True(t, holds(have, value), "%s %s: %s=%v is lost in %v", d.ID, e.Event, key, value, have)
				}
			}
		}
	}
}

// holds reports whether a value is within another: as it is, as the JSON text of
// it, in its parts, or as the time that a number of milliseconds is.
func holds(have, value any) bool {
	if policy.SameValue(have, value) {
		return true
	}
	if millis, ok := value.(int); ok && have == any(time.UnixMilli(int64(millis)).UTC().Format("2006-01-02T15:04:05.000Z")) {
		return true
	}
	if m, ok := value.(map[string]any); ok && len(m) > 0 {
		all := true
		for _, inner := range m {
			all = all && (inner == nil || holds(have, inner))
		}
		if all {
			return true
		}
	}
	if text, ok := value.(string); ok && strings.HasPrefix(text, "{") {
		if v, err := policy.DecodeJSON([]byte(text)); err == nil && holds(have, v) {
			return true
		}
	}
	switch have := have.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(have)), func(inner any) bool { return holds(inner, value) })
	case []any:
		return slices.ContainsFunc(have, func(inner any) bool { return holds(inner, value) })
	}
	return false
}

// TestFieldsOfAgents holds what each agent is said to send against what it does
// send: a field is in an event that was sent if and only if [agent.Agent.Sends]
// lists it.
func TestFieldsOfAgents(t *testing.T) {
	t.Parallel()
	for _, d := range families() {
		seen := map[policy.Event]map[policy.Field]bool{}
		for _, e := range sentEvents(t, d.ID) {
			in, event := e.decoded(t, d)
			if seen[event] == nil {
				seen[event] = map[policy.Field]bool{}
			}
			for _, f := range policy.Fields() {
				if in.Has(f) {
					seen[event][f] = true
				}
			}
		}
		for _, event := range d.Events() {
			if strings.HasPrefix(string(event), "ext.") {
				continue
			}
			if !assert.NotNil(t, seen[event], "%s: no %s is recorded or documented", d.ID, event) {
				continue
			}
			said := map[policy.Field]bool{}
			for _, f := range d.Sends(event) {
				said[f] = true
			}
			for _, f := range policy.Fields() {
				switch {
				case !event.Spec().CanRead(f) || f == policy.FieldRaw || f == policy.FieldHookExecutionID:
				case f.Derived() && said[f]: // from what a call says
				case said[f] && (f.Spec().Everywhere || f == policy.FieldMCP || f == policy.FieldToolUseID): // not of every event and call
				default:
					assert.Equal(t, said[f], seen[event][f], "%s %s %s: is said to be sent, and was", d.ID, event, f)
				}
			}
		}
	}
}
