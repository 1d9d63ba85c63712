// Command bench runs the benchmarks of tests/bench and writes their medians
// into docs/benchmarks.md. Run it in the root of the repository, on a machine
// that does nothing else; the text around the figures is written by hand.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const page = "docs/benchmarks.md"

// The figures stand between these lines of the page.
const begin, end = "<!-- figures -->\n", "<!-- end of figures -->"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for figures", page)
	}
	peers, err := os.MkdirTemp("", "hookc-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(peers)
	opa, err := installOPA(peers)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-count", "5", "-benchtime", "200ms", "-timeout", "60m", "./tests/bench")
	cmd.Env = append(os.Environ(), "HOOKC_BENCH_OPA="+opa)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(head+begin+"\n"+figures(&out)+end+tail), 0o644)
}

// installOPA builds the command of the OPA that hookc is built with, as users
// of it install theirs: outside of our module, which does not need what only
// the command does.
func installOPA(dir string) (string, error) {
	if path := os.Getenv("HOOKC_BENCH_OPA"); path != "" {
		return path, nil
	}
	const opa = "github.com/open-policy-agent/opa"
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", opa).Output()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "install", opa+"@"+strings.TrimSpace(string(version)))
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOBIN="+dir), os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("opa cannot be built: %w", err)
	}
	return filepath.Join(dir, "opa"), nil
}

// series is what one benchmark reported, by unit, in the order of appearance.
type series struct {
	name   string
	units  []string
	values map[string][]float64
}

var (
	resultLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	resultUnit = regexp.MustCompile(`([\d.e+-]+) (\S+)`)
)

func read(r io.Reader) []*series {
	var all []*series
	for scan := bufio.NewScanner(r); scan.Scan(); {
		m := resultLine.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		i := slices.IndexFunc(all, func(s *series) bool { return s.name == m[1] })
		if i < 0 {
			i = len(all)
			all = append(all, &series{name: m[1], values: map[string][]float64{}})
		}
		for _, u := range resultUnit.FindAllStringSubmatch(m[2], -1) {
			v, err := strconv.ParseFloat(u[1], 64)
			if err != nil {
				continue
			}
			if len(all[i].values[u[2]]) == 0 {
				all[i].units = append(all[i].units, u[2])
			}
			all[i].values[u[2]] = append(all[i].values[u[2]], v)
		}
	}
	return all
}

// median is the middle of what was reported.
func (s *series) median(unit string) float64 {
	v := slices.Clone(s.values[unit])
	slices.Sort(v)
	return v[len(v)/2]
}

// figures are two tables: what one operation costs, and what benchmarks report
// of themselves: ratios.
func figures(out io.Reader) string {
	all := read(out)
	var b strings.Builder
	b.WriteString("| benchmark | time | allocations | bytes |\n|---|---:|---:|---:|\n")
	for _, s := range all {
		if !strings.HasPrefix(s.name, "Ratio") {
			fmt.Fprintf(&b, "| `%s` | %s | %.0f | %s |\n", s.name, duration(s.median("ns/op")), s.median("allocs/op"), size(s.median("B/op")))
		}
	}
	b.WriteString("\n| ratio | figure | unit |\n|---|---:|---|\n")
	for _, s := range all {
		for _, u := range s.units {
			if strings.HasPrefix(s.name, "Ratio") && !slices.Contains([]string{"ns/op", "B/op", "allocs/op"}, u) {
				fmt.Fprintf(&b, "| `%s` | %.3g | %s |\n", s.name, s.median(u), u)
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}

// duration has three digits and the unit that suits it.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}} {
		if ns >= u.size {
			return number(ns/u.size) + " " + u.name
		}
	}
	return number(ns) + " ns"
}

func size(bytes float64) string {
	switch {
	case bytes >= 1<<20:
		return number(bytes/(1<<20)) + " MiB"
	case bytes >= 1<<10:
		return number(bytes/(1<<10)) + " KiB"
	}
	return number(bytes) + " B"
}

// number is a number with three digits, never in scientific form.
func number(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
