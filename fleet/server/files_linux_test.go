package server

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOpenFiles: a server that could take no connection for want of files takes them again.
func TestOpenFiles(t *testing.T) {
	_, url := listening(t, nil)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	var open []net.Conn
	end := func() {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
		for _, c := range open {
			c.Close()
		}
	}
	defer end()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: before.Max}))
	for { // until neither the client nor the server has a file
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			break
		}
		open = append(open, c)
	}
	time.Sleep(100 * time.Millisecond)
	end()
	open = nil
	assert.Equal(t, http.StatusOK, post(t, &http.Client{Transport: &http.Transport{}}, url+"/v1/events/pre_tool_execution", remove).status)
}
