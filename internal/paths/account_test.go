package paths

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAccountOfPasswd: only a whole line of the number itself says who an account is, and
// no variable ever does.
func TestAccountOfPasswd(t *testing.T) {
	const text = "root:x:0:0:root:/root:/bin/sh\n+nis:x:7:7::/nis:\n-no:x:7:7::/no:\n:x:7:7::/none:\nshort:x:8:8\nu:x:17:7:U,,,:/home/u:/bin/sh\r\ntwice:x:17:7::/other:\nlast:x:9:9::/home/last"
	t.Setenv("HOME", "/forged")
	t.Setenv("USER", "forged")
	for uid, want := range map[string][2]string{"0": {"root", "/root"}, "17": {"u", "/home/u"}, "9": {"last", "/home/last"},
		"7": {"7", ""}, "8": {"8", ""}, "1": {"1", ""}, "": {"", ""}} {
		got := inPasswd(text, uid)
		assert.Equal(t, want, [2]string{got.Username, got.HomeDir}, uid)
	}
	if os.Getuid() == 0 {
		assert.NotContains(t, Account()+Name(), "forged")
	}
}
