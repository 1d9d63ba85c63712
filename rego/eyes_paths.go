package rego

import (
	"sync"
	"sync/atomic"
)

// paths are the paths that were checked, and those that are being checked.
type paths struct {
	// recent are known paths that were taken of late, where a path is looked for
	// first.
	recent [32]atomic.Uint64
	known  atomic.Pointer[pathSet]
	mu     sync.Mutex
	under  map[uint64]bool
}

// maxPaths bounds the paths of a module; topdown decides what takes others.
const maxPaths = 4096

// verdict on a path.
type sight uint8

const (
	seen   sight = iota // topdown said the same before
	first               // nobody took it
	unsure              // a check is under way, or there is no room for one
)

// pathSet is a table of paths, of which at most half is taken; 0 is no path. It is
// not changed.
type pathSet struct {
	table []uint64
	n     int
}

func (s *pathSet) has(path uint64) bool {
	if s == nil {
		return false
	}
	for at := path; ; at++ {
		switch s.table[at&uint64(len(s.table)-1)] {
		case path:
			return true
		case 0:
			return false
		}
	}
}

// with is the set with a path that is not in it.
func (s *pathSet) with(path uint64) *pathSet {
	all := []uint64{path}
	if s != nil {
		all = append(all, s.table...)
	}
	out := &pathSet{n: 1, table: make([]uint64, 8)}
	if s != nil {
		out.n = s.n + 1
	}
	for len(out.table) < 2*out.n {
		out.table = make([]uint64, 2*len(out.table))
	}
	for _, p := range all {
		if p == 0 {
			continue
		}
		at := p
		for out.table[at&uint64(len(out.table)-1)] != 0 {
			at++
		}
		out.table[at&uint64(len(out.table)-1)] = p
	}
	return out
}

// sees reports whether a path is known.
func (p *paths) sees(path uint64) bool {
	path |= 1
	at := &p.recent[path>>59]
	if at.Load() == path {
		return true
	}
	if !p.known.Load().has(path) {
		return false
	}
	at.Store(path)
	return true
}

// look says what is known of a path, and begins its check when nothing is.
func (p *paths) look(path uint64) sight {
	if p.known.Load().has(path | 1) {
		return seen
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch known := p.known.Load(); {
	case known.has(path | 1):
		return seen
	case p.under[path|1], known != nil && known.n >= maxPaths:
		return unsure
	}
	if p.under == nil {
		p.under = map[uint64]bool{}
	}
	p.under[path|1] = true
	return first
}

// done ends the check of a path: whether topdown said the same.
func (p *paths) done(path uint64, same bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.under, path|1)
	if same {
		p.known.Store(p.known.Load().with(path | 1))
	}
}
