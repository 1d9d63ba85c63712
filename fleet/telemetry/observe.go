package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
)

// metrics are what is counted. Nothing that an agent says is in their attributes: that
// would be without bound.
type metrics struct {
	meter      metric.Meter
	decisions  metric.Int64Counter
	failures   metric.Int64Counter
	took, hook metric.Float64Histogram
}

// bounds are the histograms', in seconds.
var bounds = metric.WithExplicitBucketBoundaries(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60)

func newMetrics(m metric.Meter) (out *metrics, err error) {
	out = &metrics{meter: m}
	if out.decisions, err = m.Int64Counter("hookc.decisions", metric.WithDescription("Events decided, by event, verdict and action.")); err != nil {
		return nil, err
	}
	if out.failures, err = m.Int64Counter("hookc.hook.failures", metric.WithDescription("Hooks that failed, by hook.")); err != nil {
		return nil, err
	}
	if out.took, err = m.Float64Histogram("hookc.decision.duration", metric.WithUnit("s"), bounds, metric.WithDescription("How long decisions took.")); err != nil {
		return nil, err
	}
	out.hook, err = m.Float64Histogram("hookc.hook.duration", metric.WithUnit("s"), bounds, metric.WithDescription("How long attempts of scripts and models took."))
	return out, err
}

// longest bounds a name that an agent chose, in bytes.
const longest = 128

// named is a name or an id that an agent chose, as it may leave the machine: short, and
// with the secrets that the decision log would not hold either left out.
func named(name string) string {
	if len(name) > longest {
		name = name[:longest]
	}
	out, err := builtins.Lookup("secret.redact").Call([]any{strings.ToValidUTF8(name, "")})
	if err != nil {
		return ""
	}
	text, _ := out.(string)
	return text
}

// of are the attributes of an event.
func of(event policy.Event, in *policy.Context) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("hookc.event", string(event))}
	if in == nil || in.Err() != nil {
		return out
	}
	if id := in.Text(policy.FieldSessionID); id != "" {
		out = append(out, attribute.String("gen_ai.conversation.id", named(id)))
	}
	if tool := in.Text(policy.FieldToolName); tool != "" {
		out = append(out, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", named(tool)))
	}
	return out
}

var w3c propagation.TraceContext

// Firing begins the span of a firing.
func (t *Telemetry) Firing(ctx context.Context, event policy.Event, in *policy.Context) (context.Context, func(*policy.Decision, error)) {
	began := time.Now()
	if known, ok := policy.ParseEvent(string(event)); ok {
		event = known
	} else {
		event = "unknown"
	}
	if from := observe.TraceOf(ctx); from.Parent != "" && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = w3c.Extract(ctx, propagation.MapCarrier{"traceparent": from.Parent, "tracestate": from.State})
	}
	ctx, span := t.tracer.Start(ctx, "hookc "+string(event), trace.WithAttributes(of(event, in)...))
	return placed(ctx), func(d *policy.Decision, err error) {
		verdict, action := "error", "error"
		if err != nil {
			span.SetStatus(codes.Error, "the event could not be decided")
		} else {
			verdict, action = d.Verdict.String(), string(d.Action)
			span.SetAttributes(attribute.String("hookc.by", d.By), attribute.String("hookc.policy", d.Policy), attribute.Int("hookc.warnings", len(d.Warnings)))
			t.failed(ctx, d)
		}
		about := []attribute.KeyValue{attribute.String("hookc.verdict", verdict), attribute.String("hookc.action", action)}
		span.SetAttributes(about...)
		span.End()
		on := metric.WithAttributes(append(about, attribute.String("hookc.event", string(event)))...)
		t.metrics.decisions.Add(ctx, 1, on)
		t.metrics.took.Record(ctx, time.Since(began).Seconds(), on)
	}
}

// failed counts the hooks that failed.
func (t *Telemetry) failed(ctx context.Context, d *policy.Decision) {
	for i := range d.Hooks {
		if h := &d.Hooks[i]; h.Status == policy.StatusFailed {
			t.metrics.failures.Add(ctx, 1, metric.WithAttributes(attribute.String("hookc.hook", h.Name), attribute.String("hookc.event", string(d.Event))))
		}
	}
}

// Hook begins the span of an attempt of a script or a model.
func (t *Telemetry) Hook(ctx context.Context, h *policy.Hook, attempt int) (context.Context, func(error)) {
	began := time.Now()
	about := []attribute.KeyValue{attribute.String("hookc.hook", h.Name), attribute.String("hookc.kind", string(h.Kind))}
	all := append(about[:2:2], attribute.Int("hookc.attempt", attempt))
	kind := trace.SpanKindInternal
	if h.Kind == policy.KindLLM {
		kind = trace.SpanKindClient
		all = append(all, attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", h.Body.Model))
	}
	ctx, span := t.tracer.Start(ctx, "hook "+h.Name, trace.WithSpanKind(kind), trace.WithAttributes(all...))
	return placed(ctx), func(err error) {
		if err != nil {
			why := attribute.String("error.type", string(policy.KindOf(err)))
			about = append(about, why)
			span.SetAttributes(why)
			span.SetStatus(codes.Error, "the hook failed")
		}
		span.End()
		t.metrics.hook.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(about...))
	}
}

// placed says where in the trace a context is, for scripts and models.
func placed(ctx context.Context) context.Context {
	at := propagation.MapCarrier{}
	w3c.Inject(ctx, at)
	return observe.WithTrace(ctx, observe.Parse(at["traceparent"], at["tracestate"]))
}
