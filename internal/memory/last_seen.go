package memory

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/spell"
)

const seenFile = "seen.json"

// seenEvery is how old a record of an agent's event may be before it is
// written again: writing takes longer than deciding.
const seenEvery = 20 * time.Second

// Sightings are when an agent's hook last fired on each event, in Unix
// seconds: by agent and the agent's name of the event.
type Sightings map[string]map[string]int64

// Sightings reads the record, hookgate's included; empty when there is none.
func (m *Memory) Sightings() Sightings {
	s := m.recorded()
	entries, err := os.ReadDir(m.Path())
	if err != nil {
		return s // there is no folder yet
	}
	for _, entry := range entries {
		name, ok := spell.CutPrefix(entry.Name(), table.Marker)
		at := strings.LastIndexByte(name, '.')
		info, err := entry.Info()
		if !ok || at < 0 || err != nil || !info.Mode().IsRegular() {
			continue
		}
		agent, event := name[:at], name[at+1:]
		if s == nil {
			s = Sightings{}
		}
		if s[agent] == nil {
			s[agent] = map[string]int64{}
		}
		s[agent][event] = max(s[agent][event], info.ModTime().Unix())
	}
	return s
}

// recorded is what hookc itself has recorded.
func (m *Memory) recorded() Sightings {
	if m.dir == nil {
		return nil
	}
	data, err := m.dir.Read(seenFile)
	if err != nil {
		return nil
	}
	var s Sightings
	if json.Unmarshal(data, &s) != nil {
		return nil // damaged: recorded again
	}
	return s
}

// Saw records that an agent's event was decided just now.
func (m *Memory) Saw(agent, event string) {
	now := time.Now().Unix()
	if last := m.recorded()[agent][event]; last <= now && now-last < int64(seenEvery/time.Second) {
		return
	}
	m.update(seenFile, func(old []byte) ([]byte, error) {
		var s Sightings
		if json.Unmarshal(old, &s) != nil || s == nil {
			s = Sightings{}
		}
		if s[agent] == nil {
			s[agent] = map[string]int64{}
		}
		s[agent][event] = now
		return json.Marshal(s)
	})
}
