package shell

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkShell is the analysis of one command line, of the kinds agents run.
func BenchmarkShell(b *testing.B) {
	for _, bench := range []struct{ name, line string }{
		{"plain", "git status --short"},
		{"chain", "cd packages/web && npm ci && npm run build -- --mode production || exit 1"},
		{"pipe", `find src -name '*.ts' -print0 | xargs -0 grep -n "TODO" | sort | uniq -c | head -20`},
		{"folded", `tmp=$(mktemp -d); cleanup() { rm -rf "$tmp"; }; trap cleanup EXIT; curl -fsSL "https://example.com/a.tgz" -o "$tmp/a" && tar xzf "$tmp/a"`},
		{"heredoc", "python3 - <<'PY'\nimport json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['name'])\nPY"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			at := casePlace("/home/dev/project")
			for b.Loop() {
				Parse(bench.line, at)
			}
		})
	}
}

// BenchmarkShellCases is the analysis of the labelled cases: the time of one,
// and the median and the 99th percentile in microseconds.
func BenchmarkShellCases(b *testing.B) {
	cases := shellCases(b)
	took := make([]time.Duration, len(cases))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := cases[i%len(cases)]
		start := time.Now()
		Parse(c.Command, casePlace(c.Cwd))
		took[i%len(cases)] = time.Since(start)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}
