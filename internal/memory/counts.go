package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// Counting lets the rules that run under ctx keep their numbers in the memory. Without
// one nothing is kept, which they are told. around are the folders that an event is about (Around): its
// session is counted in the project it began in, wherever the agent has gone since.
func (m *Memory) Counting(ctx context.Context, around []string) context.Context {
	began := ""
	if len(around) > 0 {
		began = around[0]
	}
	return guard.WithCounts(ctx, counts{m, began})
}

// counts are the numbers that builtin rules keep from one event to the next. began
// is the folder in which the session of the event began, "" where m counts.
type counts struct {
	m     *Memory
	began string
}

const countsFile = "counts.json"

func (c counts) Count(key string, change func(old string) string) string {
	if c.began != "" {
		if first := Open(policy.ProjectRoot(c.began)); first.Path() != c.m.Path() {
			out := counts{m: first}.Count(key, change)
			c.m.note(first.Trouble())
			return out
		}
	}
	out := ""
	if c.m.change(countsFile, key, func(old []byte) []byte {
		if out = change(string(old)); out == "" {
			return nil
		}
		return []byte(out)
	}) != nil {
		return "" // it is not on the disk, and so it is not counted
	}
	return out
}

// togetherTime bounds how long a rule waits for its fleet.
const togetherTime = 3 * time.Second

// Together keeps a number for all machines of the fleet. What this machine counts alone
// meanwhile goes on from what it knows, and is counted there with the next that is.
func (c counts) Together(ctx context.Context, by, key string, change func(old string) string) ([]policy.Warning, error) {
	home, err := state.Home()
	if err != nil {
		return nil, err
	}
	here := counts{m: &Memory{dir: share.Dir(home)}} // one of all projects
	fleet, err := share.Open(home)
	if err != nil {
		return nil, err
	}
	if fleet == nil {
		if here.Count(key, change); here.m.Trouble() != nil {
			return here.m.Warnings(), guard.ErrNotKept
		}
		return here.m.Warnings(), nil
	}
	owed := 0
	take := func(old string) string { owed, _ = strconv.Atoi(old); return "" }
	if _, any := here.m.find(countsFile, owes+key); any {
		here.Count(owes+key, take)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), togetherTime) // a rule's own time is for what it computes
	defer cancel()
	sum, latest := sha256.Sum256([]byte(key)), ""
	err = fleet.Change(ctx, "count."+hex.EncodeToString(sum[:16]), func(old []byte) ([]byte, error) {
		latest = string(old)
		for range owed + 1 {
			latest = change(latest)
		}
		return []byte(latest), nil
	})
	if err == nil {
		here.Count(key, func(string) string { return latest })
		return here.m.Warnings(), nil
	}
	alone := fleet.Alone(err)
	if alone {
		here.Count(key, change)
		owed++
	}
	if owed > 0 {
		here.Count(owes+key, func(old string) string {
			n, _ := strconv.Atoi(old) // others may have counted meanwhile
			return strconv.Itoa(n + owed)
		})
	}
	if alone {
		warnings := append(here.m.Warnings(), share.Apart(by, "this machine counts alone", err))
		if here.m.Trouble() != nil {
			return warnings, guard.ErrNotKept
		}
		return warnings, nil
	}
	return []policy.Warning{share.Apart(by, "nothing is counted, and so it is refused", err)}, err
}

// owes is what the keys begin with of what was counted alone.
const owes = "owed "
