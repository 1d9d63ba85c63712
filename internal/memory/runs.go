package memory

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
)

// runs is what hookgate wrote of the hooks it evaluated itself, nil when there is
// nothing of that kind.
func (m *Memory) runs(name string) []byte {
	path := filepath.Join(m.Path(), name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, table.MaxRuns))
	if err != nil {
		return nil
	}
	return data
}

// takeRuns takes it away. The caller holds the lock of the counters; a line that
// a gate is writing meanwhile may be lost.
func (m *Memory) takeRuns() []byte {
	const taken = table.Runs + ".taken"
	path := filepath.Join(m.Path(), taken)
	if os.Rename(filepath.Join(m.Path(), table.Runs), path) != nil {
		return nil // there is nothing
	}
	data := m.runs(taken)
	os.Remove(path)
	return data
}

// addRuns counts the runs of such lines; what is no line is passed over.
func addRuns(to *hookc.Metrics, lines []byte) {
	for line := range bytes.Lines(lines) {
		parts := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		if len(parts) != 3 || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		event, known := policy.ParseEvent(string(parts[0]))
		took, err := strconv.ParseInt(string(parts[2]), 10, 64)
		if known && err == nil && took >= 0 && len(parts[1]) > 0 {
			to.Ran(event, string(parts[1]), time.Duration(took))
		}
	}
}
