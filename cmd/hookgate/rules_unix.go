//go:build unix

package main

import (
	"strconv"
	"syscall"

	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy/artifact"
)

// byRules evaluates the rules of the hooks that an event concerns and says what
// comes of it; nil leaves it to hookc run.
func (c *call) byRules(f *artifact.File, answer *table.Answer) *rules.Reply {
	return rules.Evaluate(answer, func(name string) []byte {
		section, err := f.Section(name)
		if err != nil {
			return nil
		}
		return section
	}, c.limit)
}

// counted leaves behind in a project's state folder what hookc counts of hooks
// that ran: a line for each, which hookc adds up. false when that cannot be done.
func counted(dir, event string, ran []rules.Ran) bool {
	if len(ran) == 0 {
		return true
	}
	b := make([]byte, 0, 64*len(ran))
	for _, r := range ran {
		b = append(append(append(append(b, event...), '\t'), r.Hook...), '\t')
		b = append(strconv.AppendInt(b, int64(r.Took), 10), '\n')
	}
	var st syscall.Stat_t
	fd, err := syscall.Open(dir+"/"+table.Runs, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_APPEND|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || !mine(st.Uid) || st.Size+int64(len(b)) > table.MaxRuns {
		return false
	}
	n, err := syscall.Write(fd, b) // in one piece, beside what other gates write
	return n == len(b) && err == nil
}
