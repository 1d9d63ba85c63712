package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// step is one hook of a chain.
type step struct {
	Name, Href, Did, Note, Time, Width string
	Decides                            bool
}

// part is a list of texts under a title.
type part struct {
	Name  string
	Texts []string
}

// decision shows one: what each hook did, which decided, and what was changed.
func (s *server) decision(_ *http.Request, query url.Values) page.Reply {
	e, err := decisionlog.Find(s.record.dir, query.Get("id"))
	if err != nil {
		return s.message(http.StatusNotFound, err.Error())
	}
	raw, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return s.message(http.StatusInternalServerError, err.Error())
	}
	tool, action := text(e.Input["tool_name"]), text(e.Result["action"])
	if e.Error != "" {
		action = "failed"
	}
	data := struct {
		Action, Class, By, At, Event string
		Reasons                      []string
		Facts                        []fact
		Chain                        []step
		Changes                      []change
		Parts                        []part
		JSON, Picture                string
		Explained, Revision          string
	}{Action: action, Class: class(action), By: text(e.Result["by"]), At: text(e.Result["at"]), Event: e.Path, Reasons: texts(e.Result["reasons"]),
		Chain: chain(e), Changes: changes("", e.Input, e.Result["patch"], nil), JSON: string(raw), Picture: href("/chain.svg", "event", e.Path, "tool", tool)}
	data.Explained, data.Revision = s.explained(e)
	if e.Result["patch"] == nil {
		data.Changes = nil
	}
	for _, f := range []fact{{Name: "when", Value: stamp(e.Timestamp)}, {Name: "agent", Value: e.Labels["agent"]}, {Name: "session", Value: e.Session},
		{Name: "event", Value: e.Path}, {Name: "tool", Value: tool}, {Name: "call", Value: subject(e)}, {Name: "verdict", Value: text(e.Result["verdict"])},
		{Name: "took", Value: micros(e.Micros)}, {Name: "policy", Value: text(e.Result["policy"])}, {Name: "revision", Value: e.Revision},
		{Name: "degraded", Value: text(e.Result["degraded"])}, {Name: "granted", Value: shown(anyOf(e.Grant))}, {Name: "error", Value: e.Error}, {Name: "id", Value: e.ID}} {
		if f.Value != "" {
			data.Facts = append(data.Facts, f)
		}
	}
	for _, of := range [][2]string{{"would", "Would have said"}, {"failed", "Failed"}, {"feedback", "Feedback"}, {"additional_context", "Context"}, {"system_messages", "Messages"}, {"warnings", "Warnings"}} {
		if all := texts(e.Result[of[0]]); len(all) > 0 {
			data.Parts = append(data.Parts, part{of[1], all})
		}
	}
	return s.show(http.StatusOK, "decision", strings.TrimSpace(e.Path+" "+tool), "", data)
}

// explained is what hookc explain says of the event by the rules that are here today, and
// how the policy of today stands to the one that decided.
func (s *server) explained(e *decisionlog.Entry) (text, revision string) {
	in, err := policy.EncodeJSON(e.Input)
	var out []byte
	var today struct{ Policy string }
	if err == nil {
		if out, err = s.runOn(s.ctx, in, "explain", "--rules", "--json", "--input=-", e.Path); err == nil {
			err = json.Unmarshal(out, &today)
		}
	}
	if err == nil {
		out, err = s.runOn(s.ctx, in, "explain", "--rules", "--input=-", e.Path)
	}
	switch was, _ := e.Result["policy"].(string); {
	case err != nil:
		return "", "It cannot be explained by the policy that is here today: " + err.Error()
	case was == "":
		revision = "The record does not say by which policy this was decided."
	case was == today.Policy:
		revision = "The policy is the one that decided this."
	default:
		revision = "The policy has changed since: this was decided by " + was + ", and the one that is here today is " + today.Policy + "."
	}
	return string(out), revision
}

// anyOf is a map as a value: nil when it is empty.
//
//go:noinline
func anyOf(m map[string]any) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// chain is what each hook did, in order.
func chain(e *decisionlog.Entry) (out []step) {
	all, slowest, speaker := list(e.Result["hooks"]), int64(1), hookOf(text(e.Result["by"]))
	failures := map[string]string{}
	for _, v := range list(e.Result["failed"]) {
		f := member(v)
		failures[text(f["hook"])] = fmt.Sprintf("%s: %s; on_error %s", text(f["kind"]), text(f["error"]), text(f["on_error"]))
	}
	for _, v := range all {
		slowest = max(slowest, number(member(v)["us"]))
	}
	for _, v := range all {
		h := member(v)
		name, status, us := text(h["name"]), text(h["status"]), number(h["us"])
		did := status
		if said := strings.TrimSpace(strings.TrimPrefix(text(h["verdict"])+" "+text(h["control"]), "none")); status == "ran" && said != "" {
			did = "ran: " + said
		}
		if h["recheck"] == true {
			did += ", again"
		}
		st := step{Name: name, Href: href("/", "hook", name), Did: strings.ReplaceAll(did, "_", " "), Decides: name == speaker && (status == "ran" || status == "failed")}
		if us > 0 {
			st.Time, st.Width = micros(us), fmt.Sprint(max(1, us*100/slowest))
		}
		if status == "failed" {
			st.Note = failures[name]
		}
		out = append(out, st)
	}
	return out
}

