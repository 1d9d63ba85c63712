package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/hookc/hookc/fleet/ship"
)

// Logs sends the record of decisions to a collector as OpenTelemetry's logs: an entry
// is the text of a log record, as JSON. It is a [ship.Sink].
type Logs struct {
	exporter *otlploghttp.Exporter
	provider *sdklog.LoggerProvider
	made     made
	rejected atomic.Uint64
}

// made is what the provider makes of entries: records with its resource and limits.
type made struct{ records []sdklog.Record }

func (m *made) OnEmit(_ context.Context, r *sdklog.Record) error {
	m.records = append(m.records, r.Clone())
	return nil
}
func (m *made) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }
func (m *made) Shutdown(context.Context) error                         { return nil }
func (m *made) ForceFlush(context.Context) error                       { return nil }

// OpenLogs is nil unless OTEL_LOGS_EXPORTER is otlp: unlike spans and metrics, an entry
// holds what a call said, so an address alone does not ask for it.
func OpenLogs(ctx context.Context, version string) (*Logs, error) {
	if !wanted("LOGS") || os.Getenv("OTEL_LOGS_EXPORTER") == "" {
		return nil, nil
	}
	if err := checked("LOGS"); err != nil {
		return nil, err
	}
	about, err := about(ctx, version)
	if err != nil {
		return nil, err
	}
	l := &Logs{}
	if l.exporter, err = otlploghttp.New(ctx); err != nil {
		return nil, err
	}
	l.provider = sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor(&l.made))
	return l, nil
}

// Ship sends a list. It is nil when the collector answered that it has it; what it
// rejects for good is counted, as the protocol wants it.
func (l *Logs) Ship(ctx context.Context, list []ship.Decision) error {
	l.made.records = l.made.records[:0]
	to := l.provider.Logger(scope)
	for _, d := range list {
		text, err := json.Marshal(d.Entry)
		if err != nil {
			return err
		}
		var r log.Record
		r.SetTimestamp(d.Timestamp)
		r.SetEventName("hookc.decision")
		r.SetSeverity(log.SeverityInfo)
		r.SetBody(attribute.StringValue(string(text)))
		action, _ := d.Result["action"].(string)
		for key, value := range map[string]string{"hookc.decision.id": d.ID, "hookc.event": d.Path, "hookc.action": action, "user.name": d.User, "session.id": d.Session, "error.message": d.Error} {
			if value != "" {
				r.AddAttributes(attribute.String(key, value))
			}
		}
		to.Emit(ctx, r)
	}
	err := l.exporter.Export(ctx, l.made.records)
	if err != nil && strings.Contains(err.Error(), "OTLP partial success") {
		l.rejected.Add(1)
		return nil
	}
	return errors.Join(err, ctx.Err())
}

// Refused is how many lists the collector took only in part.
func (l *Logs) Refused() uint64 { return l.rejected.Load() }

// Close ends it.
func (l *Logs) Close() error {
	return errors.Join(l.provider.Shutdown(context.Background()), l.exporter.Shutdown(context.Background()))
}
