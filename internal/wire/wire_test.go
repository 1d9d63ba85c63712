package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	aRequest = &Request{Kind: Decide, Build: "b", Dir: "/d", Args: []string{"run", ""}, Environ: []string{"A=1", "A=2"}, Umask: 18, Millis: 5000, Input: []byte("{}")}
	aReply   = &Reply{Stdout: []byte("out"), Stderr: []byte("err\n"), Exit: 2}
)

func TestRoundTrip(t *testing.T) {
	r, err := DecodeRequest(AppendRequest(nil, aRequest))
	require.NoError(t, err)
	assert.Equal(t, aRequest, r)
	a, err := DecodeReply(AppendReply([]byte("before"), aReply)[len("before"):])
	require.NoError(t, err)
	assert.Equal(t, aReply, a)
	refused := &Reply{Refused: "no", Stdout: []byte{}, Stderr: []byte{}}
	a, err = DecodeReply(AppendReply(nil, refused))
	require.NoError(t, err)
	assert.Equal(t, refused, a)
}

// TestDamage: no part of a frame, and none with a bit that is not its own, is
// a frame.
func TestDamage(t *testing.T) {
	for name, row := range map[string]struct {
		frame  []byte
		decode func([]byte) error
	}{
		"request": {AppendRequest(nil, aRequest), func(b []byte) error { _, err := DecodeRequest(b); return err }},
		"reply":   {AppendReply(nil, aReply), func(b []byte) error { _, err := DecodeReply(b); return err }},
	} {
		require.NoError(t, row.decode(row.frame))
		for n := range row.frame {
			require.ErrorIs(t, row.decode(row.frame[:n]), ErrFrame, "%s cut at %d", name, n)
			for bit := range 8 {
				row.frame[n] ^= 1 << bit
				require.ErrorIs(t, row.decode(row.frame), ErrFrame, "%s, byte %d", name, n)
				row.frame[n] ^= 1 << bit
			}
		}
		require.ErrorIs(t, row.decode(append(row.frame, 0)), ErrFrame, name)
	}
}

// TestUnknownField: a field that is not known could make the answer stricter.
func TestUnknownField(t *testing.T) {
	_, err := DecodeRequest(seal(field(append([]byte(requestMagic), make([]byte, headerSize-4)...), 'z', ""), 0))
	require.ErrorIs(t, err, ErrFrame)
	_, err = DecodeReply(seal(field(append([]byte(replyMagic), make([]byte, headerSize-4)...), 'r', ""), 0))
	require.ErrorIs(t, err, ErrFrame, "without an exit code")
}

func TestDir(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_RUNTIME_DIR": "/r", "HOME": "/h"}, "/r/hookc"},
		{map[string]string{"XDG_RUNTIME_DIR": "r", "XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/hookc/run"},
		{map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/hookc/run"},
		{nil, ""},
	} {
		assert.Equal(t, row.want, Dir(func(name string) string { return row.env[name] }))
	}
	assert.Equal(t, "/r/p1-abc.sock", Socket("/r", "abc"))
}
