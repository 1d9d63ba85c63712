package trust

import (
	"reflect"

	"github.com/hookc/hookc/internal/fault"
)

// Offer is what consent would cover, for the user to see before it is given.
type Offer struct {
	Consent
	store *Store
	parts []Part
	shown *consent
}

// Offer looks at the files without recording anything. It fails when a file
// cannot be read: what cannot be read cannot be agreed to.
func (s *Store) Offer(parts []Part) (*Offer, error) {
	if s.noDir != nil {
		return nil, s.noDir
	}
	shown, given, err := s.digest(parts, nil)
	if err != nil {
		return nil, fault.Errorf("looking at what would be trusted: %w", err)
	}
	return &Offer{given, s, parts, shown}, nil
}

// Accept records consent to what was offered. It fails when a file has changed
// since: nobody has seen that.
func (o *Offer) Accept() error {
	_, err := o.store.trust(o.parts, func(now *consent) error {
		if !reflect.DeepEqual(now.Parts, o.shown.Parts) {
			return fault.Errorf("%s changed while it was looked at: nothing is recorded; run hookc trust again", o.store.root)
		}
		return nil
	})
	return err
}
