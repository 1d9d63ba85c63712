// Package telemetry sends what an engine does to an OpenTelemetry collector: a span a
// firing and a span a run of a script or a model, and metrics. It is off unless the
// standard OTEL_ variables say where to, delays no decision, and counts what it drops.
// Names, verdicts and ids leave the machine, and nothing else of an event.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope is who makes the spans and metrics.
const scope = "github.com/hookc/hookc/fleet/telemetry"

// Telemetry observes engines. It is safe for concurrent use.
type Telemetry struct {
	tracer  trace.Tracer
	spans   *spans
	metrics *metrics
	say     *say
	end     []func(context.Context) error
	// patience is how long Close waits for a collector.
	patience time.Duration
	// refused counts the exports of metrics that did not arrive.
	refused atomic.Int64
}

// wanted reports whether the variables ask for a signal: traces, metrics or logs.
func wanted(signal string) bool {
	if off, _ := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED")); off {
		return false
	}
	if os.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// checked is why the variables ask for what there is not.
func checked(signal string) error {
	if by := os.Getenv("OTEL_" + signal + "_EXPORTER"); by != "" && by != "otlp" {
		return fmt.Errorf("OTEL_%s_EXPORTER is %q: there is otlp, and none", signal, by)
	}
	by := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if by != "" && by != "http/protobuf" {
		return fmt.Errorf("the OTLP protocol for %s is %q: there is http/protobuf", strings.ToLower(signal), by)
	}
	return nil
}

// Open starts what the OTEL_ variables ask for; it is nil where they ask for nothing.
// What goes wrong later is written to out, now and then.
func Open(ctx context.Context, version string, out io.Writer) (*Telemetry, error) {
	if !wanted("TRACES") && !wanted("METRICS") {
		return nil, nil
	}
	about, err := about(ctx, version)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{say: &say{out: out}, patience: 3 * time.Second}
	otel.SetErrorHandler(t.say)
	traces := []sdktrace.TracerProviderOption{sdktrace.WithResource(about)}
	if wanted("TRACES") {
		to, err := otlptracehttp.New(ctx)
		if err = errors.Join(err, checked("TRACES")); err != nil {
			return nil, err
		}
		t.spans = newSpans(to)
		traces = append(traces, sdktrace.WithSpanProcessor(t.spans))
	} else {
		traces = append(traces, sdktrace.WithSampler(sdktrace.NeverSample()))
	}
	tracers := sdktrace.NewTracerProvider(traces...)
	t.tracer, t.end = tracers.Tracer(scope), append(t.end, tracers.Shutdown)
	meters := sdkmetric.NewMeterProvider()
	if wanted("METRICS") {
		to, err := otlpmetrichttp.New(ctx)
		if err = errors.Join(err, checked("METRICS")); err != nil {
			return nil, errors.Join(err, t.Close())
		}
		reader := sdkmetric.NewPeriodicReader(&counted{to, &t.refused})
		meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithReader(reader))
	}
	t.end = append(t.end, meters.Shutdown)
	if t.metrics, err = newMetrics(meters.Meter(scope)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.Count("hookc.telemetry.dropped", "Spans that found no room, or that no collector took.", t.Dropped)
	return t, nil
}

// about is what the variables, or else we, call this process.
func about(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "hookcd"), attribute.String("service.version", version)), resource.WithFromEnv())
}

// Count adds a counter that is read when the metrics are sent: what a decision log
// lost, say.
func (t *Telemetry) Count(name, help string, read func() int64) {
	_, err := t.metrics.meter.Int64ObservableCounter(name, metric.WithDescription(help),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error { o.Observe(read()); return nil }))
	if err != nil {
		t.say.Handle(err)
	}
}

// Dropped is how many spans found no room, or did not arrive.
func (t *Telemetry) Dropped() int64 {
	if t.spans == nil {
		return 0
	}
	return t.spans.dropped.Load()
}

// Refused is how many exports of metrics did not arrive; the next one has their
// counts.
func (t *Telemetry) Refused() int64 { return t.refused.Load() }

// Exposition is the same in Prometheus' text format.
func (t *Telemetry) Exposition() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("# HELP hookcd_telemetry_dropped_total Spans that found no room, or that no collector took.\n# TYPE hookcd_telemetry_dropped_total counter\nhookcd_telemetry_dropped_total %d\n"+
		"# HELP hookcd_telemetry_refused_total Exports of metrics that no collector took.\n# TYPE hookcd_telemetry_refused_total counter\nhookcd_telemetry_refused_total %d\n", t.Dropped(), t.Refused())
}

// Close sends what waits, for a few seconds; what does not arrive is dropped.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	var wrong []error
	for _, end := range t.end {
		wrong = append(wrong, end(ctx))
	}
	if t.spans != nil {
		t.spans.dropped.Add(t.spans.waiting.Swap(0))
	}
	return errors.Join(wrong...)
}

// say writes what goes wrong, once a minute at most.
type say struct {
	mu   sync.Mutex
	out  io.Writer
	last time.Time
}

// Handle is told of what went wrong with an export.
func (s *say) Handle(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.last.IsZero() || now.Sub(s.last) >= time.Minute {
		s.last = now
		fmt.Fprintf(s.out, "hookcd: telemetry: %v\n", err)
	}
}
