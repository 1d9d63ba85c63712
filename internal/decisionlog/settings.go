package decisionlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
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

// Setting is what the settings say, as a policy file would; nil where nobody said anything.
func (s *Settings) Setting() *record.Setting {
	if s.OnError == "" {
		return nil
	}
	out := &record.Setting{Tier: "user", Rank: record.User, By: "`hookc log enable`", Enabled: "off", OnError: s.OnError,
		Durable: s.Durable, KeepDays: s.KeepDays, KeepMB: s.KeepMB, Checkpoints: s.Checkpoints}
	if s.Enabled {
		out.Enabled = "on"
	}
	for _, p := range s.Mask {
		out.Mask = append(out.Mask, record.When{What: p})
	}
	for _, name := range s.Drop {
		event, _ := policy.ParseEvent(name)
		out.Drop = append(out.Drop, record.When{What: string(event)})
	}
	return out
}

// SettingsFile is where the settings are, in hookc's state folder; the log is in
// the folder that Folder names, beside it.
//
//go:noinline
func SettingsFile(home string) string { return filepath.Join(home, "log.json") }

// Folder is where the log is.
//
//go:noinline
func Folder(home string) string { return filepath.Join(home, "log") }

// maxSmall bounds what is read of a settings file or of one with keys.
const maxSmall = 1 << 20

// readSmall is os.ReadFile of a file that is one and is not large: a pipe in its place
// would hold every decision, and a device never end.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	case info.Size() > maxSmall:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is larger than it may be")}
	}
	return os.ReadFile(path)
}

// ReadSettings reads the settings; without a file nothing is logged. With an
// error the Settings deny: nobody knows what they were.
func ReadSettings(home string) (Settings, error) {
	data, err := readSmall(SettingsFile(home))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
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
		return Settings{Enabled: true, OnError: "deny"}, fault.Errorf("%s: %w: `hookc log enable` writes it again", SettingsFile(home), err)
	}
	return s, nil
}

func (s *Settings) check() error {
	switch {
	case s.OnError != "deny" && s.OnError != "warn":
		return fault.Errorf("on_error is %q: it is deny or warn", s.OnError)
	case s.KeepDays < 0 || s.KeepMB < 0:
		return errors.New("what is kept is not negative")
	case s.Checkpoints != "" && !filepath.IsAbs(s.Checkpoints):
		return errors.New("checkpoints is an absolute path")
	}
	for _, p := range s.Mask {
		if err := record.CheckPointer(p); err != nil {
			return err
		}
	}
	for _, name := range s.Drop {
		if _, ok := policy.ParseEvent(name); !ok {
			return fault.Errorf("drop has %q: %s", name, diag.DidYouMean(name, policy.EventNames(), "`hookc help events` lists the events"))
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
	return replace(SettingsFile(home), append(data, '\n'))
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
