package shell

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shellCase is a line of the labelled sample of the guard.
type shellCase struct {
	ID, Command, Cwd, Expect, Category, Why string
}

func shellCases(t testing.TB) []shellCase {
	t.Helper()
	f, err := os.Open("testdata/shell_cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var out []shellCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c shellCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		out = append(out, c)
	}
	require.Len(t, out, 465)
	return out
}

func casePlace(cwd string) At {
	return At{Cwd: cwd, Root: "/home/dev/project", Home: "/home/dev", Temp: "/tmp"}
}

// TestShellCases: the effects of each case are enough to decide it. worst is a
// sketch of a policy and no guard; it reads nothing but effects.
func TestShellCases(t *testing.T) {
	wrong := map[string]int{}
	for _, c := range shellCases(t) {
		s := Parse(c.Command, casePlace(c.Cwd))
		why := worst(s)
		if !assert.Equal(t, c.Expect == "deny", why != "", "%s %q: %s; the policy says %q", c.ID, c.Command, c.Why, why) {
			wrong[c.Category+" "+c.Expect]++
			t.Logf("%+v", s.Effects)
		}
	}
	assert.Empty(t, wrong)
}

// worst is the first effect that a policy like the label's denies.
func worst(s *Line) string {
	for _, e := range s.Effects {
		if reason := denied(s, &e); reason != "" {
			return reason + ": " + e.Op + " " + e.Target
		}
	}
	return ""
}

var badPlaces = []Zone{ZoneRoot, ZoneSystem, ZoneDevice, ZoneHome, ZoneUser, ZoneAbove, ZoneGit, ZoneProjectRoot, ZoneTempRoot, ZoneOther}

func denied(s *Line, e *Effect) string {
	switch e.Kind {
	case EffectGitHistory, EffectDevice:
		return string(e.Kind)
	case EffectUnknown:
		if e.Op == DynamicName || e.Op == DynamicCode {
			return ""
		}
		return "unknown"
	case EffectPrivilege:
		if e.Op == "setuid" || e.Op == "host-mount" || e.Op == "account-change" {
			return "privilege"
		}
	case EffectExec:
		return deniedExec(e)
	case EffectConnect:
		if e.Secret != "" || e.Op == "reverse-shell" {
			return "exfiltration"
		}
	case EffectRead:
		if e.Secret != "" && e.Op != "copy" && e.Op != "redirect" || e.Secret != "" && e.Op == "read-secret" {
			return "secret"
		}
	case EffectDelete:
		return deniedDelete(s, e)
	case EffectWrite:
		return deniedWrite(e)
	}
	return ""
}

func deniedExec(e *Effect) string {
	switch e.Op {
	case "remote-code", "decoded-code", "fork-bomb", "kill-all", "shutdown":
		return "exec"
	}
	return ""
}

func deniedDelete(s *Line, e *Effect) string {
	if e.Domain != DomainFile {
		return deniedResource(e)
	}
	if strings.HasPrefix(e.Host, "image:") {
		return ""
	}
	if e.Certainty == CertainIfUnset && (e.Place != ZoneRoot && e.Place != ZoneSystem && e.Place != ZoneHome || !e.Recursive) {
		return ""
	}
	if e.Place == ZoneUnknown && e.Recursive && e.Command >= 0 && slices.Contains(s.Commands[e.Command].Via, "xargs") {
		return "unknown targets"
	}
	if e.Op == "move" && e.Secret == "" && (e.Place == ZoneUser || e.Place == ZoneOther) {
		return ""
	}
	if slices.Contains(badPlaces, e.Place) {
		return "delete"
	}
	return ""
}

func deniedResource(e *Effect) string {
	switch e.Op {
	case "service-stop":
		if name := strings.TrimSuffix(e.Target, ".service"); name == "ssh" || name == "sshd" || name == "networking" || name == "NetworkManager" {
			return "service"
		}
		return ""
	case "object-delete", "container-remove", "image-remove", "container-kill", "image-prune", "builder-prune", "delete-key":
		return ""
	case "delete":
		if e.Domain == DomainKubernetes {
			return ""
		}
	}
	return "resource"
}

func deniedWrite(e *Effect) string {
	switch e.Domain {
	case DomainPermission:
		bad := e.Place == ZoneRoot || e.Place == ZoneSystem || e.Place == ZoneHome || e.Place == ZoneDevice
		if bad && (e.Recursive || e.Op == "open-mode") {
			return "permissions"
		}
		return ""
	case DomainSystem, DomainDisk:
		return "system"
	case DomainFile:
	default:
		return ""
	}
	if strings.HasPrefix(e.Host, "image:") {
		return ""
	}
	switch e.Place {
	case ZoneRoot, ZoneSystem:
		return "write"
	case ZoneUser:
		base := path.Base(e.Target)
		if strings.Contains(e.Target, "/.ssh/") || strings.HasSuffix(base, "rc") || strings.HasSuffix(base, "profile") {
			return "startup"
		}
	}
	return ""
}
