// Package health says how the hooks of agents on this machine are: which agents are
// installed, whether hookc is in front of them, when it last fired, and whether it
// refused doctor's canary. A policy that is current where no hook fires protects nobody.
package health

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy/agent"
)

// within bounds what hookc doctor may take for one agent.
const within = 20 * time.Second

// Agent is how the hooks of one agent of one user are.
type Agent struct {
	User  string `json:"user"`
	Agent string `json:"agent"`
	// Wired is true when hookc stands at every event where the policy needs it.
	Wired bool `json:"wired"`
	// Fired is when the agent last called hookc in any project, zero for never.
	Fired time.Time `json:"last_fired,omitzero"`
	// Canary is ok, warn or fail, "" where there was no hook to try; Tried is when.
	Canary string    `json:"canary,omitempty"`
	Tried  time.Time `json:"tried"`
	// Faults are what doctor found wrong.
	Faults []string `json:"faults,omitempty"`
}

// check is one of hookc doctor's.
type check struct{ Check, Status, Text string }

// Of looks at every agent that is installed for one of the users whose agents this
// process may look at: its own user, and under root every user.
func Of(ctx context.Context) any {
	out := []Agent{}
	for _, u := range users() {
		fired := lastFired(u.home)
		for _, id := range agent.Installable() {
			if installed(u.home, id) {
				out = append(out, look(ctx, u, id, fired[id]))
			}
		}
	}
	return map[string]any{"agents": out}
}

// installed reports whether a user has the folder that an agent keeps its settings in.
func installed(home, id string) bool {
	d, err := agent.Find(id)
	if err != nil {
		return false
	}
	settings, err := d.Settings()
	if err != nil {
		return false
	}
	for _, f := range settings.In(agent.UserScope) {
		first, rest, nested := strings.Cut(f.Path, "/")
		if first == ".config" && nested {
			below, _, _ := strings.Cut(rest, "/")
			first = filepath.Join(first, below)
		}
		if _, err := os.Stat(filepath.Join(home, first)); err == nil {
			return true
		}
	}
	return false
}

// look asks hookc doctor, as the user himself: it runs the command in his settings.
func look(ctx context.Context, u user, id string, fired time.Time) Agent {
	a := Agent{User: u.name, Agent: id, Fired: fired, Tried: time.Now().UTC()}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, hookc(), "doctor", id, "--json")
	cmd.Dir, cmd.Env, cmd.WaitDelay = u.home, u.env(), time.Second
	u.become(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output() // which fails where it finds a fault, and says it all the same
	var said struct{ Checks []check }
	if wrong := json.Unmarshal(out, &said); wrong != nil {
		text := "hookc doctor: no answer"
		if err != nil {
			text = "hookc doctor: " + err.Error()
		}
		a.Faults = []string{strings.TrimSpace(text + " " + stderr.String())}
		return a
	}
	a.judge(said.Checks)
	return a
}

// judge makes an agent's state of doctor's checks.
func (a *Agent) judge(checks []check) {
	bad := 0
	for _, c := range checks {
		switch {
		case c.Check == "canary" && a.Canary != "fail":
			a.Canary = c.Status
		case (c.Check == "event" || c.Check == "settings") && c.Status == "fail":
			bad++
		}
		if c.Status == "fail" {
			a.Faults = append(a.Faults, c.Check+": "+c.Text)
		}
	}
	a.Wired = a.Canary != "" && bad == 0 // a canary is tried where hookc stands
}

// hookc is the one beside this program, or the one that is found.
func hookc() string {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "hookc")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside
		}
	}
	return "hookc"
}

// lastFired is when each agent last called hookc, in any of the user's projects.
func lastFired(home string) map[string]time.Time {
	out := map[string]time.Time{}
	note := func(id string, at time.Time) {
		id, _, _ = strings.Cut(id, "@")
		if at.After(out[id]) {
			out[id] = at.UTC()
		}
	}
	files, _ := filepath.Glob(filepath.Join(stateOf(home), "hookc", "*", "*"))
	for _, at := range files {
		info, err := os.Lstat(at)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if name, ok := strings.CutPrefix(info.Name(), table.Marker); ok {
			if dot := strings.LastIndexByte(name, '.'); dot > 0 {
				note(name[:dot], info.ModTime())
			}
			continue
		}
		var seen map[string]map[string]int64
		if info.Name() != "seen.json" || info.Size() > 1<<20 {
			continue
		}
		text, err := os.ReadFile(at)
		if _, record, ok := bytes.Cut(text, []byte("\n")); err == nil && ok && json.Unmarshal(record, &seen) == nil { // the first line is the checksum
			for id, events := range seen {
				for _, unix := range events {
					note(id, time.Unix(unix, 0))
				}
			}
		}
	}
	return out
}
