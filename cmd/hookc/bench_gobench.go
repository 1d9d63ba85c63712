package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookc/hookc/internal/spell"
)

// benchPackage is what the benchmarks are said to be of. It is the same for
// every policy and every hookc, since benchstat compares only what is.
const benchPackage = "github.com/hookc/hookc"

// gobench writes each round as a line of Go's benchmark format, which
// benchstat reads (https://go.dev/design/14313-benchmark-format).
func (b *bencher) gobench(out io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "goos: %s\ngoarch: %s\npkg: %s\n", runtime.GOOS, runtime.GOARCH, benchPackage)
	if name := cpuName(); name != "" {
		fmt.Fprintf(&s, "cpu: %s\n", name)
	}
	for _, c := range b.cases {
		for _, r := range c.rounds {
			benchLine(&s, r, true, "Plan", string(c.event.event), c.event.name, howInProcess)
		}
	}
	for _, e := range b.events {
		for _, h := range e.hooks {
			for _, r := range h.inChain {
				benchLine(&s, r, false, "Hook", string(e.event), e.name, h.name, "in-chain")
			}
			for _, r := range h.alone {
				benchLine(&s, r, true, "Hook", string(e.event), e.name, h.name, "alone")
			}
		}
	}
	_, err := io.WriteString(out, s.String())
	return written("figures", err)
}

// benchLine writes one round.
func benchLine(s *strings.Builder, r benchRound, allocations bool, name ...string) {
	s.WriteString("Benchmark" + benchName(name))
	fmt.Fprintf(s, "\t%d\t%s ns/op\t%s p50-ns\t%s p99-ns", r.runs, benchFigure(r.mean), benchFigure(r.p50), benchFigure(r.p99))
	if allocations {
		fmt.Fprintf(s, "\t%d B/op\t%d allocs/op", r.bytes, r.allocs)
	}
	s.WriteByte('\n')
}

// benchName joins the parts of a name that are not empty, as Go names
// sub-benchmarks: no spaces, nothing that cannot be printed, and at the end the
// number of cores, if there are more than one.
func benchName(parts []string) string {
	var b strings.Builder
	for i, part := range parts {
		if part == "" {
			continue
		}
		if i > 0 {
			b.WriteByte('/')
		}
		for _, r := range part {
			switch {
			case unicode.IsSpace(r):
				b.WriteByte('_')
			case !strconv.IsPrint(r):
				quoted := strconv.QuoteRune(r)
				b.WriteString(quoted[1 : len(quoted)-1])
			default:
				b.WriteRune(r)
			}
		}
	}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		fmt.Fprintf(&b, "-%d", n)
	}
	return b.String()
}

// benchFigure is a figure with four digits or so, never with an exponent.
func benchFigure(n float64) string {
	places := 0
	for limit := 999.95; places < 3 && n < limit; limit /= 10 {
		places++
	}
	return strconv.FormatFloat(n, 'f', places, 64)
}

// cpuName is the name of the processor, "" where it is not known.
func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := spell.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
