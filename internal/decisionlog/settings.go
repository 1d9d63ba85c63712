package decisionlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Settings are what `hookc log enable` said, for all that the user's hookc decides.
type Settings struct {
	Enabled bool `json:"enabled"`
	// Durable has every answer wait until its entry is on the disk.
	Durable bool `json:"durable,omitempty"`
	// OnError is what becomes of a decision that could not be logged: "warn",
	// or "deny" where the event guards something.
	OnError string `json:"on_error"`
	// KeepDays and KeepMB bound what is kept; 0 is 30 days and 1,024 MiB.
	KeepDays int `json:"keep_days,omitempty"`
	KeepMB   int `json:"keep_mb,omitempty"`
	// Mask are JSON pointers into an entry (/input/tool_input/content) of what is
	// masked whatever it is; * is any member. Drop are events that are not logged.
	Mask []string `json:"mask,omitempty"`
	Drop []string `json:"drop,omitempty"`
	// Checkpoints is a file to which each signed checkpoint is appended, or "".
	Checkpoints string `json:"checkpoints,omitempty"`
}

// Drops reports whether an event is not logged.
func (s *Settings) Drops(e policy.Event) bool {
	return slices.ContainsFunc(s.Drop, func(name string) bool { d, _ := policy.ParseEvent(name); return d == e })
}

// SettingsFile is where the settings are, in hookc's state folder; the log is in
// the folder that Folder names, beside it.
func SettingsFile(home string) string { return filepath.Join(home, "log.json") }

// Folder is where the log is.
func Folder(home string) string { return filepath.Join(home, "log") }

// ReadSettings reads the settings; without a file nothing is logged. With an
// error the Settings deny: nobody knows what they were.
func ReadSettings(home string) (Settings, error) {
	data, err := os.ReadFile(SettingsFile(home))
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	var s Settings
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&s)
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return Settings{Enabled: true, OnError: "deny"}, fmt.Errorf("%s: %w: `hookc log enable` writes it anew", SettingsFile(home), err)
	}
	return s, nil
}

func (s *Settings) check() error {
	switch {
	case s.OnError != "deny" && s.OnError != "warn":
		return fmt.Errorf("on_error is %q: it is deny or warn", s.OnError)
	case s.KeepDays < 0 || s.KeepMB < 0:
		return errors.New("what is kept is not negative")
	case s.Checkpoints != "" && !filepath.IsAbs(s.Checkpoints):
		return errors.New("checkpoints is an absolute path")
	}
	for _, p := range s.Mask {
		if part, rest, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/"); p[:min(1, len(p))] != "/" || rest == "" || !slices.Contains([]string{"input", "result", "answers"}, part) {
			return fmt.Errorf("mask has %q: it takes JSON pointers below /input, /result or /answers, such as /input/tool_input/content", p)
		}
	}
	for _, name := range s.Drop {
		if _, ok := policy.ParseEvent(name); !ok {
			return fmt.Errorf("drop has %q: %s", name, diag.DidYouMean(name, policy.EventNames(), "`hookc help events` lists the events"))
		}
	}
	return nil
}

// Write replaces the settings.
func (s *Settings) Write(home string) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(home, "log.json.*")
	if err != nil {
		return err
	}
	_, err = part.Write(append(data, '\n'))
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), SettingsFile(home))
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// Options are what a Writer with these settings takes. brief is for a process
// that decides one event: its segments are small, so that ending one is quick.
func (s *Settings) Options(dir, version string, brief bool) (Options, error) {
	o := Options{Version: version, Durable: s.Durable, Mask: s.Mask, KeepAge: time.Duration(s.KeepDays) * 24 * time.Hour, KeepSize: int64(s.KeepMB) << 20}
	if brief {
		o.Buffer, o.MaxSize = 4, 4<<20
	}
	signer, err := NewSigner(dir)
	if err != nil {
		return o, err
	}
	if s.Checkpoints != "" {
		signer.Export = func(signed []byte) error { return appendTo(s.Checkpoints, append(signed, '\n')) }
	}
	o.Sign = signer
	return o, nil
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
