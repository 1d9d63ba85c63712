package codes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/hookc/hookc" // registers the codes
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestSeveritiesByEveryRoad: what a policy's severity: makes of a code holds of its
// findings whoever reports them: check, lint, compile, test and the language server, and
// check and lint of the compiled policy. One that is off is reported by none; one that
// is an error fails all, and is not compiled into a file.
func TestSeveritiesByEveryRoad(t *testing.T) {
	tried := 0
	for i, c := range diag.Codes() {
		words := severity.Words()
		if severity.Firm(c) {
			words = words[:c.Severity+1]
		}
		if c.Severity == diag.Error || NoExample[c.ID] != "" || !depth.Tries(i, 40) {
			continue
		}
		// Where a profile is followed, this user's policy is not read.
		if strings.Contains(c.Bad, "-- profile --") || strings.Contains(c.Bad, "-- dialect --") || strings.Contains(c.Bad, ".config/") || c.ID == "HK040" {
			continue
		}
		tried++
		word := words[i%len(words)]
		t.Run(c.ID+" "+word, func(t *testing.T) { holds(t, c, word) })
	}
	require.NotZero(t, tried)
}

func holds(t *testing.T, c *diag.Code, word string) {
	l := lay(t, c.Bad)
	before := l.roads(t)
	l.put(t, ".config/hookc/hooks.yaml", fmt.Appendf(nil, "severity: {%s: %s}\n", c.ID, word))
	want := strings.Replace(word, "info", "hint", 1)
	after := l.roads(t)
	for road, found := range before {
		got, open := after[road] // a file with errors is not there
		for _, f := range found {
			if f.code == c.ID && word != "off" && open {
				assert.Contains(t, got, finding{f.code, f.place, want}, road)
			}
		}
	}
	is := map[string]string{}
	for road, found := range after {
		for _, f := range found {
			if f.code == c.ID {
				assert.Equal(t, want, f.severity, "%s: %s", road, f.place)
			}
			if is[f.code+f.place] == "" {
				is[f.code+f.place] = f.severity
			}
			assert.Equal(t, is[f.code+f.place], f.severity, "%s: %s at %s", road, f.code, f.place)
		}
	}
}

// finding is a finding as a road tells of it.
type finding struct{ code, place, severity string }

// roads are what each road reports.
func (l *laid) roads(t *testing.T) map[string][]finding {
	t.Helper()
	out := map[string][]finding{}
	for road, args := range map[string][]string{"check": {"check"}, "lint": {"lint"}, "compile": {"compile"}, "file": {"compile", "-o", "policy.hookc"}} {
		out[road] = read(t, l.run(t, nil, append(args, "--json")...))
	}
	if l.cases {
		out["test"] = read(t, l.run(t, nil, "test", "--json"))
	}
	file := filepath.Join(l.dir, "policy.hookc")
	if failed := strings.Contains(fmt.Sprint(out["file"]), " error}"); !assert.Equal(t, failed, !regular(file)) || failed {
		return l.edited(t, out)
	}
	for _, command := range []string{"check", "lint"} {
		out[command+" file"] = read(t, l.run(t, nil, command, "-f", file, "--json"))
	}
	require.NoError(t, os.Remove(file))
	return l.edited(t, out)
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// read reads a report of findings.
func read(t *testing.T, text []byte) (out []finding) {
	t.Helper()
	type found struct {
		Code, File, Severity string
		Line                 int
	}
	var report struct {
		Findings []found
		Codes    []struct{ Findings []found }
	}
	require.NoError(t, json.Unmarshal(text, &report), "%s", text)
	for _, c := range report.Codes {
		report.Findings = append(report.Findings, c.Findings...)
	}
	for _, f := range report.Findings {
		out = append(out, finding{f.Code, fmt.Sprintf("%s:%d", f.File, f.Line), f.Severity})
	}
	return out
}

// edited adds what the language server says at once of an open hooks.yaml.
func (l *laid) edited(t *testing.T, out map[string][]finding) map[string][]finding {
	t.Helper()
	path := filepath.Join(l.dir, "hooks.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return out
	}
	cmd := exec.Command(programs.Hookc(t), "lsp")
	cmd.Dir, cmd.Env = l.dir, l.env
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	from, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	type object = map[string]any
	send := func(m object) {
		m["jsonrpc"] = "2.0"
		body, err := json.Marshal(m)
		require.NoError(t, err)
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	uri := "file://" + path
	send(object{"id": 1, "method": "initialize", "params": object{"rootUri": "file://" + l.dir}})
	send(object{"method": "textDocument/didOpen", "params": object{"textDocument": object{"uri": uri, "version": 1, "text": string(text)}}})
	for r := textproto.NewReader(bufio.NewReader(from)); ; {
		head, err := r.ReadMIMEHeader()
		require.NoError(t, err)
		length, err := strconv.Atoi(head.Get("Content-Length"))
		require.NoError(t, err)
		body := make([]byte, length)
		_, err = io.ReadFull(r.R, body)
		require.NoError(t, err)
		var m struct {
			Method string
			Params struct {
				URI         string
				Diagnostics []struct {
					Code     string
					Severity int
					Range    struct{ Start struct{ Line int } }
				}
			}
		}
		require.NoError(t, json.Unmarshal(body, &m))
		if m.Method != "textDocument/publishDiagnostics" || m.Params.URI != uri {
			continue
		}
		for _, d := range m.Params.Diagnostics {
			out["lsp"] = append(out["lsp"], finding{d.Code, fmt.Sprintf("hooks.yaml:%d", d.Range.Start.Line+1), []string{"", "error", "warning", "", "hint"}[d.Severity]})
		}
		send(object{"id": 2, "method": "shutdown"})
		send(object{"method": "exit"})
		_, err = io.Copy(io.Discard, r.R)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		return out
	}
}
