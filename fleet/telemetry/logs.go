package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"

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
	rejected uint64
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
// rejects for good is counted, as the protocol wants it. A list that is too large for it
// is sent in parts, and an entry that is, without what the call and its hooks said.
func (l *Logs) Ship(ctx context.Context, list []ship.Decision) error {
	rejected, err := l.parts(ctx, list)
	if err == nil { // else the list comes again, and is counted then
		l.rejected += rejected
	}
	return err
}

// parts sends a list, in parts where it is too large, and counts what is rejected for good.
func (l *Logs) parts(ctx context.Context, list []ship.Decision) (rejected uint64, err error) {
	rejected, err = l.send(ctx, list, false)
	if err == nil || !tooLarge(err) {
		return rejected, err
	}
	if half := len(list) / 2; half > 0 {
		first, err := l.parts(ctx, list[:half])
		if err != nil {
			return 0, err
		}
		second, err := l.parts(ctx, list[half:])
		return first + second, err
	}
	rejected, err = l.send(ctx, []ship.Decision{list[0].Cut()}, true)
	if err != nil && tooLarge(err) {
		return 1, nil
	}
	return rejected, err
}

// tooLarge reports whether a request was more than the exporter sends or the collector
// takes: neither has a type for that.
func tooLarge(err error) bool {
	return strings.Contains(err.Error(), ": 413 ") || strings.Contains(err.Error(), "request body too large")
}

// partly is what the exporter says where the collector took only a part.
var partly = regexp.MustCompile(`(?s)OTLP partial success: .* \((\d+) logs rejected\)`)

func (l *Logs) send(ctx context.Context, list []ship.Decision, cut bool) (rejected uint64, err error) {
	l.made.records = l.made.records[:0]
	to := l.provider.Logger(scope)
	for _, d := range list {
		text, err := json.Marshal(d.Entry)
		if err != nil {
			return 0, err
		}
		var r log.Record
		r.SetTimestamp(d.Timestamp)
		r.SetEventName("hookc.decision")
		r.SetSeverity(log.SeverityInfo)
		r.SetBody(attribute.StringValue(string(text)))
		if cut {
			r.AddAttributes(attribute.String("hookc.cut", ship.CutNote))
		}
		action, _ := d.Result["action"].(string)
		for key, value := range map[string]string{"hookc.decision.id": d.ID, "hookc.event": d.Path, "hookc.action": action, "user.name": d.User, "session.id": d.Session, "error.message": d.Error} {
			if value != "" {
				r.AddAttributes(attribute.String(key, value))
			}
		}
		to.Emit(ctx, r)
	}
	err = l.exporter.Export(ctx, l.made.records)
	if err == nil {
		return 0, ctx.Err()
	}
	if part := partly.FindStringSubmatch(err.Error()); part != nil {
		return strconv.ParseUint(part[1], 10, 64)
	}
	return 0, err
}

// Refused is how many entries the collector rejected for good. It and Ship are called by
// one goroutine.
func (l *Logs) Refused() uint64 { return l.rejected }

// Close ends it.
func (l *Logs) Close() error {
	return errors.Join(l.provider.Shutdown(context.Background()), l.exporter.Shutdown(context.Background()))
}
