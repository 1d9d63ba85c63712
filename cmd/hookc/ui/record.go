package ui

import (
	"math/bits"
	"net/url"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/decisionlog"
)

const (
	// most is how many decisions are kept in memory, the newest.
	most = 200_000
	// offered is how many values a filter offers, and how many hooks a page has.
	offered = 200
	// late is how far the times of files and the clock may be apart.
	late = 10 * time.Second
)

// row is what a list shows of a decision.
type row struct {
	ID                                                        string
	At                                                        time.Time
	Agent, Event, Tool, Action, By, Session, Subject, Because string
	Micros                                                    int64
}

// hook is how one hook did.
type hook struct {
	Name                             string
	Fired, Filtered, Failed, Decided int
	// Said counts its verdicts, Would what it would have said without deciding.
	Said, Would map[string]int
	Last        time.Time
	LastID      string
	Failure     string
	FailureID   string
	Micros      int64
	// Times counts how often it took up to 4^i µs.
	Times [13]int
}

// record is what was read of a decision log.
type record struct {
	dir string

	mu    sync.Mutex
	rows  []row // as their ids ascend, which is the order of time
	known map[string]bool
	hooks map[string]*hook
	// choices are the values that rows have, by filter.
	choices map[string]map[string]int
	// last is when the log was read last, read how many entries of it were.
	last time.Time
	read int
	// heads are the last entries of writers that were read, by their chains; places
	// counts what decided, by where it is written.
	heads   map[int]string
	places  map[string]int
	full    bool
	unread  map[string]bool
	version int
}

func newRecord(dir string) *record {
	return &record{dir: dir, known: map[string]bool{}, hooks: map[string]*hook{}, unread: map[string]bool{}, heads: map[int]string{}, places: map[string]int{},
		choices: map[string]map[string]int{"agent": {}, "event": {}, "tool": {}, "action": {}, "hook": {}}}
}

// refresh reads what is new. What was read before is known by the last entry of each
// writer, as one may write an entry long after its time. The clock may have been set back
// since: how long ago that was is measured.
func (r *record) refresh() {
	now, before, heads := time.Now(), len(r.known), map[int]string{}
	news := decisionlog.Newest(r.dir, decisionlog.Range{})
	first := r.last.IsZero()
	if !first {
		news = decisionlog.Since(r.dir, now.Add(-now.Sub(r.last)-late), func(e *decisionlog.Entry) bool { return r.heads[e.Writer] == e.Chain })
	}
	r.last = now
	for e, err := range news {
		if err != nil {
			if len(r.unread) < 20 {
				r.unread[err.Error()] = true
			}
			continue
		}
		r.read++
		if heads[e.Writer] == "" {
			heads[e.Writer] = e.Chain
		}
		if e.Type != "decision" || r.known[e.ID] {
			continue
		}
		if first && len(r.rows) == most {
			r.full = true
			break
		}
		r.add(e)
	}
	for writer, chain := range heads {
		r.heads[writer] = chain
	}
	if len(r.known) == before {
		return
	}
	r.version++
	sort.Slice(r.rows, func(i, j int) bool { return r.rows[i].ID < r.rows[j].ID })
	if over := len(r.rows) - most; over > 0 {
		for i := range over {
			delete(r.known, r.rows[i].ID)
		}
		r.rows, r.full = append([]row(nil), r.rows[over:]...), true
	}
}

