package telemetry

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spans is OpenTelemetry's batch processor with its drops counted: a span that finds
// as many waiting as the queue holds is dropped here, so that the queue never is full.
type spans struct {
	sdktrace.SpanProcessor
	room             int64
	waiting, dropped atomic.Int64
}

func newSpans(to sdktrace.SpanExporter) *spans {
	s := &spans{room: sdktrace.DefaultMaxQueueSize}
	if n, err := strconv.Atoi(os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE")); err == nil && n > 0 {
		s.room = int64(n)
	}
	s.SpanProcessor = sdktrace.NewBatchSpanProcessor(&sending{to, s}, sdktrace.WithMaxQueueSize(int(s.room)))
	return s
}

func (s *spans) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if s.waiting.Add(1) > s.room {
		s.waiting.Add(-1)
		s.dropped.Add(1)
		return
	}
	s.SpanProcessor.OnEnd(span)
}

// sending counts what arrives and what does not.
type sending struct {
	sdktrace.SpanExporter
	of *spans
}

func (s *sending) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, list)
	s.of.waiting.Add(-int64(len(list)))
	if err != nil {
		s.of.dropped.Add(int64(len(list)))
	}
	return err
}

// counted counts the exports of metrics that did not arrive.
type counted struct {
	sdkmetric.Exporter
	refused *atomic.Int64
}

func (c *counted) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	err := c.Exporter.Export(ctx, m)
	if err != nil {
		c.refused.Add(1)
	}
	return err
}
