package policy

// skip passes over a value at a depth without making it. Keys that it repeats
// are not looked at.
func (s *scanner) skip(at int) bool {
	var lists [maxDepth/64 + 1]uint64 // a bit for each level: a list
	depth := at
	for {
		switch c := s.Space(); c {
		case '{', '[':
			next := s.open(depth)
			if next == broken {
				return false
			}
			if next == again {
				depth++
				lists[depth/64] &^= 1 << (depth % 64)
				if c == '[' {
					lists[depth/64] |= 1 << (depth % 64)
				} else if !s.skipKey() {
					return false
				}
				continue
			}
		case '"':
			if _, ok := s.SkipText(); !ok {
				return false
			}
		case 't', 'f', 'n':
			if c == 't' && !s.Word("true") || c == 'f' && !s.Word("false") || c == 'n' && !s.Word("null") {
				return false
			}
		default:
			if !s.SkipNumber() {
				return false
			}
		}
		for next := closed; next == closed; {
			if depth == at {
				return true
			}
			list := lists[depth/64]>>(depth%64)&1 == 1
			close := byte('}')
			if list {
				close = ']'
			}
			if next = s.more(close); next == broken {
				return false
			}
			if next == closed {
				depth--
			} else if !list && !s.skipKey() {
				return false
			}
		}
	}
}

func (s *scanner) skipKey() bool {
	if s.Space() != '"' {
		return false
	}
	if _, ok := s.SkipText(); !ok || s.Space() != ':' {
		return false
	}
	s.At++
	return true
}
