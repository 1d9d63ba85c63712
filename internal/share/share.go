// Package share has what the machines of a fleet hold in common: texts under keys, which
// hookcd serve of this machine reads and changes for every other process of the user. A
// change counts only where nobody else changed the text meanwhile, on any machine.
package share

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

// CodeApart is what a Decision says where this machine decides without its fleet.
var CodeApart = diag.Define("HK174", diag.Warning, "what the fleet shares cannot be reached").Guarding().Unprovoked("It takes a fleet that cannot be reached.")

// The postures: what holds on a machine that cannot reach its fleet.
const (
	Local = "local"
	Deny  = "deny"
)

// What a Request asks for. Get is one text; Put writes one whose revision is still that of the
// request; All are the texts whose keys begin so; Wait waits for a change after a revision.
const (
	Get  = "get"
	Put  = "put"
	All  = "all"
	Wait = "wait"
)

// Request is what a process asks of hookcd.
type Request struct {
	Do  string `json:"do"`
	Key string `json:"key,omitempty"`
	// Value may be missing; Revision of a key that was never written is 0.
	Value    []byte `json:"value,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
}

// Reply is its answer.
type Reply struct {
	Value    []byte            `json:"value,omitempty"`
	Values   map[string][]byte `json:"values,omitempty"`
	Revision uint64            `json:"revision,omitempty"`
	// Changed is true where another was faster: nothing was written. Away is why the fleet
	// cannot be reached; what was to be written may be, or not.
	Changed bool   `json:"changed,omitempty"`
	Away    string `json:"away,omitempty"`
}

// WaitTime is how long hookcd answers a Wait at the latest.
const WaitTime = time.Second

const (
	// callTime bounds one request.
	callTime = 3 * time.Second
	// againAfter is when a watch that failed is begun again.
	againAfter = 200 * time.Millisecond
	folder     = "share"
	file       = "fleet.json"
)

// AwayError says that the fleet cannot be reached, and why.
type AwayError struct{ Why string }

func (e *AwayError) Error() string { return "what the fleet shares cannot be reached: " + e.Why }

// Fleet is how this machine takes part in one. hookcd writes it when it starts.
type Fleet struct {
	// Socket is where hookcd answers, Machine what this machine is called.
	Socket  string `json:"socket"`
	Machine string `json:"machine"`
	// OnPartition is Local or Deny.
	OnPartition string `json:"on_partition"`
}

// Dir is where this machine keeps what it knows of its fleet, in hookc's state folder.
//
//go:noinline
func Dir(home string) *state.Dir { return state.Within(home, folder) }

// Open is the fleet of this machine, nil where it is in none.
//
//go:noinline
func Open(home string) (*Fleet, error) {
	data, err := Dir(home).Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := &Fleet{}
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err == nil && f.OnPartition != Local && f.OnPartition != Deny {
		err = fault.Errorf("on_partition is %q, neither %s nor %s", f.OnPartition, Local, Deny)
	}
	if err != nil {
		return nil, fault.Errorf("how this machine takes part in its fleet cannot be read (start hookcd serve again): %w", err)
	}
	return f, nil
}

// Join has every process of this user take part in a fleet; nil is in none.
func Join(home string, f *Fleet) error {
	if f == nil {
		if known, err := Open(home); known == nil && err == nil {
			return nil
		}
		return Dir(home).Update(file, func([]byte) ([]byte, error) { return nil, nil })
	}
	return Dir(home).Update(file, func([]byte) ([]byte, error) { return json.Marshal(f) })
}

// Alone reports whether this machine goes on without its fleet, as err says that it
// cannot be reached.
func (f *Fleet) Alone(err error) bool {
	var away *AwayError
	return f != nil && f.OnPartition == Local && errors.As(err, &away)
}

// Reached is an AwayError while the fleet cannot be reached.
func (f *Fleet) Reached(ctx context.Context) error {
	_, err := f.Do(ctx, &Request{Do: Get, Key: "ping"})
	return err
}

// Apart is what a Decision says of err.
func Apart(by, what string, err error) policy.Warning {
	return policy.Warning{Code: CodeApart, Hook: by, Text: what + ": " + err.Error()}
}

// String says what is declared.
func (f *Fleet) String() string {
	return fmt.Sprintf("shared with the fleet: approvals, and counts of managed rules; on partition: %s", f.OnPartition)
}

// Do has hookcd carry out one request. An AwayError says that the fleet cannot be reached.
func (f *Fleet) Do(ctx context.Context, r *Request) (*Reply, error) {
	input, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	said, err := Send(ctx, f.Socket, &wire.Request{Kind: wire.Share, Input: input}, callTime)
	switch {
	case ctx.Err() != nil:
		return nil, &AwayError{Why: "it takes too long"}
	case err != nil:
		return nil, &AwayError{Why: "no hookcd serve answers"}
	case said.Refused != "":
		return nil, &AwayError{Why: said.Refused}
	}
	out := &Reply{}
	if err := json.Unmarshal(said.Stdout, out); err != nil {
		return nil, err
	}
	if out.Away != "" {
		return nil, &AwayError{Why: out.Away}
	}
	return out, nil
}

// Change changes one text by compare-and-set: change is called again for as long as others
// are faster, gets nil for a text that was never written, and ends it by an error.
func (f *Fleet) Change(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	for {
		old, err := f.Do(ctx, &Request{Do: Get, Key: key})
		if err != nil {
			return err
		}
		value, err := change(old.Value)
		if err != nil || bytes.Equal(value, old.Value) {
			return err
		}
		said, err := f.Do(ctx, &Request{Do: Put, Key: key, Value: value, Revision: old.Revision})
		if err != nil || !said.Changed {
			return err
		}
	}
}

// Watch tells of changes on any machine, of several at once perhaps, until stop.
func (f *Fleet) Watch() (changed <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	news, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for seen := uint64(0); ctx.Err() == nil; {
			said, err := f.Do(ctx, &Request{Do: Wait, Revision: seen})
			if err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(againAfter):
				}
				continue
			}
			if said.Revision == seen {
				continue
			}
			seen = said.Revision
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}()
	return news, func() { cancel(); <-ended }
}

// Send sends one request to the server on a socket and returns its reply, once the
// server has closed the connection: within wait, and before ctx ends.
func Send(ctx context.Context, socket string, r *wire.Request, wait time.Duration) (*wire.Reply, error) {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(wire.AppendRequest(nil, r)); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(conn, wire.MaxReply))
	if err != nil {
		return nil, err
	}
	return wire.DecodeReply(data[wire.Beats(data):])
}
