package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// formula writes the formula of Homebrew, of the archives that goreleaser left in
// dist and their checksums.
func formula(dist, to string) error {
	var meta struct{ Version, Tag string }
	if err := readJSON(filepath.Join(dist, "metadata.json"), &meta); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "class Hookc < Formula\n  desc \"Policy engine for the hooks of AI agents\"\n  homepage \"https://github.com/hookc/hookc\"\n"+
		"  version %q\n  license \"Apache-2.0\"\n", meta.Version)
	for _, system := range [][2]string{{"darwin", "macos"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", system[1])
		for _, arch := range [][2]string{{"amd64", "intel"}, {"arm64", "arm"}} {
			name := fmt.Sprintf("hookc_%s_%s_%s.tar.gz", meta.Version, system[0], arch[0])
			sum := ""
			for line := range strings.Lines(string(sums)) {
				if hash, file, _ := strings.Cut(strings.TrimSpace(line), "  "); file == name {
					sum = hash
				}
			}
			if sum == "" {
				return fmt.Errorf("no checksum of %s", name)
			}
			fmt.Fprintf(&b, "    on_%s do\n      url \"https://github.com/hookc/hookc/releases/download/%s/%s\"\n      sha256 %q\n    end\n", arch[1], meta.Tag, name, sum)
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "hookc", "hookgate"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/hookc.bash" => "hookc"
    zsh_completion.install "completions/_hookc"
    fish_completion.install "completions/hookc.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hookc version")
  end
end
`)
	return put(to, b.Bytes(), 0o644)
}
