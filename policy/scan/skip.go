package scan

// MaxDepth bounds the nesting of JSON.
const MaxDepth = 512

// Step is what follows in an object or a list.
type Step uint8

const (
	Broken Step = iota // what is no JSON, or is nested too deep
	Again
	Closed
)

// Open enters an object or a list.
func (s *Scanner) Open(depth int) Step {
	if depth >= MaxDepth {
		return Broken // whoever decodes slowly knows whether one level deeper still holds
	}
	close := s.Data[s.At] + 2 // '{' and '}', '[' and ']' are two apart
	s.At++
	if s.Space() == close {
		s.At++
		return Closed
	}
	return Again
}

// More goes on after an element.
func (s *Scanner) More(close byte) Step {
	switch s.Space() {
	case ',':
		s.At++
		return Again
	case close:
		s.At++
		return Closed
	}
	return Broken
}

// Skip passes over a value at a depth without making it. Keys that it repeats
// are not looked at.
func (s *Scanner) Skip(at int) bool {
	if s.Space() == '"' { // most are
		_, ok := s.SkipText()
		return ok
	}
	var lists [MaxDepth/64 + 1]uint64 // a bit for each level: a list
	depth := at
	for {
		switch c := s.Space(); c {
		case '{', '[':
			next := s.Open(depth)
			if next == Broken {
				return false
			}
			if next == Again {
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
		for next := Closed; next == Closed; {
			if depth == at {
				return true
			}
			list := lists[depth/64]>>(depth%64)&1 == 1
			close := byte('}')
			if list {
				close = ']'
			}
			if next = s.More(close); next == Broken {
				return false
			}
			if next == Closed {
				depth--
			} else if !list && !s.skipKey() {
				return false
			}
		}
	}
}

func (s *Scanner) skipKey() bool {
	if s.Space() != '"' {
		return false
	}
	if _, ok := s.SkipText(); !ok || s.Space() != ':' {
		return false
	}
	s.At++
	return true
}

// Members gives the members of an object, in order and each value as it is written,
// until give says false; a key has no escapes. False also is for text that is no such
// object. Keys that are repeated are not looked at.
func Members(object []byte, give func(key, value []byte) bool) bool {
	return MembersPassing(object, nil, give)
}

// MembersPassing is Members where pass may say of a key how long its value is, which
// what follows begins with: a value that it knows, or that somebody else will read, is
// not read here. 0 has it read.
func MembersPassing(object []byte, pass func(key, follows []byte) int, give func(key, value []byte) bool) bool {
	s := Scanner{Data: object}
	if s.Space() != '{' {
		return false
	}
	for next := s.Open(0); next != Closed; next = s.More('}') {
		if next == Broken || s.Space() != '"' {
			return false
		}
		key := s.At + 1
		plain, ok := s.SkipText()
		end := s.At - 1
		if !ok || !plain || s.Space() != ':' {
			return false
		}
		s.At++
		s.Space()
		value := s.At
		if pass != nil {
			s.At += pass(object[key:end], object[value:])
		}
		if s.At == value && !s.Skip(1) || !give(object[key:end], object[value:s.At]) {
			return false
		}
	}
	return s.End()
}
