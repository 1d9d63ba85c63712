// Package memory keeps what outlasts one process of hookc for one project: the
// counters of its hooks, what a gate and the duplicate guard remember, when agents
// called, and where sessions began.
package memory

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

var codeNoState = diag.Define("HK180", diag.Warning, "the state folder cannot be used").Guarding()

// Memory is what outlasts one process, for one project. Without a usable
// state folder it remembers nothing and says so in every Decision.
// It is safe for concurrent use.
type Memory struct {
	dir    *state.Dir
	mu     sync.Mutex
	broken error
	// reported are how many damaged files were told of.
	reported int
}

// Open is the memory of the project in folder root.
//
//go:noinline
func Open(root string) *Memory {
	dir, err := state.Open(root)
	return &Memory{dir: dir, broken: err}
}

// Options let an engine use the memory.
func (m *Memory) Options() []hookc.Option {
	if m.dir == nil {
		return nil
	}
	return []hookc.Option{host.Execution[hookc.Option](func(o *executor.Options) { o.Memo, o.Gates = answers{m}, gates{m} }), host.KeepLast[hookc.Option](m.dir)}
}

// Estimates let compile --explain show what hooks really took, where that is
// known. A plan that only decides does without: the counters of every hook of a
// project are more than the plan of one event.
func (m *Memory) Estimates() hookc.Option {
	known := m.load()
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Costs = known.P50 })
}

// Path is its folder, "" if there is none.
func (m *Memory) Path() string {
	if m.dir == nil {
		return ""
	}
	return m.dir.Path()
}

// Warnings say what is wrong with the memory.
func (m *Memory) Warnings() []policy.Warning {
	var out []policy.Warning
	if err := m.Trouble(); err != nil {
		out = append(out, policy.Warning{Code: codeNoState, Text: err.Error()})
	}
	if m.dir == nil {
		return out
	}
	damaged := m.dir.Damaged()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(damaged) > m.reported { // once, and not with each event of a server
		m.reported = len(damaged)
		for _, name := range damaged {
			if name != countsFile { // which does not begin again
				out = append(out, policy.Warning{Code: codeNoState, Text: filepath.Join(m.Path(), name) + " was damaged and begins again"})
			}
		}
	}
	return out
}

// Trouble is the first thing that went wrong with the memory, or nil.
func (m *Memory) Trouble() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken
}

// update changes a file of the state folder; trouble is kept for warnings, too.
func (m *Memory) update(name string, change func(old []byte) ([]byte, error)) error {
	if m.dir == nil {
		return m.Trouble()
	}
	write := m.dir.UpdateLazy
	if name == countsFile {
		write = m.dir.UpdateKept
	}
	err := write(name, change)
	if errors.Is(err, state.ErrCorrupt) {
		err = fault.Errorf("%s: %w; take it away, and it is counted from nothing", m.Path(), err)
	}
	m.note(err)
	return err
}

// note keeps the first trouble for warnings.
func (m *Memory) note(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken == nil {
		m.broken = err
	}
}

const metricsFile = "metrics.json"

// load returns the counters of earlier processes.
func (m *Memory) load() *hookc.Metrics {
	known := &hookc.Metrics{}
	if m.dir == nil {
		return known
	}
	if data, err := m.dir.Read(metricsFile); err == nil {
		if json.Unmarshal(data, known) != nil {
			known = &hookc.Metrics{} // damaged: counted again, as save replaces it
		}
	}
	addRuns(known, m.runs(table.Runs))
	return known
}

// Save adds the counters of this process to those of earlier ones.
func (m *Memory) Save(now *hookc.Metrics) {
	if len(now.List()) == 0 {
		return
	}
	m.update(metricsFile, func(old []byte) ([]byte, error) {
		sum := &hookc.Metrics{}
		if json.Unmarshal(old, sum) != nil {
			sum = &hookc.Metrics{}
		}
		addRuns(sum, m.takeRuns())
		text, err := json.Marshal(now)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, sum); err != nil {
			return nil, err
		}
		return json.Marshal(sum)
	})
}

// Counters are what hooks did in all processes.
func (m *Memory) Counters() []hookc.HookMetrics { return m.load().List() }

// record is a value that leaves the memory when it is old or there are too
// many.
type record struct {
	Key   string `json:"key"`
	Value []byte `json:"value"`
	Time  int64  `json:"time"`
}

// maxRecords and maxAge bound the records of one file. Of what rules have counted there
// may be maxCounts, and none goes before it is old: a budget would be given back by
// sessions that somebody makes up.
const (
	maxRecords = 1024
	maxCounts  = 8 * maxRecords
	maxAge     = 24 * time.Hour
)

// find reads one record.
func (m *Memory) find(file, key string) ([]byte, bool) {
	data, err := m.dir.Read(file)
	if err != nil {
		return nil, false
	}
	for _, r := range records(data) {
		if r.Key == key {
			return r.Value, true
		}
	}
	return nil, false
}

func records(data []byte) []record {
	var all []record
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	now := time.Now()
	for i := range all { // the clock was put back since: it counts from now
		all[i].Time = min(all[i].Time, now.Unix())
	}
	oldest := now.Add(-maxAge).Unix()
	return lists.Without(all, func(r *record) bool { return r.Time < oldest })
}

// change replaces one record by what f makes of it; nil removes it.
func (m *Memory) change(file, key string, f func(old []byte) []byte) error {
	return m.update(file, func(data []byte) ([]byte, error) {
		all := records(data)
		var old []byte
		if i := slices.IndexFunc(all, func(r record) bool { return r.Key == key }); i >= 0 {
			old = all[i].Value
			all = slices.Delete(all, i, i+1)
		}
		if value := f(old); value != nil {
			all = append(all, record{key, value, time.Now().Unix()})
		}
		over := len(all) - maxRecords
		switch {
		case file == countsFile && len(all) > maxCounts:
			return nil, fault.Errorf("%s holds %d numbers of the last day, and no more are counted", countsFile, maxCounts)
		case file != countsFile && over > 0:
			all = all[over:]
		}
		return json.Marshal(all)
	})
}

// answers is the duplicate guard's memory, and that of facts, which calls do not
// push out.
type answers struct{ m *Memory }

func (answers) file(key string) string {
	if strings.HasPrefix(key, runner.FactKeys) {
		return "facts.json"
	}
	return "answers.json"
}

func (a answers) Load(key string) ([]byte, bool) { return a.m.find(a.file(key), key) }

func (a answers) Save(key string, value []byte) {
	a.m.change(a.file(key), key, func([]byte) []byte { return value })
}

// gates counts the times a gate sent the agent back, by session and event.
type gates struct{ m *Memory }

const gatesFile = "gates.json"

func gateKey(session string, e policy.Event) string { return session + "\x00" + string(e) }

func (g gates) Blocked(session string, e policy.Event) int {
	count := 0
	g.m.change(gatesFile, gateKey(session, e), func(old []byte) []byte {
		if old != nil && json.Unmarshal(old, &count) != nil {
			count = 0
		}
		count++
		text, err := json.Marshal(count)
		if err != nil {
			panic("hookc: a number cannot be written as JSON: " + err.Error())
		}
		return text
	})
	return count
}

func (g gates) Passed(session string, e policy.Event) {
	if _, blocked := g.m.find(gatesFile, gateKey(session, e)); blocked {
		g.m.change(gatesFile, gateKey(session, e), func([]byte) []byte { return nil })
	}
}

func (g gates) NewTurn(session string) {
	for _, e := range policy.Events() {
		if e != policy.PreSendMessage {
			g.Passed(session, e)
		}
	}
}
