//go:build linux

package bash

import ("testing";"os";"time";"encoding/json";"bufio";"github.com/stretchr/testify/require")

func TestTmp(t *testing.T) {
	j, err := newJail()
	require.NoError(t, err)
	defer j.close()
	cwd := os.Getenv("CWD"); if cwd == "" { cwd = project }
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		line := sc.Text()
		var l string
		if json.Unmarshal([]byte(line), &l) == nil { line = l }
		st := time.Now()
		h, err := j.do(job{Shell: "bash", Line: line, Cwd: cwd})
		b, _ := json.Marshal(h)
		t.Logf("%q %v %v\n   %s", line, time.Since(st), err, b)
	}
}
