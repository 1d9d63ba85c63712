package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/hookc/hookc/policy"
)

// counters are what /metrics shows.
type counters struct {
	actions         [len(actions) + 1]atomic.Int64
	refused, failed atomic.Int64
	times           [len(bounds) + 1]atomic.Int64
	nanos           atomic.Int64
}

var actions = [...]policy.Action{policy.Proceed, policy.Block, policy.AskUser, policy.Abort, policy.RetryTurn, policy.KeepWorking, policy.Hide, policy.DeferCall, policy.EndTurn, policy.Cancelled}

// bounds are the histogram's, in seconds.
var bounds = [...]float64{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.1, 1, 5}

func (c *counters) decided(d *policy.Decision) {
	for i, a := range actions {
		if d.Action == a {
			c.actions[i].Add(1)
			return
		}
	}
	c.actions[len(actions)].Add(1)
}

func (c *counters) took(d time.Duration) {
	i := 0
	for i < len(bounds) && d.Seconds() > bounds[i] {
		i++
	}
	c.times[i].Add(1)
	c.nanos.Add(int64(d))
}

// metrics are the counters in Prometheus' text format. Nothing a client says is in
// them: labels and tools are without bound.
func (s *Server) metrics(c *fasthttp.RequestCtx) {
	var b strings.Builder
	n := &s.counts
	b.WriteString("# HELP hookcd_decisions_total Events decided, by action.\n# TYPE hookcd_decisions_total counter\n")
	for i, a := range actions {
		fmt.Fprintf(&b, "hookcd_decisions_total{action=%q} %d\n", a, n.actions[i].Load())
	}
	fmt.Fprintf(&b, "# HELP hookcd_refused_total Requests the server itself refused.\n# TYPE hookcd_refused_total counter\nhookcd_refused_total %d\n", n.refused.Load())
	fmt.Fprintf(&b, "# HELP hookcd_failed_total Events that could not be decided, and were refused in the agent's words or in a batch.\n# TYPE hookcd_failed_total counter\nhookcd_failed_total %d\n", n.failed.Load())
	fmt.Fprintf(&b, "# HELP hookcd_active Events being decided.\n# TYPE hookcd_active gauge\nhookcd_active %d\n", s.active.Load())
	fmt.Fprintf(&b, "# HELP hookcd_stale_policies Policies whose last edit was refused; the ones before are in force.\n# TYPE hookcd_stale_policies gauge\nhookcd_stale_policies %d\n", s.tenants.stale.Load())
	b.WriteString("# HELP hookcd_answer_seconds How long answers took once the event was there.\n# TYPE hookcd_answer_seconds histogram\n")
	sum := int64(0)
	for i := range n.times {
		sum += n.times[i].Load()
		bound := "+Inf"
		if i < len(bounds) {
			bound = fmt.Sprint(bounds[i])
		}
		fmt.Fprintf(&b, "hookcd_answer_seconds_bucket{le=%q} %d\n", bound, sum)
	}
	fmt.Fprintf(&b, "hookcd_answer_seconds_sum %v\nhookcd_answer_seconds_count %d\n", time.Duration(n.nanos.Load()).Seconds(), sum)
	if s.exposition != nil {
		b.WriteString(s.exposition())
	}
	text(c, http.StatusOK, b.String())
}
