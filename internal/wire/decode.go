package wire

import (
	"strconv"
)

// frame tells of the beginning of a frame how long it is as a whole, header
// included; 0 when more must be read to tell. most bounds the body.
func frame(b []byte, magic string, most int) (int, error) {
	n := min(len(b), len(magic))
	if string(b[:n]) != magic[:n] {
		return 0, ErrFrame
	}
	if len(b) < headerSize {
		return 0, nil
	}
	size := le32(b[4:])
	if uint64(size) > uint64(most) {
		return 0, ErrFrame
	}
	return headerSize + int(size), nil
}

// RequestSize tells of what was read of a request how long it will be as a
// whole; 0 when more must be read to tell. The error is ErrFrame.
func RequestSize(b []byte) (int, error) { return frame(b, requestMagic, MaxRequest) }

// ReplySize is RequestSize for a reply, whose Working bytes are cut off.
func ReplySize(b []byte) (int, error) { return frame(b, replyMagic, MaxReply) }

// Beats counts the Working bytes that b begins with.
func Beats(b []byte) int {
	n := 0
	for n < len(b) && b[n] == Working {
		n++
	}
	return n
}

// body checks a whole frame and returns what is in it.
func body(b []byte, magic string, most int) ([]byte, error) {
	size, err := frame(b, magic, most)
	if err != nil {
		return nil, err
	}
	if size == 0 || size != len(b) || sum(b[headerSize:]) != le64(b[8:]) {
		return nil, ErrFrame
	}
	return b[headerSize:], nil
}

// next cuts off the first field.
func next(b []byte) (tag byte, value, rest []byte, err error) {
	if len(b) < 5 {
		return 0, nil, nil, ErrFrame
	}
	n := le32(b[1:])
	if uint64(n) > uint64(len(b)-5) {
		return 0, nil, nil, ErrFrame
	}
	return b[0], b[5 : 5+n], b[5+n:], nil
}

// decode gives the fields of a whole frame to set.
func decode(b []byte, magic string, most int, set func(tag byte, value []byte) error) error {
	b, err := body(b, magic, most)
	for err == nil && len(b) > 0 {
		var tag byte
		var value []byte
		if tag, value, b, err = next(b); err == nil {
			err = set(tag, value)
		}
	}
	return err
}

// DecodeRequest reads a whole frame. Input shares its memory. What is not
// understood is an error: it could be what makes the answer stricter.
func DecodeRequest(b []byte) (*Request, error) {
	r := &Request{}
	if err := decode(b, requestMagic, MaxRequest, r.set); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Request) set(tag byte, value []byte) (err error) {
	switch tag {
	case 'k':
		r.Kind = Kind(value)
	case 'b':
		r.Build = string(value)
	case 'd':
		r.Dir = string(value)
	case 'u':
		r.Umask, err = strconv.Atoi(string(value))
	case 't':
		r.Millis, err = strconv.Atoi(string(value))
	case 'a':
		r.Args = append(r.Args, string(value))
	case 'e':
		r.Environ = append(r.Environ, string(value))
	case 'i':
		r.Input = value
	default:
		return ErrFrame
	}
	if err != nil {
		return ErrFrame
	}
	return nil
}

// DecodeReply reads a whole frame. Stdout and Stderr share its memory.
func DecodeReply(b []byte) (*Reply, error) {
	r := &Reply{Exit: -1}
	err := decode(b, replyMagic, MaxReply, func(tag byte, value []byte) (err error) {
		switch tag {
		case 'r':
			r.Refused = string(value)
		case 'o':
			r.Stdout = value
		case 'e':
			r.Stderr = value
		case 'x':
			r.Exit, err = strconv.Atoi(string(value))
		default:
			err = ErrFrame
		}
		return err
	})
	if err != nil || r.Exit < 0 || r.Exit > 255 {
		return nil, ErrFrame
	}
	return r, nil
}
