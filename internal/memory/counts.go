package memory

import (
	"context"

	"github.com/hookc/hookc/builtins/guard"
)

// Counting lets the rules that run under ctx keep their numbers in the memory,
// where there is one.
func (m *Memory) Counting(ctx context.Context) context.Context {
	if m.dir == nil {
		return ctx
	}
	return guard.WithCounts(ctx, counts{m})
}

// counts are the numbers that builtin rules keep from one event to the next.
type counts struct{ m *Memory }

const countsFile = "counts.json"

func (c counts) Count(key string, change func(old string) string) string {
	out := ""
	c.m.change(countsFile, key, func(old []byte) []byte {
		if out = change(string(old)); out == "" {
			return nil
		}
		return []byte(out)
	})
	return out
}
