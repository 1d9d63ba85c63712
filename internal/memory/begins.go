package memory

import (
	"encoding/json"
	"slices"

	"github.com/hookc/hookc/policy"
)

// beginning is a subagent that a call was let through to start, and what hooks said
// of its start. Kind is "" where the call did not say which subagent it is.
type beginning struct {
	Kind         string `json:"kind,omitempty"`
	Contribution []byte `json:"said"`
}

const (
	beginsFile = "begins.json"
	// maxBegins is how many starts of one session are waited for.
	maxBegins = 16
)

// Begins notes what hooks said of a start that is about to come.
func (m *Memory) Begins(start *policy.Context, contribution []byte) {
	session := start.Text(policy.FieldSessionID)
	if session == "" || len(contribution) == 0 {
		return
	}
	m.change(beginsFile, session, func(old []byte) []byte {
		all := append(beginnings(old), beginning{start.Text(policy.FieldSubagentType), contribution})
		return written(all[max(0, len(all)-maxBegins):])
	})
}

// Began is what was noted of a start that has come, nil for nothing: of the call that
// was let through last. It is noted no more.
func (m *Memory) Began(start *policy.Context) (contribution []byte) {
	session := start.Text(policy.FieldSessionID)
	if m.dir == nil || session == "" {
		return nil
	}
	if _, any := m.find(beginsFile, session); !any {
		return nil
	}
	m.change(beginsFile, session, func(old []byte) []byte {
		all := beginnings(old)
		at := -1
		for i, b := range all {
			if b.Kind == start.Text(policy.FieldSubagentType) || b.Kind == "" && (at < 0 || all[at].Kind == "") {
				at = i
			}
		}
		if at >= 0 {
			contribution = all[at].Contribution
			all = slices.Delete(all, at, at+1)
		}
		return written(all)
	})
	return contribution
}

func beginnings(data []byte) []beginning {
	var all []beginning
	if json.Unmarshal(data, &all) != nil {
		return nil // damaged, or none
	}
	return all
}

func written(all []beginning) []byte {
	data, err := json.Marshal(all)
	if len(all) == 0 || err != nil {
		return nil
	}
	return data
}
