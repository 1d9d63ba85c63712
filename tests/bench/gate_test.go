//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// goHello is the smallest Go program: what any Go process costs.
const goHello = `package main

import "fmt"

func main() { fmt.Println("{}") }
`

// gateRig is a hookc, a hookgate and a Go hello in one folder, and a project.
type gateRig struct {
	dir string
	env []string
}

func newGateRig(b *testing.B) *gateRig {
	b.Helper()
	dir, err := os.MkdirTemp("", "hb") // a socket's name is short
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	r := &gateRig{dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "XDG_RUNTIME_DIR=" + dir + "/run", "HOOKC_TRUST=all"}}
	r.write(b, "hello/main.go", goHello)
	r.write(b, "project/hooks.yaml", "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n")
	for out, pkg := range map[string]string{"hookc": "github.com/hookc/hookc/cmd/hookc", "hookgate": "github.com/hookc/hookc/cmd/hookgate", "hello.bin": filepath.Join(dir, "hello", "main.go")} {
		if text, err := exec.Command("go", "build", "-o", filepath.Join(dir, out), pkg).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
	}
	return r
}

// write writes a file below the folder.
func (r *gateRig) write(b *testing.B, name, text string) {
	b.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (r *gateRig) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = filepath.Join(r.dir, "project"), r.env
	return cmd
}

// serve starts the server; end ends it before the benchmark does.
func (r *gateRig) serve(b *testing.B) (pid int, end func()) {
	b.Helper()
	server := r.command(filepath.Join(r.dir, "hookc"), "serve")
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = server.Wait()
	})
	b.Cleanup(end)
	for range 500 {
		if r.command(filepath.Join(r.dir, "hookc"), "serve", "status").Run() == nil {
			return server.Process.Pid, end
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("serve does not answer")
	panic("unreachable")
}

// answered demands that the server has answered so many events and handed none
// back.
func (r *gateRig) answered(b *testing.B, n int) {
	b.Helper()
	status, err := r.command(filepath.Join(r.dir, "hookc"), "serve", "status").Output()
	if want := fmt.Sprintf("\n%d answered, 0 handed back", n); err != nil || !bytes.Contains(status, []byte(want)) {
		b.Fatalf("a gate helped itself: %v\n%s", err, status)
	}
}

// BenchmarkRatioGate is the whole process, an event on stdin and the answer
// read: hookgate with serve, and hookc run, against a Go hello and /bin/true
// that are given the same, turn by turn. The ratios are of medians.
func BenchmarkRatioGate(b *testing.B) {
	r := newGateRig(b)
	r.serve(b)
	event := []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`)
	rows := []struct {
		unit string
		args []string
		took []time.Duration
	}{
		{"hello", []string{filepath.Join(r.dir, "hello.bin")}, nil},
		{"gate", []string{filepath.Join(r.dir, "hookgate"), "PreToolUse", "--dialect", "claude"}, nil},
		{"true", []string{"/bin/true"}, nil},
		{"run", []string{filepath.Join(r.dir, "hookc"), "run", "PreToolUse", "--dialect", "claude"}, nil},
	}
	for b.Loop() {
		for i := range rows {
			cmd := r.command(rows[i].args[0], rows[i].args[1:]...)
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout = bytes.NewReader(event), &out
			start := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(rows[i].unit, err)
			}
			rows[i].took = append(rows[i].took, time.Since(start))
		}
	}
	median := func(i int) float64 {
		slices.Sort(rows[i].took)
		return float64(rows[i].took[len(rows[i].took)/2])
	}
	for i, row := range rows {
		if row.unit != "hello" {
			b.ReportMetric(median(i)/median(0), row.unit+"/hello")
		}
	}
	b.ReportMetric(median(0)/1000, "hello-µs")
	r.answered(b, len(rows[1].took))
}
