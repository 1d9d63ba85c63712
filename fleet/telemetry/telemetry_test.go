package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
)

// collector takes OTLP over HTTP and decodes it by the protocol's own code.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*trace1.Span
	metrics map[string]*metrics1.Metric
	service string
	// raw is all that was sent, key what the header x-key said.
	raw []byte
	key string
	// answer takes the place of what the collector does, where it is set.
	answer http.HandlerFunc
}

func collecting(t *testing.T, answer http.HandlerFunc) *collector {
	c := &collector{metrics: map[string]*metrics1.Metric{}, answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.answer != nil {
			c.answer(w, r)
			return
		}
		c.take(t, w, r)
	}))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
	return c
}

func (c *collector) take(t *testing.T, w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if !assert.NoError(t, err) {
			return
		}
		body = z
	}
	text, err := io.ReadAll(body)
	assert.NoError(t, err)
	c.raw, c.key = append(c.raw, text...), r.Header.Get("x-key")
	switch r.URL.Path {
	case "/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		assert.NoError(t, proto.Unmarshal(text, &m))
		for _, of := range m.ResourceSpans {
			c.service = valueOf(of.Resource.Attributes, "service.name") + " " + valueOf(of.Resource.Attributes, "team")
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		assert.NoError(t, proto.Unmarshal(text, &m))
		for _, of := range m.ResourceMetrics {
			for _, s := range of.ScopeMetrics {
				for _, one := range s.Metrics {
					c.metrics[one.Name] = one
				}
			}
		}
	default:
		t.Errorf("there is nothing at %s", r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func valueOf(list []*common.KeyValue, key string) string {
	for _, kv := range list {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

func (c *collector) span(t *testing.T, name string) *trace1.Span {
	for _, s := range c.spans {
		if s.Name == name {
			return s
		}
	}
	require.Failf(t, "no span", "%s", name)
	return nil
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// engine decides by a policy that a test writes.
func engine(t *testing.T, text string, o ...hookc.Option) *hookc.Engine {
	path := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	eng, err := hookc.Open(t.Context(), append(o, hookc.Files(path))...)
	require.NoError(t, err)
	t.Cleanup(func() { eng.Close() })
	return eng
}

func call(command string) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").
		Set(policy.FieldSessionID, "session-1").Set(policy.FieldToolInput, map[string]any{"command": command})
}

// A firing and its script are spans of the agent's trace, the script is told its own
// place in it, the metrics say what was decided, and nothing of the event's contents
// leaves.
func TestSpansAndMetrics(t *testing.T) {
	c := collecting(t, nil)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=red")
	tel, err := Open(t.Context(), "v1", io.Discard)
	require.NoError(t, err)
	told := filepath.Join(t.TempDir(), "told")
	eng := engine(t, `pre_tool_execution:
  - {name: tells, command: 'cat >/dev/null; echo "$TRACEPARENT $TRACESTATE" >`+told+`'}
  - {name: fails, command: 'cat >/dev/null; exit 7', on_error: skip}
  - {name: guard, deny: 'command contains "rm"', reason: "it says {{command}}"}
`, hookc.Observe(tel))
	ctx := observe.WithTrace(context.Background(), observe.Parse(parent, "vendor=1"))
	d, err := eng.Fire(ctx, policy.PreToolExecution, call("rm private-words"))
	require.NoError(t, err)
	require.Equal(t, policy.Deny, d.Verdict)
	_, err = eng.FireJSON(ctx, policy.PreToolExecution, []byte(`{"tool_name":"AKIAQIKWP5GZ7ZRNLOEV","tool_input":{"command":"ls private-words"}}`))
	require.NoError(t, err)
	require.NoError(t, tel.Close())

	c.mu.Lock()
	defer c.mu.Unlock()
	assert.Equal(t, "abc", c.key)
	assert.Equal(t, "hookcd red", c.service)
	firing, script := c.span(t, "hookc pre_tool_execution"), c.span(t, "hook tells")
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", hexOf(firing.TraceId))
	assert.Equal(t, "b7ad6b7169203331", hexOf(firing.ParentSpanId))
	assert.Equal(t, firing.SpanId, script.ParentSpanId)
	for key, value := range map[string]string{"hookc.verdict": "deny", "hookc.by": "guard", "gen_ai.tool.name": "Bash", "gen_ai.conversation.id": "session-1", "gen_ai.operation.name": "execute_tool"} {
		assert.Equal(t, value, valueOf(firing.Attributes, key), key)
	}
	said, err := os.ReadFile(told)
	require.NoError(t, err)
	assert.Regexp(t, "^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01 vendor=1\n$", string(said))
	assert.NotContains(t, string(said), hexOf(firing.SpanId), "a script's place is its own span")
	assert.Equal(t, trace1.Status_STATUS_CODE_ERROR, c.span(t, "hook fails").Status.GetCode())
	assert.NotContains(t, string(c.raw), "private-words")
	assert.NotContains(t, string(c.raw), "AKIAQIKWP5GZ7ZRNLOEV")

	verdicts := map[string]int64{}
	for _, p := range c.metrics["hookc.decisions"].GetSum().DataPoints {
		verdicts[valueOf(p.Attributes, "hookc.verdict")] += p.GetAsInt()
	}
	assert.Equal(t, int64(1), verdicts["deny"])
	assert.Len(t, verdicts, 2)
	assert.Equal(t, int64(2), c.metrics["hookc.hook.failures"].GetSum().DataPoints[0].GetAsInt())
	assert.NotEmpty(t, c.metrics["hookc.decision.duration"].GetHistogram().DataPoints)
	assert.NotEmpty(t, c.metrics["hookc.hook.duration"].GetHistogram().DataPoints)
	assert.Contains(t, c.metrics, "hookc.telemetry.dropped")
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for _, c := range b {
		out.WriteByte(digits[c>>4])
		out.WriteByte(digits[c&15])
	}
	return out.String()
}

// Without the variables there is no telemetry, and with wrong ones hookcd does not
// start.
func TestOffUnlessConfigured(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	none, err := Open(t.Context(), "v1", io.Discard)
	require.NoError(t, err)
	assert.Nil(t, none)
	assert.NoError(t, none.Close())
	assert.Empty(t, none.Exposition())
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_SDK_DISABLED", "true")
	none, err = Open(t.Context(), "v1", io.Discard)
	require.NoError(t, err)
	assert.Nil(t, none)
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err = Open(t.Context(), "v1", io.Discard)
	assert.ErrorContains(t, err, `"grpc": there is http/protobuf`)
}

// A sampler that is named by the variables decides which spans are sent; all decisions
// are counted.
func TestSampler(t *testing.T) {
	c := collecting(t, nil)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	tel, err := Open(t.Context(), "v1", io.Discard)
	require.NoError(t, err)
	_, err = engine(t, "stop: [{name: a, deny: 'false', reason: no}]", hookc.Observe(tel)).Fire(t.Context(), policy.StopEvent, policy.NewContext(policy.StopEvent))
	require.NoError(t, err)
	require.NoError(t, tel.Close())
	assert.Empty(t, c.spans)
	assert.Len(t, c.metrics["hookc.decisions"].GetSum().DataPoints, 1)
}

// Whatever a collector does, decisions are the same, none waits for it, and every span
// that did not arrive is counted.
func TestBadCollectors(t *testing.T) {
	const firings, queue = 40, 8
	release := make(chan struct{})
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, dead.Close())
	for name, answer := range map[string]http.HandlerFunc{
		"dead":     nil,
		"refusing": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"slow": func(_ http.ResponseWriter, r *http.Request) { // until the test is at its end
			io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			collecting(t, answer)
			if name == "slow" {
				t.Cleanup(func() { close(release) }) // before the collector ends
			}
			if name == "dead" {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+dead.Addr().String())
			}
			t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
			t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
			var said bytes.Buffer
			tel, err := Open(t.Context(), "v1", &said)
			require.NoError(t, err)
			tel.patience = 200 * time.Millisecond
			eng := engine(t, "pre_tool_execution: [{name: guard, deny: 'command contains \"rm\"', reason: no}]", hookc.Observe(tel))
			for range firings { // with a slow collector none of these could end if one waited
				d, err := eng.Fire(t.Context(), policy.PreToolExecution, call("rm x"))
				require.NoError(t, err)
				require.Equal(t, policy.Deny, d.Verdict)
			}
			if name == "slow" {
				assert.GreaterOrEqual(t, tel.Dropped(), int64(firings-queue-1), "the queue is bounded")
			}
			assert.Error(t, tel.Close())
			assert.Equal(t, int64(firings), tel.Dropped())
			assert.Contains(t, tel.Exposition(), "hookcd_telemetry_dropped_total 40\n")
			tel.say.mu.Lock()
			defer tel.say.mu.Unlock()
			assert.LessOrEqual(t, strings.Count(said.String(), "\n"), 1)
		})
	}
}

// Who observes nothing allocates nothing more.
func TestUnobservedCostsNothing(t *testing.T) {
	ctx, in := context.Background(), call("ls")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, ended := observe.Begin(ctx, nil, policy.PreToolExecution, in)
		ended(nil, nil)
	}))
}
