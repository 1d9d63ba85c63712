package main

import (
	"os"
	"runtime"

	"github.com/hookc/hookc/internal/wire"
)

// run decides the event with hookc run, in a process of its own. Its answer
// comes in a frame, so that a process that dies, or whatever it leaves behind,
// is no answer. nil with why there is none.
func (c *call) run() (reply *wire.Reply, why string) {
	if c.hookc == "" {
		return nil, noHookc
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, noStart
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, noStart
	}
	runtime.LockOSThread() // the child ends with the thread that started it
	child, err := os.StartProcess(c.hookc, append([]string{"hookc", "run", "--framed"}, c.words()[1:]...), &os.ProcAttr{
		Env: environ(), Files: []*os.File{inR, outW, nil}, Sys: tied(),
	})
	inR.Close()
	outW.Close()
	if err != nil {
		return nil, noStart
	}
	c.child.Store(child)
	go func() {
		inW.Write(c.input) // a child that does not read it gives no answer
		inW.Close()
	}()
	reply = readReply(outR)
	if reply == nil {
		endChild(child)
		return nil, noAnswer
	}
	return reply, ""
}

// readReply reads the reply of a child, which need not end for it.
func readReply(f *os.File) *wire.Reply {
	b := make([]byte, 0, 4<<10)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.Read(b[len(b):cap(b)])
		if n == 0 || err != nil {
			return nil
		}
		b = b[:len(b)+n]
		if reply, more := replyIn(b); !more {
			return reply
		}
	}
}

// replyIn is the reply that was read; there is none where it does not count. more is true while
// it is not whole.
func replyIn(b []byte) (reply *wire.Reply, more bool) {
	size, err := wire.ReplySize(b)
	switch {
	case err != nil || size > 0 && len(b) > size:
		return nil, false
	case size == 0 || len(b) < size:
		return nil, true
	}
	if reply, err = wire.DecodeReply(b); err != nil || reply.Refused != "" {
		return nil, false
	}
	return reply, false
}
