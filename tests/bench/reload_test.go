package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc"
)

// regoFiles writes a policy of n hooks, each in a Rego file of its own, and
// returns its path. Those of a library import it.
func regoFiles(b *testing.B, n int, library bool) string {
	b.Helper()
	dir := b.TempDir()
	var text strings.Builder
	if library {
		text.WriteString("rego: {paths: [lib]}\n")
		write(b, filepath.Join(dir, "lib", "shared.rego"), sharedFile(0))
		write(b, filepath.Join(dir, "lib", "other.rego"), "package lib.other\n\nx := 0\n")
	}
	text.WriteString("pre_tool_execution:\n")
	for i := range n {
		tool := "Bash"
		if i%10 > 0 {
			tool = fmt.Sprintf("Tool%d", i%10)
		}
		fmt.Fprintf(&text, "  - {name: r%d, filter: {tool_name: %s}, file: rules/r%d.rego}\n", i, tool, i)
		write(b, filepath.Join(dir, "rules", fmt.Sprintf("r%d.rego", i)), regoFile(i, 0, library))
	}
	path := filepath.Join(dir, "hooks.yaml")
	write(b, path, text.String())
	return path
}

func regoFile(n, edit int, library bool) string {
	test := fmt.Sprintf("contains(input.tool_input.command, \"forbidden-%d-%d\")", n, edit)
	if library {
		test = fmt.Sprintf("data.lib.shared.has(input.tool_input.command, \"forbidden-%d-%d\")", n, edit)
	}
	return "package rules\n\ndeny contains \"no\" if " + test + "\n"
}

func sharedFile(edit int) string {
	return fmt.Sprintf("package lib.shared\n\n# edit %d\nhas(text, part) if contains(text, part)\n", edit)
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRatioReload edits one file of a policy of 1,000 Rego files and measures
// the time until the edit is in force, against compiling all of it, and the time
// until its rules are fused again. The edited file is a rule's, a library's that
// no rule sees, or a library's that all see. A turn fires once on each plan.
func BenchmarkRatioReload(b *testing.B) {
	for _, bench := range []struct {
		name, file string
		library    bool
		text       func(edit int) string
	}{
		{"rule", "rules/r500.rego", false, func(edit int) string { return regoFile(500, edit, false) }},
		{"library-unseen", "lib/other.rego", true, func(edit int) string { return fmt.Sprintf("package lib.other\n\nx := %d\n", edit) }},
		{"library", "lib/shared.rego", true, sharedFile},
	} {
		b.Run(bench.name, func(b *testing.B) {
			path := regoFiles(b, 1000, bench.library)
			eng, err := hookc.Open(b.Context(), hookc.Files(path))
			if err != nil {
				b.Fatal(err)
			}
			defer eng.Close()
			var ratios, live, fused []float64
			for edit := 1; b.Loop(); edit++ {
				write(b, filepath.Join(filepath.Dir(path), bench.file), bench.text(edit))
				start := time.Now()
				if err := eng.Reload(b.Context()); err != nil {
					b.Fatal(err)
				}
				reloaded := time.Since(start)
				fire(b, eng, call())
				if err := eng.Settle(b.Context()); err != nil {
					b.Fatal(err)
				}
				fused = append(fused, time.Since(start).Seconds()*1000)
				fire(b, eng, call())
				start = time.Now()
				compile(b, 1000, []hookc.Option{hookc.Files(path)})
				ratios = append(ratios, float64(reloaded)/float64(time.Since(start)))
				live = append(live, reloaded.Seconds()*1000)
			}
			for unit, list := range map[string][]float64{"live/compile": ratios, "live-ms": live, "fused-ms": fused} {
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2], unit)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
