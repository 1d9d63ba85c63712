//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func ids(list diag.List) []string {
	out := []string{}
	for _, d := range list {
		out = append(out, d.Code.ID)
	}
	return out
}

func TestBashLints(t *testing.T) {
	dir := t.TempDir()
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"ok.sh": {"echo {}\n", 0o755}, "plain.sh": {"echo {}\n", 0o644},
		"block.sh": {"# a guard\nif true; then exit 2; fi\n", 0o755}, "comment.sh": {"# exit 2 blocks\nexit 0\n", 0o755},
		"block.py": {"import sys\nsys.exit(2)\n", 0o644},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(file.text), file.mode))
	}
	rows := []struct {
		command  string
		protocol policy.Protocol
		want     []string
		at       string
	}{
		{"./ok.sh", "", []string{}, ""},
		{"  X=1 ./ok.sh --flag | cat", "", []string{}, ""},
		{"./plain.sh", "", []string{"HK091"}, "./plain.sh"},
		{"sh ./plain.sh", "", []string{}, ""},
		{"./none.sh a b", "", []string{"HK090"}, "./none.sh"},
		{`"$HOOKC_POLICY_DIR/ok.sh"`, "", []string{}, ""},
		{`"$HOOKC_POLICY_DIR/none.sh"`, "", []string{"HK090"}, `"$HOOKC_POLICY_DIR/none.sh"`},
		{"$SOMEWHERE/none.sh", "", []string{}, ""},
		{"/no/where.sh", "", []string{"HK090"}, "/no/where.sh"},
		{"jq . && echo {}", "", []string{}, ""},
		{"grep -q x && exit 2", "", []string{"HK120"}, "exit 2"},
		{"grep -q x && exit 2", "claude", []string{}, ""},
		{"exit 20", "", []string{}, ""},
		{"# exit 2", "", []string{}, ""},
		{"./block.sh", "", []string{"HK120"}, "./block.sh"},
		{"./block.sh", policy.AgentHooksProtocol, []string{}, ""},
		{"./comment.sh", "", []string{}, ""},
		{"python3 -u ./block.py", "", []string{"HK120"}, "python3 -u ./block.py"},
	}
	for _, row := range rows {
		t.Run(row.command+string(row.protocol), func(t *testing.T) {
			source := diag.NewSource("hooks.yaml", row.command)
			h := shell("", row.protocol)
			h.Dir = dir
			h.Body.Command = diag.NewText(row.command, diag.Span{Source: source, End: len(row.command)}, []diag.Mark{{}})
			_, list := prepare(t, h)
			require.Equal(t, row.want, ids(list))
			if len(list) > 0 {
				assert.Equal(t, row.at, row.command[list[0].Span.Start:list[0].Span.End])
				assert.Equal(t, "h", list[0].Hook)
				assert.Equal(t, strings.HasPrefix(row.at, "/") || strings.HasPrefix(row.at, `"$`), list[0].Hint == "")
			}
		})
	}
}
