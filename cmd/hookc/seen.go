package main

import (
	"encoding/json"
	"time"
)

const seenFile = "seen.json"

// seenEvery is how old a record of an agent's event may be before it is
// written anew: writing takes longer than deciding.
const seenEvery = 20 * time.Second

// sightings are when an agent's hook last fired on each event, in Unix
// seconds: by agent and the agent's name of the event.
type sightings map[string]map[string]int64

// sightings reads the record; empty when there is none.
func (m *memory) sightings() sightings {
	if m.dir == nil {
		return nil
	}
	data, err := m.dir.Read(seenFile)
	if err != nil {
		return nil
	}
	var s sightings
	if json.Unmarshal(data, &s) != nil {
		return nil // damaged: recorded anew
	}
	return s
}

// saw records that an agent's event was decided just now.
func (m *memory) saw(agent, event string) {
	now := time.Now().Unix()
	if last := m.sightings()[agent][event]; last <= now && now-last < int64(seenEvery/time.Second) {
		return
	}
	m.update(seenFile, func(old []byte) ([]byte, error) {
		var s sightings
		if json.Unmarshal(old, &s) != nil || s == nil {
			s = sightings{}
		}
		if s[agent] == nil {
			s[agent] = map[string]int64{}
		}
		s[agent][event] = now
		return json.Marshal(s)
	})
}
