package guard
import ("testing";"os";"strings";"fmt")
func TestScratch(t *testing.T) {
	g := guard(t, "shell-guard", option("packs","all"))
	data, _ := os.ReadFile("/tmp/unseen.txt")
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if len(line) < 3 || line[0]=='#' { continue }
		want, cmd := line[0], strings.ReplaceAll(line[2:], "⏎", "\n")
		r := decide(t, g, cmd, root)
		got := map[string]byte{"none":'A',"ask":'K',"deny":'D'}[r.Verdict.String()]
		if got == 0 { got = 'A' }
		if got != want { fmt.Printf("want %c got %c: %q | %.150s\n", want, got, cmd, told(r)) }
	}
}
