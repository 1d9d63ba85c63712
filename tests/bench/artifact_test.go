package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// compiledPolicy is a policy of n rules as sources and as an artifact.
type compiledPolicy struct{ source, artifact string }

func newCompiledPolicy(b *testing.B, r ruleText, n int) compiledPolicy {
	b.Helper()
	dir := b.TempDir()
	p := compiledPolicy{filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "policy.hookc")}
	if err := os.WriteFile(p.source, []byte(policyOf(r, n, 10)), 0o644); err != nil {
		b.Fatal(err)
	}
	x, found, err := hookc.NewArtifact(hookc.Files(p.source), hookc.SkipVerify())
	if err != nil || x == nil {
		b.Fatal(err, found.Render())
	}
	if err := x.WriteFile(p.artifact, nil); err != nil {
		b.Fatal(err)
	}
	return p
}

// loaded opens a policy and, with an event, decides it.
func loaded(b *testing.B, from hookc.Option, in *policy.Context, more ...hookc.Option) {
	eng, err := hookc.Open(context.Background(), append(more, from, hookc.SkipVerify())...)
	if err != nil {
		b.Fatal(err)
	}
	if in != nil {
		fire(b, eng, in)
	}
	if err := eng.Close(); err != nil {
		b.Fatal(err)
	}
}

// one is for a process that decides one event.
var one = host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event, c.Without = hookc.PreToolExecution, []string{"fuse"} })

// BenchmarkRatioArtifact is opening an artifact of 1,000 rules, ready to fire,
// against reading and compiling its sources: every event, one event alone, and
// one event with its first firing, which compiles the rules it concerns.
func BenchmarkRatioArtifact(b *testing.B) {
	for _, kind := range kinds {
		p := newCompiledPolicy(b, kind.rule, 1000)
		artifact, source := hookc.Artifact(p.artifact), hookc.Files(p.source)
		for _, how := range []struct {
			name string
			in   *policy.Context
			more []hookc.Option
		}{{"all", nil, nil}, {"one", nil, []hookc.Option{one}}, {"one-fire", call(), []hookc.Option{one}}} {
			b.Run(kind.name+"/"+how.name, func(b *testing.B) {
				ratio(b, "artifact/sources", 1,
					func() { loaded(b, artifact, how.in, how.more...) },
					func() { loaded(b, source, how.in, how.more...) })
			})
		}
	}
}

// BenchmarkArtifactOpen is opening an artifact of 1,000 rules, ready to fire.
func BenchmarkArtifactOpen(b *testing.B) {
	for _, kind := range kinds {
		p := newCompiledPolicy(b, kind.rule, 1000)
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				loaded(b, hookc.Artifact(p.artifact), nil)
			}
		})
	}
}
