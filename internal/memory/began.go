package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

const (
	// beganFile holds where sessions began, in the state folder of no project.
	beganFile = "sessions.json"
	// maxBegan is how many sessions are remembered; the one seen first goes first, but
	// none that began within maxAge: an agent could make up sessions, and be rid of the
	// policies of the folder that its own began in.
	maxBegan = 256
)

// start is where and when a session was first seen, in Unix seconds.
type start struct {
	Dir string `json:"dir"`
	At  int64  `json:"at"`
}

// Around are the folders, beside the project that an event names, whose
// projects it is about (semantics.md §2.8): the one its session began in,
// and its own.
func Around(in *policy.Context) (out []string, warnings []policy.Warning) {
	cwd := in.Text(policy.FieldCwd)
	if session := in.Text(policy.FieldSessionID); session != "" {
		dir, err := began(session, cwd, time.Now())
		if dir != "" && dir != cwd {
			out = append(out, dir)
		}
		if errors.Is(err, errCrowded) {
			warnings = append(warnings, policy.Warning{Code: codeNoState, Text: err.Error()})
		}
	}
	if filepath.IsAbs(cwd) {
		out = append(out, filepath.Clean(cwd))
	}
	if strings.Contains(cwd, "..") { // behind a link it leads elsewhere than its text says
		if real, err := filepath.EvalSymlinks(cwd); err == nil && filepath.IsAbs(real) && real != filepath.Clean(cwd) {
			out = append(out, real)
		}
	}
	return out, warnings
}

// errCrowded: where a session began is not remembered.
var errCrowded = fault.Errorf("%d sessions began within the last day: where this one began is not remembered, and the policies of the folder that the agent is in decide", maxBegan)

// began is the folder that a session was first seen in. It is remembered for
// the events that follow; where that is not possible, each event speaks for
// itself, and the memory of its project says so, or errCrowded.
func began(session, cwd string, now time.Time) (string, error) {
	dir, err := state.Open(string(filepath.Separator))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(session))
	key := hex.EncodeToString(sum[:8])
	known := func(data []byte) map[string]start {
		all := map[string]start{}
		if json.Unmarshal(data, &all) != nil {
			return map[string]start{}
		}
		return all
	}
	if data, err := dir.Read(beganFile); err == nil {
		if s, ok := known(data)[key]; ok {
			return s.Dir, nil
		}
	}
	if !filepath.IsAbs(cwd) {
		return "", nil
	}
	first := filepath.Clean(cwd)
	err = dir.UpdateLazy(beganFile, func(old []byte) ([]byte, error) {
		all := known(old)
		if s, ok := all[key]; ok { // another event of the session was faster
			first = s.Dir
			return old, nil
		}
		all[key] = start{first, now.Unix()}
		for len(all) > maxBegan {
			oldest := ""
			for k, s := range all {
				if oldest == "" || s.At < all[oldest].At || s.At == all[oldest].At && k < oldest {
					oldest = k
				}
			}
			if s := all[oldest]; s.At > now.Add(-maxAge).Unix() && s.At <= now.Unix() {
				return nil, errCrowded
			}
			delete(all, oldest)
		}
		return json.Marshal(all)
	})
	if err != nil {
		return "", err
	}
	return first, nil
}
