package decide

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// WorkVariable is the variable that names the run of a durable hook to the hook: the
// same for each attempt, so that what it does twice can be told.
const WorkVariable = "HOOKC_WORK_ID"

// queueTime bounds how long a durable hook is put into a queue.
const queueTime = 3 * time.Second

// keep puts a durable hook into the queue of this process, else into that of hookcd
// serve. The error says that it is in neither.
func (s *Sources) keep(ctx context.Context, from *Caller, h *HandOver) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), queueTime)
	defer cancel()
	if s.Queue != nil {
		return s.Queue(ctx, h)
	}
	dir := wire.Dir(from.Getenv)
	build, err := wire.OwnBuild()
	if dir == "" || err != nil {
		return errors.Join(errors.New("no hookcd serve can be asked"), err)
	}
	work, err := json.Marshal(h)
	if err != nil {
		return err
	}
	reply, err := share.Send(ctx, wire.Socket(dir, build), &wire.Request{Kind: wire.Queue, Input: work}, queueTime)
	switch {
	case err != nil:
		return errors.New("no hookcd serve is running")
	case reply.Refused != "":
		return errors.New(reply.Refused)
	case len(reply.Stdout) > 0:
		return &durable.NotKeptError{Why: string(reply.Stdout)}
	}
	return nil
}

// workID names one run of a durable hook. An event that an agent names (tool_use_id) and
// that is decided twice, by another process since the first was too slow, has one.
func workID(n *dag.Node, in *policy.Context, input []byte) string {
	if in.Text(policy.FieldToolUseID) == "" || in.Text(policy.FieldSessionID) == "" {
		return rand.Text()
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", n.Hook.Event, n.Hook.Name, n.Hook.Tier)
	sum.Write(input)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Work is what hookcd says of its queue, in a file of hookc's state folder.
type Work struct {
	// At is when it was written.
	At time.Time `json:"at"`
	// Waiting are the hooks that have not run yet, Elsewhere those of them that the
	// machines of the fleet share.
	Waiting   int `json:"waiting"`
	Elsewhere int `json:"elsewhere,omitempty"`
	// Dead are those that failed too often and are not tried any more, the last first.
	Dead []DeadLetter `json:"dead,omitempty"`
	// Trouble is why the queue of the fleet cannot be reached.
	Trouble string `json:"trouble,omitempty"`
}

// DeadLetter is a durable hook that failed too often.
type DeadLetter struct {
	ID       string       `json:"id"`
	Event    policy.Event `json:"event"`
	Hook     string       `json:"hook"`
	Machine  string       `json:"machine,omitempty"`
	Attempts int          `json:"attempts"`
	Error    string       `json:"error"`
	At       time.Time    `json:"at"`
}

// WorkFolder is where hookcd keeps its queue, in the folder that holds hookc's state.
func WorkFolder(home string) string { return filepath.Join(home, "queue") }

// ReadWork is what hookcd wrote last, nil where it has no queue.
func ReadWork(home string) (*Work, error) {
	data, err := os.ReadFile(filepath.Join(WorkFolder(home), "status.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := &Work{}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, err
	}
	return w, nil
}

// FleetLines say what this machine shares with a fleet, and what is wrong with that; none
// where it shares nothing.
func FleetLines(ctx context.Context) []string {
	home, err := state.Home()
	if err != nil {
		return nil // which other lines say
	}
	fleet, err := share.Open(home)
	if err != nil {
		return []string{err.Error()}
	}
	if fleet == nil {
		return nil
	}
	out := []string{fleet.String()}
	if err := fleet.Reached(ctx); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// Lines say what a person must know of the queue.
func (w *Work) Lines() []string {
	if w == nil {
		return nil
	}
	var out []string
	if w.Waiting+w.Elsewhere > 0 {
		out = append(out, fmt.Sprintf("durable hooks that wait to run: %d here, %d in the fleet (%s)", w.Waiting, w.Elsewhere, w.At.Local().Format(time.TimeOnly)))
	}
	if w.Trouble != "" {
		out = append(out, "the fleet's queue: "+w.Trouble)
	}
	for _, d := range w.Dead {
		out = append(out, fmt.Sprintf("dead letter %s: %s on %s failed %d times on %s, and is not run again: %s", d.ID, d.Hook, d.Event, d.Attempts, lists.First(d.Machine, "this machine"), d.Error))
	}
	return out
}
