package ship

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/server"

	"github.com/hookc/hookc/internal/decisionlog"
)

// OPA ships by OPA's own plugin for decision logs, as decision_logs of the configuration
// says. Its buffer in memory holds one batch; the record is the buffer in its place.
type OPA struct {
	manager *plugins.Manager

	mu      sync.Mutex
	raw     string
	plugin  *logs.Plugin
	invalid error
	counts  metrics.Metrics
	// held is the first decision of what is in the plugin's buffer.
	held *Decision
	// refused counts what a mask that failed kept in the machine.
	refused *atomic.Int64
}

// NewOPA ships to the service that the manager's configuration names. The manager's
// logger must be one that Counting made, with refused.
func NewOPA(m *plugins.Manager, refused *atomic.Int64) *OPA {
	return &OPA{manager: m, refused: refused}
}

// current is the plugin as the configuration has it now, nil where it names none.
func (o *OPA) current() (*logs.Plugin, error) {
	raw := o.manager.GetConfig().DecisionLogs
	if string(raw) == o.raw {
		return o.plugin, o.invalid
	}
	o.raw, o.plugin, o.held = string(raw), nil, nil
	c, err := parse(raw, o.manager.Services())
	if o.invalid = err; c == nil || err != nil {
		return nil, err
	}
	o.counts = metrics.New()
	o.plugin = logs.New(c, o.manager).WithMetrics(o.counts)
	o.manager.UpdatePluginStatus(logs.Name, &plugins.Status{State: plugins.StateOK})
	return o.plugin, nil
}

// parse reads decision_logs. It uploads when it is told to, and drops nothing for want
// of room: what says when it would is left out.
func parse(raw []byte, services []string) (*logs.Config, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var said map[string]any
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, err
	}
	reporting, _ := said["reporting"].(map[string]any)
	if reporting == nil {
		reporting = map[string]any{}
	}
	for _, key := range []string{"buffer_type", "buffer_size_limit_bytes", "buffer_size_limit_events", "max_decisions_per_second"} {
		delete(reporting, key)
	}
	reporting["trigger"] = plugins.TriggerManual
	said["reporting"] = reporting
	text, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	trigger := plugins.TriggerManual
	return logs.NewConfigBuilder().WithBytes(text).WithServices(services).WithTriggerMode(&trigger).Parse()
}

// Delay is how long the configuration says to wait between two uploads.
func (o *OPA) Delay() (least, most time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, err := o.current()
	if p == nil && err == nil {
		return 0, 0
	}
	if err != nil {
		return time.Second, time.Minute // Ship says what is wrong
	}
	r := p.Config().Reporting
	return time.Duration(*r.MinDelaySeconds), max(time.Duration(*r.MaxDelaySeconds), time.Millisecond)
}

// Ship uploads a list. It is nil when the service has all of it.
func (o *OPA) Ship(ctx context.Context, list []Decision) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, err := o.current()
	if err != nil {
		return fmt.Errorf("decision_logs: %w", err)
	}
	if p == nil {
		return errors.New("decision_logs is not in the configuration any more")
	}
	if o.held != &list[0] {
		o.held = &list[0]
		for i := range list {
			if err := p.Log(ctx, o.info(&list[i], *p.Config().Reporting.UploadSizeLimitBytes)); err != nil {
				return err
			}
		}
	}
	if err := p.Trigger(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // which Trigger may not say
		return err
	}
	if _, left := p.BufferSize(); left > 0 {
		return fmt.Errorf("%d bytes were not uploaded", left)
	}
	o.held = nil
	return nil
}

// Refused is how many entries stayed in the machine since a mask of OPA's failed, or
// since they were too large without their input too.
func (o *OPA) Refused() uint64 {
	n := uint64(o.refused.Load())
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts != nil {
		if too, ok := o.counts.Counter("decision_logs_encoding_failure").Value().(uint64); ok {
			n += too
		}
	}
	return n
}

// failure is why hookc could not decide.
type failure string

func (f failure) Error() string { return string(f) }

// info is an entry in the words of OPA's decision log; what these have no words for is
// in custom.hookc. One that is larger than an upload may be goes without what a call
// and its hooks said.
func (o *OPA) info(d *Decision, limit int64) *server.Info {
	own := map[string]any{"user": d.User, "writer": d.Writer, "seq": d.Seq, "chain": d.Chain, "us": d.Micros, "labels": d.Labels}
	out := &server.Info{DecisionID: d.ID, Revision: d.Revision, Timestamp: d.Timestamp, Path: d.Path, Custom: map[string]any{"hookc": own}}
	for name, v := range map[string]string{"session_id": d.Session, "mask_error": d.MaskError} {
		if v != "" {
			own[name] = v
		}
	}
	if d.Error != "" {
		out.Error = failure(d.Error)
	}
	input, result := any(d.Input), any(d.Result)
	if tooLarge(d.Entry, limit) {
		own["cut"] = CutNote
		small := d.Cut()
		input, result = small.Input, small.Result
	} else {
		for name, v := range map[string]map[string]any{"answers": d.Answers, "grant": d.Grant} {
			if v != nil {
				own[name] = v
			}
		}
		for name, v := range map[string][]string{"masked": d.Masked, "erased": d.Erased} {
			if v != nil {
				own[name] = v
			}
		}
	}
	out.Input = &input
	if d.Result != nil {
		out.Results = &result
	}
	return out
}

// frame is what an upload adds to an entry at most: labels of the machine and names.
const frame = 2048

// tooLarge reports whether an entry alone is more than an upload may be.
func tooLarge(e *decisionlog.Entry, limit int64) bool {
	text, err := json.Marshal(e)
	if err != nil || int64(len(text)) < limit-frame {
		return err != nil
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	return int64(packed.Len()) > limit-frame
}

// counting counts what OPA's plugin says it did not let out.
type counting struct {
	logging.Logger
	refused *atomic.Int64
}

// Counting is a logger that counts the entries whose mask failed: OPA's plugin only logs
// that.
func Counting(to logging.Logger, refused *atomic.Int64) logging.Logger { return counting{to, refused} }

func (c counting) Error(format string, args ...any) {
	if format == "Log event masking failed: %v." || format == "Log drop decision failed: %v." {
		c.refused.Add(1)
	}
	c.Logger.Error(format, args...)
}

func (c counting) WithFields(fields map[string]any) logging.Logger {
	return counting{c.Logger.WithFields(fields), c.refused}
}
