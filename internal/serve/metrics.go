//go:build unix

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/internal/approval"
	_ "github.com/hookc/hookc/internal/approval/judge" // for approval.source
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/policy/state"
)

// histogram counts how long answers took, in the buckets of bounds.
type histogram struct {
	buckets [len(histogramBounds) + 1]atomic.Int64
	nanos   atomic.Int64
}

// histogramBounds are upper bounds in seconds.
var histogramBounds = [...]float64{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60}

func (h *histogram) add(d time.Duration) {
	i := 0
	for i < len(histogramBounds) && d.Seconds() > histogramBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.nanos.Add(int64(d))
}

// exposition is the counters in Prometheus' text format. The names of hooks
// and projects are not in it: they are a user's own, and without bound.
func (v *server) exposition() string {
	var b strings.Builder
	metric := func(name, kind, help string, value any) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, help, name, kind, name, value)
	}
	fmt.Fprintf(&b, "# HELP hookc_requests_total Events asked about, by what became of them.\n# TYPE hookc_requests_total counter\n")
	for _, row := range []struct {
		outcome string
		n       *atomic.Int64
	}{{"answered", &v.answered}, {"refused", &v.refused}, {"broken", &v.broken}} {
		fmt.Fprintf(&b, "hookc_requests_total{outcome=%q} %d\n", row.outcome, row.n.Load())
	}
	if v.eyes != nil {
		metric("hookc_native_checked_total", "counter", "Evaluations of native Rego that OPA was asked too.", v.eyes.Checked())
		left, over := 0, 0
		for _, l := range v.eyes.Leaving() {
			left += int(l.Left)
			if l.Over {
				over++
			}
		}
		metric("hookc_native_left_total", "counter", "Events that the native code of a rule left to OPA.", left)
		metric("hookc_native_left_rules", "gauge", "Rules that OPA evaluates since their native code left too many events.", over)
		metric("hookc_native_rejected", "gauge", "Rules whose native code was wrong, and that OPA evaluates.", len(v.eyes.Rejected()))
	}
	fmt.Fprintf(&b, "# HELP hookc_answer_seconds How long answers took.\n# TYPE hookc_answer_seconds histogram\n")
	sum := int64(0)
	for i, bound := range histogramBounds {
		sum += v.took.buckets[i].Load()
		fmt.Fprintf(&b, "hookc_answer_seconds_bucket{le=\"%v\"} %d\n", bound, sum)
	}
	sum += v.took.buckets[len(histogramBounds)].Load()
	fmt.Fprintf(&b, "hookc_answer_seconds_bucket{le=\"+Inf\"} %d\nhookc_answer_seconds_sum %v\nhookc_answer_seconds_count %d\n",
		sum, time.Duration(v.took.nanos.Load()).Seconds(), sum)
	plans, broken, warnings := v.plans.list(), 0, 0
	for _, p := range plans {
		warnings += p.Warnings
		if p.Error != "" {
			broken++
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	metric("hookc_requests_active", "gauge", "Events being decided.", v.active.Load())
	metric("hookc_connections", "gauge", "Connections open.", v.open.Load())
	metric("hookc_plans", "gauge", "Plans in force.", len(plans))
	metric("hookc_plans_broken", "gauge", "Plans whose policy no longer compiles.", broken)
	metric("hookc_plans_warnings", "gauge", "Warnings that answers by the plans in force hold, such as entries of settings that are passed over.", warnings)
	metric("hookc_builds_total", "counter", "Policies compiled.", v.plans.builds.Load())
	metric("hookc_build_failures_total", "counter", "Policies that did not compile.", v.plans.failed.Load())
	metric("hookc_log_lost_total", "counter", "Decisions that found no room and are not in the decision log.", v.log.Lost())
	metric("hookc_memory_bytes", "gauge", "Memory obtained from the system.", mem.Sys)
	metric("hookc_up_seconds", "gauge", "How long serve has been running.", int64(time.Since(v.start)/time.Second))
	return b.String()
}

// serveMetrics answers /metrics and /healthz on a loopback address; the
// function it returns ends that.
func (v *server) serveMetrics(address string) (stop func(), err error) {
	stop, err = page.Listener{Limit: readTime, Answer: v.page, Post: v.approvals}.Start(address)
	switch {
	case errors.Is(err, page.ErrAddress):
		return nil, exit.Cannot("--metrics %v", err)
	case err != nil:
		return nil, exit.Cannot("--metrics: %v", err)
	}
	return stop, nil
}

// approvals takes a signed answer to what an agent could not ask.
func (v *server) approvals(r *http.Request) page.Reply {
	if r.URL.Path != "/approvals" {
		return page.Reply{Status: http.StatusMethodNotAllowed, Header: http.Header{"Allow": {"GET, HEAD"}}, Text: "Method Not Allowed\n"}
	}
	home, err := state.Home()
	if err != nil {
		return page.Reply{Status: http.StatusInternalServerError, Text: "there is no place for approvals\n"}
	}
	status, text := approval.Open(home).Receive(r)
	return page.Reply{Status: status, Text: text, Header: http.Header{"Content-Type": {"application/json"}}}
}

// page is what is at a path of --metrics.
func (v *server) page(path string) (int, string) {
	switch {
	case path == "/metrics":
		return http.StatusOK, v.exposition()
	case path != "/healthz":
		return http.StatusNotFound, "404 page not found\n"
	case v.draining.Load():
		return http.StatusServiceUnavailable, "ending\n"
	}
	return http.StatusOK, "ok\n"
}
