package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/internal/spell"
)

// perPage is how many decisions a page lists.
const perPage = 50

// pages answer what is at a path.
var pages map[string]func(s *server, r *http.Request, query url.Values) page.Reply

func init() { // they show links to each other
	pages = map[string]func(s *server, r *http.Request, query url.Values) page.Reply{
		"/": (*server).decisions, "/decision": (*server).decision, "/hooks": (*server).hooks, "/approvals": (*server).approvals,
		"/agents": (*server).agents, "/impact": (*server).impact, "/chain.svg": (*server).picture,
	}
}

// view is what every page shows.
type view struct {
	Title    string
	Nav      []link
	Troubles []string
	Data     any
}

type link struct {
	Name, Href, Count string
	Here              bool
}

// href is an address of the page with values.
//
//go:noinline
func href(path string, pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// show renders a view of page.html.
func (s *server) show(status int, name, title, path string, data any) page.Reply {
	v := view{Title: title, Data: data}
	waiting := ""
	if all, err := s.store.List(); err == nil {
		if n := pending(all); n > 0 {
			waiting = strconv.Itoa(n)
		}
	} else {
		v.Troubles = append(v.Troubles, err.Error())
	}
	for _, l := range []link{{Name: "Decisions", Href: "/"}, {Name: "Hooks", Href: "/hooks"}, {Name: "Impact", Href: "/impact"}, {Name: "Approvals", Href: "/approvals", Count: waiting}, {Name: "Agents", Href: "/agents"}} {
		l.Here = l.Href == path
		v.Nav = append(v.Nav, l)
	}
	s.record.mu.Lock()
	for text := range s.record.unread {
		v.Troubles = append(v.Troubles, "not read: "+text)
	}
	s.record.mu.Unlock()
	sort.Strings(v.Troubles)
	var b strings.Builder
	if err := views().ExecuteTemplate(&b, name, v); err != nil {
		return plain(http.StatusInternalServerError, "hookc: internal error: "+err.Error())
	}
	return page.Reply{Status: status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Text: b.String()}
}

func (s *server) message(status int, text string) page.Reply {
	return s.show(status, "message", http.StatusText(status), "", text)
}

func pending(all []*approval.Approval) (n int) {
	for _, a := range all {
		if a.State == approval.Pending {
			n++
		}
	}
	return n
}

// listed is a row as the page has it.
type listed struct {
	row
	Href, Time, Class string
}

type option struct {
	Value  string
	Count  int
	Chosen bool
}

type choice struct {
	Name    string
	Options []option
}

// choices are the filters, each with the values there are, the most frequent first.
func (r *record) choose(f *filter) (out []choice) {
	chosen := f.values()
	for _, name := range []string{"agent", "event", "tool", "action", "hook"} {
		c := choice{Name: name}
		for value, n := range r.choices[name] {
			c.Options = append(c.Options, option{value, n, chosen.Get(name) == value})
		}
		sort.Slice(c.Options, func(i, j int) bool {
			a, b := c.Options[i], c.Options[j]
			if a.Chosen != b.Chosen {
				return a.Chosen // it is offered, however seldom it is
			}
			return a.Count > b.Count || a.Count == b.Count && a.Value < b.Value
		})
		c.Options = c.Options[:min(len(c.Options), offered)]
		out = append(out, c)
	}
	return out
}

// decisions lists them.
func (s *server) decisions(r *http.Request, query url.Values) page.Reply {
	f, before := filterOf(query), query.Get("before")
	rec := s.record
	rec.mu.Lock()
	rec.refresh()
	tag := fmt.Sprintf(`"%d"`, rec.version)
	if r.Header.Get("If-None-Match") == tag {
		rec.mu.Unlock()
		return page.Reply{Status: http.StatusNotModified, Header: http.Header{"Etag": {tag}}}
	}
	rows, more := rec.page(&f, before, perPage)
	data := struct {
		Filter                 filter
		Selects                []choice
		Rows                   []listed
		Summary, Newest, Older string
		Live                   bool
	}{Filter: f, Selects: rec.choose(&f), Live: before == "", Summary: spell.Count(len(rec.rows), "decision") + " in the log"}
	if rec.full {
		data.Summary = fmt.Sprintf("the newest %d decisions of the log", len(rec.rows))
	}
	if len(rec.rows) == 0 {
		data.Summary = "There is nothing in the log " + rec.dir + ": `hookc log enable` begins one."
	}
	rec.mu.Unlock()
	for _, w := range rows {
		data.Rows = append(data.Rows, listed{w, href("/decision", "id", w.ID), stamp(w.At), class(w.Action)})
	}
	address := func(before string) string {
		v := f.values()
		if before != "" {
			v.Set("before", before)
		}
		if len(v) == 0 {
			return "/"
		}
		return "/?" + v.Encode()
	}
	if before != "" {
		data.Newest = address("")
	}
	if more {
		data.Older = address(rows[len(rows)-1].ID)
	}
	a := s.show(http.StatusOK, "decisions", "Decisions", "/", data)
	a.Header["Etag"] = []string{tag}
	return a
}

// stamp is a time as a person here reads it.
//
//go:noinline
func stamp(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05") }

// class is the colour of an action: a word of the style, whatever the log holds.
//
//go:noinline
func class(action string) string {
	for _, known := range strings.Fields("proceed block abort hide failed end_turn ask defer retry keep_working") {
		if action == known {
			return known
		}
	}
	return "other"
}

// fact is a name with a value, which may lead somewhere.
type fact struct{ Name, Value, Href string }

type bar struct{ X, Y, H int }

// hooks shows how each did.
func (s *server) hooks(_ *http.Request, query url.Values) page.Reply {
	type card struct {
		Name, Href, Spoken string
		Facts              []fact
		Bars               []bar
	}
	data := struct {
		Summary, Failed string
		Hooks           []card
		Rules           []ruled
	}{}
	rec := s.record
	if query.Get("rules") != "" {
		var err error
		if data.Rules, err = s.rules(); err != nil {
			data.Failed = err.Error()
		}
	}
	rec.mu.Lock()
	rec.refresh()
	all := make([]*hook, 0, len(rec.hooks))
	for _, h := range rec.hooks {
		all = append(all, h)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return a.Decided > b.Decided || a.Decided == b.Decided && (a.Fired > b.Fired || a.Fired == b.Fired && a.Name < b.Name)
	})
	for _, h := range all[:min(len(all), offered)] {
		c := card{Name: h.Name, Href: href("/", "hook", h.Name), Facts: h.facts()}
		c.Bars, c.Spoken = h.histogram()
		data.Hooks = append(data.Hooks, c)
	}
	for i := range data.Rules {
		data.Rules[i].Decided = rec.places[data.Rules[i].Place]
	}
	data.Summary = spell.Count(len(all), "hook") + " in " + spell.Count(len(rec.rows), "decision")
	if len(all) > offered {
		data.Summary += fmt.Sprintf(", the %d that decided most", offered)
	}
	rec.mu.Unlock()
	return s.show(http.StatusOK, "hooks", "Hooks", "/hooks", data)
}

func (h *hook) facts() []fact {
	out := []fact{{Name: "ran", Value: strconv.Itoa(h.Fired)}, {Name: "not asked", Value: strconv.Itoa(h.Filtered)},
		{Name: "decided", Value: strconv.Itoa(h.Decided), Href: href("/", "hook", h.Name)}}
	for _, words := range []struct {
		what string
		of   map[string]int
	}{{"said ", h.Said}, {"would have said ", h.Would}} {
		for _, name := range lists.Keys(words.of) {
			out = append(out, fact{Name: words.what + name, Value: strconv.Itoa(words.of[name])})
		}
	}
	if h.LastID != "" {
		out = append(out, fact{"last ran", stamp(h.Last), href("/decision", "id", h.LastID)})
	}
	if n := h.Fired + h.Failed; n > 0 {
		out = append(out, fact{Name: "on average", Value: micros(h.Micros / int64(n))})
	}
	if h.Failed > 0 || h.FailureID != "" {
		out = append(out, fact{Name: "failed", Value: strconv.Itoa(h.Failed)})
	}
	if h.FailureID != "" {
		out = append(out, fact{"last failure", h.Failure, href("/decision", "id", h.FailureID)})
	}
	return out
}

// micros is a time in words.
//
//go:noinline
func micros(us int64) string { return (time.Duration(us) * time.Microsecond).String() }

// histogram are the bars of how long a hook took, and the same in words.
func (h *hook) histogram() (bars []bar, spoken string) {
	highest := 0
	for _, n := range h.Times {
		highest = max(highest, n)
	}
	if highest == 0 {
		return nil, ""
	}
	var words []string
	for i, n := range h.Times {
		if n == 0 {
			continue
		}
		tall := max(1, n*48/highest)
		bars = append(bars, bar{i*20 + 1, 50 - tall, tall})
		within := "up to " + micros(1<<(2*i))
		if i == len(h.Times)-1 {
			within = "longer"
		}
		words = append(words, fmt.Sprintf("%d %s", n, within))
	}
	return bars, strings.Join(words, ", ")
}
