// Package wire is what hookgate and hookc serve say to each other: one
// request and one reply on a connection of a unix socket, each a frame that
// is whole or refused. `hookc run --framed` writes its answer as the same
// reply, so that the gate tells an answer of hookc from whatever else a
// process may leave behind. It imports the standard library's smallest parts
// only: the gate starts on every event of an agent (performance.md §5).
package wire

import (
	"errors"
	"strconv"
)

// Version is the protocol's; it is part of the socket's name.
const Version = 1

// The bounds of a frame's body, in bytes: an event of 32 MiB with what goes
// with it, and an answer.
const (
	MaxRequest = 40 << 20
	MaxReply   = 40 << 20
)

// Kind is what a request asks for.
type Kind string

// The kinds of request. Only Decide is hookgate's; Queue is hookc run's, with a durable
// hook, and Share is of what the fleet shares; the others are those of `hookc serve status|stop|reload`.
const (
	Decide  Kind = "decide"
	Status  Kind = "status"
	Metrics Kind = "metrics"
	Reload  Kind = "reload"
	Stop    Kind = "stop"
	Queue   Kind = "queue"
	Share   Kind = "share"
)

// Request is one request. For Decide it carries all of the caller that a
// decision can depend on: what `hookc run` would see in its place.
type Request struct {
	Kind Kind
	// Build identifies the hookc that would run otherwise (BuildOf); "" when
	// there is none to compare with.
	Build string
	// Dir is the working directory, Args what follows `hookc`, Environ the
	// whole environment, Umask that of files.
	Dir     string
	Args    []string
	Environ []string
	Umask   int
	// Millis is how long the caller still waits.
	Millis int
	// Input is what the agent sent on stdin.
	Input []byte
}

// Reply is one reply. Refused says why the server does not answer and the
// caller must find another way; the rest is the answer otherwise.
type Reply struct {
	Refused string
	Stdout  []byte
	Stderr  []byte
	Exit    int
}

// Working is a byte that may come any number of times before a reply: the
// server is alive and not done.
const Working = 'w'

// Beat is how often a server that is not done says so, in milliseconds.
const Beat = 250

// ErrFrame is a frame that is not one, or not whole.
var ErrFrame = errors.New("wire: not a whole frame")

const (
	requestMagic = "HKG\x01"
	replyMagic   = "HKA\x01"
	// headerSize is the magic, the length of the body and its sum.
	headerSize = 4 + 4 + 8
)

// sum is FNV-1a over words of eight bytes: it tells a damaged frame, not a
// forged one.
func sum(b []byte) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ le64(b)) * prime
		h ^= h >> 32 // the product alone carries upwards only
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

// field appends one field of a body.
func field(b []byte, tag byte, value string) []byte {
	b = append(b, tag)
	b = append32(b, uint32(len(value)))
	return append(b, value...)
}

// AppendRequest appends the frame of a request.
func AppendRequest(b []byte, r *Request) []byte {
	start := len(b)
	b = append(append(b, requestMagic...), make([]byte, headerSize-len(requestMagic))...)
	b = field(b, 'k', string(r.Kind))
	b = field(b, 'b', r.Build)
	b = field(b, 'd', r.Dir)
	b = field(b, 'u', strconv.Itoa(r.Umask))
	b = field(b, 't', strconv.Itoa(r.Millis))
	for _, a := range r.Args {
		b = field(b, 'a', a)
	}
	for _, e := range r.Environ {
		b = field(b, 'e', e)
	}
	b = append(b, 'i')
	b = append32(b, uint32(len(r.Input)))
	b = append(b, r.Input...)
	return seal(b, start)
}

// AppendReply appends the frame of a reply.
func AppendReply(b []byte, r *Reply) []byte {
	start := len(b)
	b = append(append(b, replyMagic...), make([]byte, headerSize-len(replyMagic))...)
	b = field(b, 'r', r.Refused)
	b = field(b, 'o', string(r.Stdout))
	b = field(b, 'e', string(r.Stderr))
	b = field(b, 'x', strconv.Itoa(r.Exit))
	return seal(b, start)
}

func seal(b []byte, start int) []byte {
	body := b[start+headerSize:]
	put32(b[start+4:], uint32(len(body)))
	put64(b[start+8:], sum(body))
	return b
}
