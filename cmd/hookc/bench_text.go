package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// text is the report for people.
func (r *benchReport) text(out io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %s; medians of the rounds", count(r.Hooks, "hook"), count(len(r.Events), "event"))
	if r.Parallel > 1 {
		fmt.Fprintf(&s, ", %d at a time", r.Parallel)
	}
	fmt.Fprintf(&s, "\n%s/%s, %d cores, %s; a look at the clock takes %s\n", r.OS, r.Arch, r.Procs, r.Go, nanos(r.Clock))
	for _, note := range r.Notes {
		fmt.Fprintf(&s, "%s\n", note)
	}
	for i := range r.Events {
		r.Events[i].text(&s)
	}
	_, err := io.WriteString(out, s.String())
	return written("figures", err)
}

func (e *eventBench) text(s *strings.Builder) {
	fmt.Fprintf(s, "\n%s  %s, %s → %s", e.Event, e.From, count(e.Bytes, "byte"), e.Action)
	if e.By != "" {
		fmt.Fprintf(s, " by %s", e.By)
	}
	if e.Dialect != "" {
		fmt.Fprintf(s, "  (%s)", e.Dialect)
	}
	s.WriteByte('\n')
	for _, note := range e.Notes {
		fmt.Fprintf(s, "  %s\n", note)
	}
	w := tabwriter.NewWriter(s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  WAY\tP50\tP99\tMAX\tPER SECOND\tRUNS\tB/OP\tALLOCS/OP")
	for _, m := range e.Ways {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", m.How, nanos(m.P50), nanos(m.P99), nanos(m.Max), digits(m.PerSecond), m.Runs,
			number(m.Bytes), number(m.Allocs))
	}
	w.Flush()
	e.table(s)
}

// table is that of the hooks; those a filter leaves out are counted.
func (e *eventBench) table(s *strings.Builder) {
	filtered := 0
	w := tabwriter.NewWriter(s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  HOOK\tKIND\tWAS\tIN CHAIN P50\tP99\tSHARE\tALONE P50\tP99\tB/OP\tALLOCS/OP")
	for i := range e.Hooks {
		if e.Hooks[i].Status == policy.StatusFiltered {
			filtered++
			continue
		}
		e.Hooks[i].row(w)
	}
	if len(e.Hooks) > filtered {
		w.Flush()
	}
	if filtered > 0 {
		fmt.Fprintf(s, "  %s filtered\n", count(filtered, "hook"))
	}
}

func (h *hookReport) row(w io.Writer) {
	kind, was, share := string(h.Kind), string(h.Status), "–"
	if h.Fused {
		kind += ", fused"
	}
	if h.LeftOut != "" {
		was = "left out"
	}
	if h.Chain != nil {
		share = fmt.Sprintf("%.0f %%", 100*h.Share)
	}
	chain, alone := lists.First(h.Chain, &measured{}), lists.First(h.Alone, &measured{})
	fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Hook, kind, was, nanos(chain.P50), nanos(chain.P99), share,
		nanos(alone.P50), nanos(alone.P99), number(alone.Bytes), number(alone.Allocs))
}

// nanos is a time for people; nothing for none.
func nanos(n float64) string {
	if n == 0 {
		return "–"
	}
	if n < 100 {
		return fmt.Sprintf("%.1fns", n)
	}
	return round(time.Duration(n)).String()
}

// digits is a number with three digits or so.
func digits(n float64) string {
	switch {
	case n < 10:
		return fmt.Sprintf("%.2f", n)
	case n < 100:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

//go:noinline
func number(n *int64) string {
	if n == nil {
		return "–"
	}
	return fmt.Sprint(*n)
}
