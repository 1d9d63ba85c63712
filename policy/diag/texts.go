package diag

import (
	_ "embed"
	"sync"

	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
)

// texts is codes.txt, packed: what hookc's own codes have to say at length. A text begins
// behind a line of ===, the code's id and help, bad or good, which is the field of Code.
//
//go:embed codes.txt.gz
var texts string

// written gives the codes their texts, once. They are asked for by people, never while an
// event is decided.
var written = sync.OnceFunc(func() {
	for heading, text := range packed.Parts(texts) {
		id, field, _ := spell.Cut(heading, " ")
		c := registry[id]
		if c == nil {
			continue // of a package that this program has not
		}
		switch field {
		case "help":
			c.Help = text
		case "bad":
			c.Bad = text
		case "good":
			c.Good = text
		}
	}
})
