//go:build unix

package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// What a process has written is its answer, though the machine was too busy to
// read it and something else keeps the stream open: half an answer of a guard,
// or none, would be an approval.
func TestStreamLosesNothing(t *testing.T) {
	now := make(chan time.Time)
	close(now) // patience is over at once, mostly before the copying has begun
	for i := range 500 {
		s, err := openStream()
		require.NoError(t, err)
		fd, err := dup(s.write)
		require.NoError(t, err)
		want := fmt.Sprint(i, string(bytes.Repeat([]byte("x"), i*100)))
		_, err = fd.WriteString(want)
		require.NoError(t, err)
		var got bytes.Buffer
		s.copyTo(&got)
		s.settle(now)
		assert.Equal(t, want, got.String())
		require.NoError(t, fd.Close())
	}
}

// dup is another end of the same pipe, as a process that was started has it.
func dup(f *os.File) (*os.File, error) {
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// lateContext is over later than its deadline says, as on a busy machine.
type lateContext struct {
	context.Context
	until time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.until, true }

// A process whose time ended while its streams were held had no time left,
// whichever is noticed first.
func TestHeldStreamsAndTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*linger)
	defer cancel()
	c := command{path: "/bin/sh", args: []string{"sh", "-c", "sleep 30 & exit 0"}, limit: maxStdout}
	_, err := c.run(lateContext{ctx, time.Now().Add(linger / 2)})
	assert.Equal(t, policy.ErrTimeout, policy.KindOf(err))
	_, err = c.run(t.Context())
	assert.NoError(t, err, "nobody gave it a limit")
}