// add takes a decision in.
func (r *record) add(e *decisionlog.Entry) {
	w := row{ID: e.ID, At: e.Timestamp, Agent: e.Labels["agent"], Event: e.Path, Session: e.Session, Subject: cut(subject(e), 200),
		Action: "failed", Because: e.Error, Micros: e.Micros}
	w.Tool, _ = e.Input["tool_name"].(string)
	w.By, _ = e.Result["by"].(string)
	if e.Error == "" {
		w.Action, _ = e.Result["action"].(string)
		if reasons := texts(e.Result["reasons"]); len(reasons) > 0 {
			w.Because = reasons[0]
		}
	}
	for _, s := range []*string{&w.Agent, &w.Event, &w.Tool, &w.Action, &w.By, &w.Session, &w.Because} {
		*s = cut(*s, 200)
	}
	r.known[e.ID] = true
	r.rows = append(r.rows, w)
	speaker := hookOf(w.By)
	for name, value := range map[string]string{"agent": w.Agent, "event": w.Event, "tool": w.Tool, "action": w.Action, "hook": speaker} {
		if value != "" {
			r.choices[name][value]++
		}
	}
	for _, v := range list(e.Result["hooks"]) {
		r.hookDid(member(v), e)
	}
	for _, v := range list(e.Result["would"]) {
		w := member(v)
		r.hook(text(w["hook"])).Would[text(w["says"])]++
	}
	for _, v := range list(e.Result["failed"]) {
		f := member(v)
		if h := r.hook(text(f["hook"])); e.ID > h.FailureID {
			h.Failure, h.FailureID = text(f["kind"])+": "+text(f["error"]), e.ID
		}
	}
	if speaker != "" {
		r.hook(speaker).Decided++
		r.places[text(e.Result["at"])]++
	}
}

// hookOf is the hook of `hook#rule`.
//
//go:noinline
func hookOf(by string) string {
	if at := strings.LastIndexByte(by, '#'); at > 0 && strings.Trim(by[at+1:], "0123456789") == "" {
		return by[:at]
	}
	return by
}

//go:noinline
func (r *record) hook(name string) *hook {
	h := r.hooks[name]
	if h == nil {
		h = &hook{Name: name, Said: map[string]int{}, Would: map[string]int{}}
		r.hooks[name] = h
	}
	return h
}

// hookDid counts what a hook did at one decision.
func (r *record) hookDid(did map[string]any, e *decisionlog.Entry) {
	h := r.hook(text(did["name"]))
	switch text(did["status"]) {
	case "filtered", "not_started", "squashed", "disabled":
		h.Filtered++
		return
	case "failed":
		h.Failed++
	default:
		h.Fired++
		if v := text(did["verdict"]); v != "" && v != "none" {
			h.Said[v]++
		}
	}
	us := number(did["us"])
	h.Micros += us
	h.Times[min((bits.Len64(uint64(max(us, 1)-1))+1)/2, len(h.Times)-1)]++
	if e.ID > h.LastID {
		h.Last, h.LastID = e.Timestamp, e.ID
	}
}

// filter chooses decisions.
type filter struct{ Agent, Event, Tool, Action, Hook, Text string }

func filterOf(query url.Values) filter {
	return filter{query.Get("agent"), query.Get("event"), query.Get("tool"), query.Get("action"), query.Get("hook"), query.Get("text")}
}

// values are the filter as a part of an address.
//
//go:noinline
func (f *filter) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{"agent": f.Agent, "event": f.Event, "tool": f.Tool, "action": f.Action, "hook": f.Hook, "text": f.Text} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

func (f *filter) takes(w *row) bool {
	said := func(want, is string) bool { return want == "" || want == is }
	if !said(f.Agent, w.Agent) || !said(f.Event, w.Event) || !said(f.Tool, w.Tool) || !said(f.Action, w.Action) || !said(f.Hook, hookOf(w.By)) {
		return false
	}
	if f.Text == "" {
		return true
	}
	want := strings.ToLower(f.Text)
	for _, in := range []string{w.Subject, w.Because, w.By, w.ID, w.Session} {
		if strings.Contains(strings.ToLower(in), want) {
			return true
		}
	}
	return false
}

// page gives up to n decisions before an id, the newest first, and whether there are more.
func (r *record) page(f *filter, before string, n int) (out []row, more bool) {
	end := len(r.rows)
	if before != "" {
		end = sort.Search(len(r.rows), func(i int) bool { return r.rows[i].ID >= before })
	}
	for i := end - 1; i >= 0; i-- {
		if !f.takes(&r.rows[i]) {
			continue
		}
		if len(out) == n {
			return out, true
		}
		out = append(out, r.rows[i])
	}
	return out, false
}
