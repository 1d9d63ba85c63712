package approval

import (
	"context"
	"time"
)

const (
	// lookEvery is how often the store is looked at where the system does not tell of a
	// change.
	lookEvery = 200 * time.Millisecond
	// lookSeldom is how late an expiry is seen where it does, and what another machine
	// changed in a folder that is shared.
	lookSeldom = 5 * time.Second
)

// follow calls look at once and after every change of the store until it is done, fails
// or ctx ends, which is no error.
func (s *Store) follow(ctx context.Context, look func() (done bool, err error)) error {
	fleet, err := s.fleet()
	if err != nil {
		return err
	}
	watch := func() (<-chan struct{}, func()) { return notify(s.dir.Path()) }
	if fleet != nil {
		watch = fleet.Watch
	}
	changed, stop := watch()
	defer stop()
	every := lookEvery
	if changed != nil {
		every = lookSeldom
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
	}
}
