package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sort"

	"github.com/hookc/hookc/internal/impact"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/internal/spell"
)

// ruled is a rule of the policy that is here today, what fires it, and how often it
// decided in the record.
type ruled struct {
	Hook, Rule, Status string
	Place              string `json:"at"`
	Event              string `json:"-"`
	Witness            json.RawMessage
	Why                []string
	Decided            int
}

// rules are all rules, with what is known of them.
func (s *server) rules() ([]ruled, error) {
	var found struct{ Rules []ruled }
	out, err := s.run(s.ctx, "explain", "--witness", "--json")
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	for i := range found.Rules {
		var line bytes.Buffer
		if r := &found.Rules[i]; r.Witness != nil && json.Compact(&line, r.Witness) == nil {
			r.Event = line.String()
		}
	}
	return found.Rules, err
}

// stack is a bar of parts, or a column; the widths are of 100.
type stack struct {
	Name, Spoken string
	Parts        []piece
	Samples      []sampled
}

type piece struct {
	Class string
	X, W  int
}

type sampled struct{ Href, Text string }

// impact shows what hooks would have done to the recorded calls.
func (s *server) impact(_ *http.Request, query url.Values) page.Reply {
	data := struct {
		Policy, Since, Failed, Summary string
		Hooks                          []stack
		Days                           []stack
		Notes                          []string
	}{Policy: query.Get("policy"), Since: query.Get("since")}
	args := []string{"impact", "--format=json"}
	if data.Policy != "" {
		args = append(args, "--file="+data.Policy)
	}
	if data.Since != "" {
		args = append(args, "--since="+data.Since)
	}
	var r impact.Report
	out, err := s.run(s.ctx, args...)
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		data.Failed = err.Error()
		return s.show(http.StatusOK, "impact", "Impact", "/impact", data)
	}
	data.Summary, data.Notes = fmt.Sprintf("%d of %s would have gone otherwise", r.Changed, spell.Count(r.Calls, "recorded call")), r.Remarks()
	days, most := map[string]int{}, 1
	for _, h := range r.Hooks {
		most = max(most, h.Noise())
		for day, n := range h.Days {
			days[day] += n
		}
	}
	for _, h := range r.Hooks {
		b := stack{Name: h.Name, Spoken: fmt.Sprintf("%s, %s: %d blocked, %d asked, %d rewritten, %d failed; %s, %s; %d held back or rewritten anyway", h.Event, h.State, h.Blocked, h.Asked, h.Rewritten, h.Failed,
			spell.Count(h.Sessions, "session"), spell.Count(h.Agents, "agent"), h.Already)}
		at := 0
		for i, n := range []int{h.Blocked, h.Asked, h.Rewritten} {
			if n > 0 {
				w := max(1, n*100/most)
				b.Parts = append(b.Parts, piece{[]string{"blocked", "asked", "rewritten"}[i], at, w})
				at += w
			}
		}
		for _, c := range h.Samples {
			b.Samples = append(b.Samples, sampled{href("/decision", "id", c.ID), cut(c.Tool+" "+c.Call, 200)})
		}
		data.Hooks = append(data.Hooks, b)
	}
	highest := 1
	for day, n := range days {
		data.Days = append(data.Days, stack{Name: day, Spoken: fmt.Sprint(n)})
		highest = max(highest, n)
	}
	sort.Slice(data.Days, func(i, j int) bool { return data.Days[i].Name < data.Days[j].Name })
	for i := range data.Days {
		data.Days[i].Parts = []piece{{"blocked", 0, max(1, days[data.Days[i].Name]*100/highest)}}
	}
	return s.show(http.StatusOK, "impact", "Impact", "/impact", data)
}
