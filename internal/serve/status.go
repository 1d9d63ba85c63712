//go:build unix

package serve

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/rego"
)

// serveStatus is what `serve status --json` prints.
type serveStatus struct {
	Pid    int    `json:"pid"`
	Socket string `json:"socket"`
	Build  string `json:"build"`
	// Uptime and Idle are in whole seconds.
	Uptime   int64         `json:"uptime_s"`
	Idle     int64         `json:"idle_s"`
	Draining bool          `json:"draining,omitempty"`
	Requests requestCounts `json:"requests"`
	// Unlogged is how many decisions are not in the decision log.
	Unlogged int64        `json:"unlogged,omitempty"`
	Plans    []planStatus `json:"plans"`
	// Doubted says which hooks OPA evaluates since their native code was wrong.
	Doubted []string `json:"doubted,omitempty"`
	// Left are the rules whose native code left events to OPA, since serve began or,
	// where OPA evaluates them, before.
	Left []rego.Leaving `json:"left,omitempty"`
}

// requestCounts are the requests to decide so far. Answered ones were decided,
// Refused ones handed back; Broken ones were no requests, or were gone before
// their answer.
type requestCounts struct {
	Answered int64 `json:"answered"`
	Refused  int64 `json:"refused"`
	Broken   int64 `json:"broken"`
	Active   int64 `json:"active"`
}

// planStatus is one plan in force. Error says why its policy as it now stands
// does not compile; the plan is then that of the last one that did.
type planStatus struct {
	Project string    `json:"project"`
	Event   string    `json:"event"`
	Args    []string  `json:"args,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Hooks   int       `json:"hooks"`
	Since   time.Time `json:"since"`
	Events  int64     `json:"events"`
	// Warnings is how many every answer holds: what of the sources does not run.
	Warnings int `json:"warnings,omitempty"`
	// Fusing is true while rules that changed are made one evaluation with the
	// others, in the background.
	Fusing bool   `json:"fusing,omitempty"`
	Error  string `json:"error,omitempty"`
}

func (s *serveStatus) write(out io.Writer) {
	state := "serving"
	if s.Draining {
		state = "ending"
	}
	fmt.Fprintf(out, "%s on %s (process %d, up %s)\n", state, s.Socket, s.Pid, time.Duration(s.Uptime)*time.Second)
	fmt.Fprintf(out, "%d answered, %d handed back, %d broken off, %d under way\n", s.Requests.Answered, s.Requests.Refused, s.Requests.Broken, s.Requests.Active)
	if s.Unlogged > 0 {
		fmt.Fprintf(out, "%d are not in the decision log: they found no room\n", s.Unlogged)
	}
	for _, line := range s.Doubted {
		fmt.Fprintln(out, line)
	}
	for _, l := range s.Left {
		if !l.Over { // or it is among the doubted
			fmt.Fprintln(out, l)
		}
	}
	if len(s.Plans) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "EVENT\tHOOKS\tEVENTS\tSINCE\tPROJECT")
	for _, p := range s.Plans {
		since := p.Since.Format(time.TimeOnly)
		if p.Fusing {
			since += ", fusing"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", p.Event, p.Hooks, p.Events, since, p.Project)
	}
	w.Flush()
	for _, p := range s.Plans {
		if p.Error != "" {
			fmt.Fprintf(out, "\n%s (%s) is broken; the plan of %s is in force:\n%s\n", p.Project, p.Event, p.Since.Format(time.TimeOnly), p.Error)
		}
	}
}

// verdict is the exit code of status.
func (s *serveStatus) verdict() error {
	for _, p := range s.Plans {
		if p.Error != "" {
			return exit.Error{Code: exit.Findings, Text: ""}
		}
	}
	return nil
}
