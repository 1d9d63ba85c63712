package runner

import (
	"context"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// factTimeout bounds the command of a fact.
const factTimeout = 10 * time.Second

// Fact runs the command of a fact as a hook of its tier would be run, and returns
// what it printed, without the line breaks at the end.
func Fact(ctx context.Context, o Options, f *policy.Fact, in *policy.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, factTimeout)
	defer cancel()
	e, _ := policy.ParseEvent(in.Text(policy.FieldEvent))
	h := &policy.Hook{Name: "facts." + f.Name, Event: e, Kind: policy.KindBash, Tier: f.Tier, Dir: f.Dir, Span: f.Span,
		Body: policy.Body{Command: f.Command, Protocol: policy.JCLIProtocol}}
	b := newBash(o, h)
	if found := b.start(); found.HasErrors() {
		return "", found.Err()
	}
	out, err := b.run(ctx, in, b.env(ctx, in))
	if err != nil {
		return "", err
	}
	if out.Exit != 0 {
		return "", policy.Failf(policy.ErrExit, "exit status %d: %s", out.Exit, firstLine(out))
	}
	return strings.TrimRight(out.Stdout, "\r\n"), nil
}

func firstLine(out agent.Outcome) string {
	line, _, _ := strings.Cut(strings.TrimSpace(out.Stderr), "\n")
	return line
}
