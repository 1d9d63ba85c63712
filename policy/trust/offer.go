package trust

import (
	"errors"
	"fmt"

	"github.com/hookc/hookc/policy"
)

// Offer is what consent would cover, for the user to see before it is given.
type Offer struct {
	Consent
	store   *Store
	files   []policy.SourceFile
	entries []entry
}

// Offer looks at the files without recording anything.
func (s *Store) Offer(files []policy.SourceFile) (*Offer, error) {
	if s.noDir != nil {
		return nil, s.noDir
	}
	entries, err := digest(s.root, files)
	if err != nil {
		return nil, err
	}
	return &Offer{consent(entries, files), s, files, entries}, nil
}

// Accept records consent to what was offered. It fails when a file has changed
// since: nobody has seen that.
func (o *Offer) Accept() error {
	now, err := digest(o.store.root, o.files)
	if err != nil {
		return err
	}
	if changed := difference(o.entries, now); len(changed) > 0 {
		return errors.New(fmt.Sprint(changed[0], " changed while it was looked at: nothing is recorded; run hookc trust again"))
	}
	_, err = o.store.Trust(o.files)
	return err
}
