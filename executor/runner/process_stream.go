package runner

import (
	"io"
	"os"
	"time"
)

// stream is one output of a process: what it writes is copied to a writer as
// it comes. exec.Cmd can do that too, but when it stops waiting for the end it
// throws away what is in the pipe and was not read yet: on a machine that was
// too busy for half a second, a guard's answer became no answer.
type stream struct {
	read, write *os.File
	done        chan struct{}
}

// openStream makes the pipe. The process is given write.
func openStream() (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{read: r, write: w, done: make(chan struct{})}, nil
}

// copyTo starts copying, once the process has the other end. settle ends it.
func (s *stream) copyTo(w io.Writer) {
	_ = s.write.Close() // the process has its own
	go func() {
		defer close(s.done)
		defer s.read.Close()
		// A pipe ends with EOF, or when settle interrupts it.
		_, _ = io.Copy(w, s.read)
		rest(s.read, w)
	}()
}

// settle waits until everything is copied that was written before it was
// called. It waits for the end of the stream, which a process that is still
// running can keep away, no longer than until patience ticks; held says that it
// did.
func (s *stream) settle(patience <-chan time.Time) (held bool) {
	select {
	case <-s.done:
		return false
	case <-patience:
	}
	if s.read.SetReadDeadline(time.Now()) != nil {
		_ = s.read.Close() // no deadlines on pipes here; closing interrupts too
	}
	<-s.done
	return true
}

// abandon closes a stream that no process was given.
func (s *stream) abandon() {
	_ = s.read.Close()
	_ = s.write.Close()
}