// picture is the chain of an event as hookc compile draws it.
func (s *server) picture(r *http.Request, query url.Values) page.Reply {
	event, known := policy.ParseEvent(query.Get("event"))
	if !known {
		return s.message(http.StatusNotFound, "There is no such event.")
	}
	args := []string{"compile", "--explain=svg", "--event=" + string(event)}
	if tool := query.Get("tool"); tool != "" {
		args = append(args, "--tool="+tool)
	}
	svg, err := s.run(s.ctx, args...)
	if err != nil {
		return plain(http.StatusNotFound, "it cannot be drawn: "+err.Error())
	}
	// The picture has a style of its own; nothing else in it counts.
	return page.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"image/svg+xml"},
		"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; sandbox"}}, Text: string(svg)}
}

// agents shows who asks, and what doctor says of one.
func (s *server) agents(_ *http.Request, query url.Values) page.Reply {
	type seen struct {
		Name, Decisions, Doctor string
		Count                   int
	}
	data := struct {
		Agents   []seen
		Examined string
		Checks   []struct{ Check, Status, Text, Hint string }
	}{}
	s.record.mu.Lock()
	s.record.refresh()
	for _, a := range agent.All() {
		name := a.ID
		if strings.Contains(name, "@") { // as an older one of the same agent speaks
			continue
		}
		data.Agents = append(data.Agents, seen{name, href("/", "agent", name), href("/agents", "examine", name), s.record.choices["agent"][name]})
	}
	s.record.mu.Unlock()
	sort.SliceStable(data.Agents, func(i, j int) bool { return data.Agents[i].Count > data.Agents[j].Count })
	for _, a := range data.Agents {
		name := a.Name
		if name != query.Get("examine") {
			continue
		}
		out, err := s.run(s.ctx, "doctor", name, "--json")
		if err == nil {
			err = json.Unmarshal(out, &data)
		}
		if err != nil {
			return s.message(http.StatusInternalServerError, "hookc doctor "+name+": "+err.Error())
		}
		data.Examined = name
	}
	return s.show(http.StatusOK, "agents", "Agents", "/agents", data)
}

// asked is an approval as the page has it.
type asked struct {
	ID, Tool, Input, State, By, Time, Consequence string
	Facts                                         []fact
}

// approvals shows what waits for an answer, and what was answered.
func (s *server) approvals(_ *http.Request, _ url.Values) page.Reply {
	data := struct {
		User, Form    string
		Waiting, Done []asked
	}{User: s.user, Form: s.form}
	all, _ := s.store.List() // what cannot be read is said on every page
	for _, a := range all {
		q := asked{ID: a.ID, Tool: a.Call.Tool, Input: shown(a.Call.Input), State: string(a.State), By: strings.Join(a.By(), ", "), Time: stamp(a.Created)}
		if a.State != approval.Pending {
			q.Input = cut(q.Input, 200)
			data.Done = append(data.Done, q)
			continue
		}
		q.Consequence = "Once granted, " + lists.First(a.Agent, "the agent") + " may make this call until " + stamp(a.Until) + " at the latest."
		for _, f := range []fact{{Name: "asked by", Value: strings.Join(a.Rules, ", ")}, {Name: "because", Value: strings.Join(a.Reasons, "\n")}, {Name: "agent", Value: a.Agent},
			{Name: "session", Value: a.Session}, {Name: "in", Value: a.Call.Cwd}, {Name: "event", Value: string(a.Call.Event)}, {Name: "asked", Value: stamp(a.Created)},
			{Name: "open until", Value: stamp(a.Until)}, {Name: "answered by", Value: q.By}} {
			if f.Value != "" {
				q.Facts = append(q.Facts, f)
			}
		}
		data.Waiting = append(data.Waiting, q)
	}
	return s.show(http.StatusOK, "approvals", "Approvals", "/approvals", data)
}

// decide takes an answer.
func (s *server) decide(form url.Values) page.Reply {
	var scope approval.Scope
	switch form.Get("scope") {
	case "session":
		scope.Session = true
	case "hour":
		scope.For = time.Hour
	case "", "once":
	default:
		return s.message(http.StatusBadRequest, "An answer holds once, for this session or for one hour.")
	}
	_, err := s.store.Answer(s.ctx, form.Get("id"), s.user, approval.Verdict(form.Get("verdict")), scope, strings.TrimSpace(form.Get("reason")))
	var late *approval.AnsweredError
	switch {
	case errors.As(err, &late):
		return s.message(http.StatusConflict, err.Error())
	case err != nil:
		return s.message(http.StatusBadRequest, err.Error())
	}
	return page.Reply{Status: http.StatusSeeOther, Header: http.Header{"Location": {"/approvals"}}}
}
