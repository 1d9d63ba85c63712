package plane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/hookc/hookc/policy/bundled"
)

// Name is what the plugin is called in the configuration: plugins.hookc.
const Name = "hookc"

// Settings are plugins.hookc of the configuration.
type Settings struct {
	// RequireSignature refuses a bundle whose signature was not verified. It is on
	// unless the configuration says otherwise.
	RequireSignature bool `json:"require_signature"`
	// MaxAge is for how long a bundle counts that nobody confirmed, "" for ever, and
	// OnStale what becomes of decisions then: warn or deny.
	MaxAge  string `json:"max_age"`
	OnStale string `json:"on_stale"`
	// TestTimeout is how long compiling a bundle and running its tests may take.
	TestTimeout string `json:"test_timeout"`
	// AllowRollback takes a revision that is older than the one in force.
	AllowRollback bool `json:"allow_rollback"`
	// Serial grows from one discovered configuration to the next; 0 is none.
	Serial int64 `json:"serial"`

	maxAge, testTimeout time.Duration
}

// parse reads the settings; none are the defaults.
func parse(text []byte) (*Settings, error) {
	s := &Settings{RequireSignature: true, OnStale: bundled.Warn, TestTimeout: "30s"}
	if len(text) > 0 {
		var said map[string]json.RawMessage
		if err := util.Unmarshal(text, &said); err != nil {
			return nil, fmt.Errorf("plugins.hookc: %w", err)
		}
		text, err := json.Marshal(said)
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err = errors.Join(err, strict.Decode(s)); err != nil {
			return nil, fmt.Errorf("plugins.hookc: %w", err)
		}
	}
	var err error
	if s.MaxAge != "" {
		if s.maxAge, err = time.ParseDuration(s.MaxAge); err == nil && s.maxAge < time.Second {
			err = errors.New("it must be one second or more")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("plugins.hookc.max_age: %w", err)
	}
	if s.testTimeout, err = time.ParseDuration(s.TestTimeout); err != nil || s.testTimeout <= 0 {
		return nil, fmt.Errorf("plugins.hookc.test_timeout: %q is no time such as 30s", s.TestTimeout)
	}
	if s.OnStale != bundled.Warn && s.OnStale != bundled.Deny {
		return nil, fmt.Errorf("plugins.hookc.on_stale: %q is neither %s nor %s", s.OnStale, bundled.Warn, bundled.Deny)
	}
	return s, nil
}

// factory makes the plugin of a plane for OPA's manager.
type factory struct{ plane *Plane }

func (f factory) Validate(_ *plugins.Manager, text []byte) (any, error) { return parse(text) }

func (f factory) New(_ *plugins.Manager, config any) plugins.Plugin {
	f.plane.set(config.(*Settings))
	return f.plane
}
