package kit_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hookc/hookc/tests/programs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// released is a folder that .ci/snapshot has filled, and its version; without it
// the test is skipped.
func released(t *testing.T) (dir, version string) {
	t.Helper()
	dir = os.Getenv("HOOKC_TEST_SNAPSHOT")
	if dir == "" {
		t.Skip("HOOKC_TEST_SNAPSHOT is not set: it names the folder that .ci/snapshot fills")
	}
	var meta struct{ Version string }
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "dist", "metadata.json")), &meta))
	return dir, meta.Version
}

// platforms are those that a release is built for.
var platforms = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}

// sums are the checksums of a release, by the name of the file.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(read(t, dir, "dist", "checksums.txt")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		out[name] = sum
	}
	return out
}

// unpack has the files of an archive, by their names: of a zip, or a .tar.gz.
func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	data := []byte(read(t, path))
	out := map[string][]byte{}
	if !strings.HasSuffix(path, ".tar.gz") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			out[f.Name], err = io.ReadAll(r)
			require.NoError(t, err)
		}
		return out
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		assert.Equal(t, "root", h.Uname, h.Name)
		out[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}

func TestReleaseArchives(t *testing.T) {
	dir, version := released(t)
	all := sums(t, dir)
	for _, platform := range platforms {
		suffix, exe := ".tar.gz", ""
		if strings.HasPrefix(platform, "windows") {
			suffix, exe = ".zip", ".exe"
		}
		files := unpack(t, filepath.Join(dir, "dist", "hookc_"+version+"_"+platform+suffix))
		for _, name := range []string{"hookc" + exe, "hookgate" + exe, "LICENSE", "README.md", "completions/hookc.bash", "completions/_hookc", "completions/hookc.fish",
			"completions/hookc.ps1", "man/hookc.1", "man/hookc-run.1", "man/hookc-serve-status.1"} {
			assert.NotEmpty(t, files[name], "%s: %s", platform, name)
		}
		for _, program := range []string{"hookc", "hookgate"} {
			bom := "dist/" + program + "_" + version + "_" + platform + ".cdx.json"
			assert.Contains(t, all, filepath.Base(bom))
			text := read(t, dir, bom)
			assert.Contains(t, text, hex.EncodeToString(digest(files[program+exe])), "%s is of this program", bom)
			if program == "hookc" {
				assert.Contains(t, text, "pkg:golang/github.com/open-policy-agent/opa@v")
			}
		}
		if strings.HasPrefix(platform, "linux") {
			program, err := elf.NewFile(bytes.NewReader(files["hookc"]))
			require.NoError(t, err)
			needs, err := program.ImportedLibraries()
			require.NoError(t, err)
			assert.Empty(t, needs, "%s is static", platform)
		}
	}
	for name, sum := range all {
		assert.Equal(t, sum, hex.EncodeToString(digest([]byte(read(t, dir, "dist", name)))), name)
	}
	assert.Len(t, all, 6+2*6+2, "archives, SBOMs and Debian packages: %v", slices.Sorted(maps.Keys(all)))
	var says map[string]any
	program := filepath.Join(t.TempDir(), "hookc")
	require.NoError(t, programs.Write(program, unpack(t, filepath.Join(dir, "dist", "hookc_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))["hookc"]))
	require.NoError(t, json.Unmarshal([]byte(must(t, dir, environ(t), program, "version", "--json")), &says))
	assert.Regexp(t, "^[0-9a-f]{40}$", says["commit"])
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT`, says["date"])
	assert.Equal(t, false, says["dirty"])
}

func digest(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// TestReleaseTwice: two builds, in two folders, have the same checksums.
func TestReleaseTwice(t *testing.T) {
	dir, _ := released(t)
	again := os.Getenv("HOOKC_TEST_SNAPSHOT_AGAIN")
	if again == "" {
		t.Skip("HOOKC_TEST_SNAPSHOT_AGAIN is not set: it names the folder of a second build")
	}
	assert.Equal(t, sums(t, dir), sums(t, again))
	assert.Equal(t, read(t, dir, "hookc.rb"), read(t, again, "hookc.rb"))
}

func TestReleaseSBOMsFollowTheirSchema(t *testing.T) {
	kit := readers(t)
	dir, _ := released(t)
	boms, err := filepath.Glob(filepath.Join(dir, "dist", "*.cdx.json"))
	require.NoError(t, err)
	require.Len(t, boms, 12)
	for _, bom := range boms {
		text := must(t, dir, environ(t), "node", filepath.Join(source(t), "tests", "kit", "testdata", "read.mjs"), "sbom", bom, kit)
		var parts []struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(text), &parts), text)
		assert.NotEmpty(t, parts)
	}
	broken := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(broken, []byte(strings.Replace(read(t, boms[0]), `"library"`, `"book"`, 1)), 0o644))
	_, code := run(t, dir, environ(t), "node", filepath.Join(source(t), "tests", "kit", "testdata", "read.mjs"), "sbom", broken, kit)
	assert.NotZero(t, code, "the reader refuses what does not follow the schema")
}

// TestReleaseFormula: what Homebrew is told to fetch is what was built.
func TestReleaseFormula(t *testing.T) {
	dir, version := released(t)
	all := sums(t, dir)
	text := read(t, dir, "hookc.rb")
	found := regexp.MustCompile(`url "[^"]*/([^/"]*)"\n *sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(text, -1)
	require.Len(t, found, 4)
	for _, m := range found {
		assert.Equal(t, all[m[1]], m[2], m[1])
	}
	assert.Contains(t, text, fmt.Sprintf("version %q", version))
	files := unpack(t, filepath.Join(dir, "dist", "hookc_"+version+"_linux_amd64.tar.gz"))
	for _, m := range regexp.MustCompile(`"((?:hookc|hookgate|completions/[^"]*))"(?: =>|, |\n)`).FindAllStringSubmatch(text, -1) {
		assert.Contains(t, files, m[1], "the formula installs it")
	}
}

// onLinux skips where the packages of a release for this machine cannot be run.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the packages that are opened are those of linux/amd64")
	}
}

func TestReleaseDebianPackage(t *testing.T) {
	dir, version := released(t)
	onLinux(t)
	all, err := filepath.Glob(filepath.Join(dir, "dist", "*_amd64.deb"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	about := must(t, dir, environ(t), "dpkg-deb", "--field", all[0], "Package", "Architecture", "Version")
	assert.Equal(t, "Package: hookc\nArchitecture: amd64\nVersion: "+strings.Replace(version, "-", "~", 1)+"\n", about)
	to := t.TempDir()
	must(t, dir, environ(t), "dpkg-deb", "--extract", all[0], to)
	assert.Contains(t, must(t, to, environ(t), filepath.Join(to, "usr", "bin", "hookc"), "version"), "artifact format")
	assert.FileExists(t, filepath.Join(to, "usr", "bin", "hookgate"))
	for _, file := range []string{"man/man1/hookc.1", "bash-completion/completions/hookc", "zsh/vendor-completions/_hookc", "fish/vendor_completions.d/hookc.fish", "doc/hookc/copyright"} {
		assert.FileExists(t, filepath.Join(to, "usr", "share", file))
	}
	must(t, to, environ(t), "bash", "-n", filepath.Join(to, "usr", "share", "bash-completion", "completions", "hookc"))
}

// TestReleaseInNPM packs the packages, installs them from the tarballs, and starts
// hookc as npm's users do.
func TestReleaseInNPM(t *testing.T) {
	dir, _ := released(t)
	onLinux(t)
	packed := t.TempDir()
	env := environ(t, "npm_config_cache="+t.TempDir(), "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	pack := func(name string) string {
		out := strings.Fields(must(t, filepath.Join(dir, "npm", name), env, "npm", "pack", "--silent", "--pack-destination", packed))
		return filepath.Join(packed, out[len(out)-1])
	}
	wrapper, own, other := pack("hookc"), pack("linux-x64"), pack("win32-arm64")
	installed := func(tarballs ...string) string {
		home := t.TempDir()
		put(t, home, map[string]string{"package.json": `{"name":"user","private":true}`})
		must(t, home, env, "npm", append([]string{"install", "--no-save", "--omit=optional"}, tarballs...)...)
		return home
	}
	home := installed(wrapper, own)
	hookc := filepath.Join(home, "node_modules", ".bin", "hookc")
	assert.Contains(t, must(t, home, env, hookc, "version"), "artifact format")
	assert.Contains(t, must(t, home, env, filepath.Join(home, "node_modules", ".bin", "hookgate"), "--help"), "hookgate")
	put(t, home, map[string]string{"hooks.yaml": strict, "event.json": `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"deploy"}}`})
	out, code := run(t, home, env, "sh", "-c", `"$0" run -f hooks.yaml <event.json`, hookc)
	assert.Equal(t, 2, code, "a refusal stays one: %s", out)
	out, code = run(t, home, env, "npm", "install", "--no-save", other)
	assert.NotZero(t, code, "npm installs no package of another platform")
	assert.Contains(t, out, "EBADPLATFORM")
	// Without the programs nothing is let through.
	bare := filepath.Join(installed(wrapper), "node_modules", ".bin", "hookc")
	out, code = run(t, home, env, bare, "version")
	assert.Equal(t, 3, code, out)
	assert.Contains(t, out, "@hookc/linux-x64 is not installed")
	_, code = run(t, home, env, bare, "run", "PreToolUse", "--dialect", "claude")
	assert.Equal(t, 2, code, "an agent reads a refusal")
}

// TestReleaseInAnEmptyImage runs the program as the container does: with no other
// file below the root.
func TestReleaseInAnEmptyImage(t *testing.T) {
	dir, version := released(t)
	onLinux(t)
	file := read(t, dir, "Containerfile")
	require.Contains(t, file, "\nFROM scratch\nCOPY hookc hookgate /usr/bin/\n")
	require.Contains(t, file, "\nENTRYPOINT [\"/usr/bin/hookc\"]\n")
	image := t.TempDir()
	for _, name := range []string{"usr/bin", "work"} {
		require.NoError(t, os.MkdirAll(filepath.Join(image, name), 0o755))
	}
	files := unpack(t, filepath.Join(dir, "dist", "hookc_"+version+"_linux_amd64.tar.gz"))
	for _, name := range []string{"hookc", "hookgate"} {
		require.NoError(t, programs.Write(filepath.Join(image, "usr", "bin", name), files[name]))
	}
	put(t, image, map[string]string{"work/hooks.yaml": strict, "work/event.json": `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"deploy"}}`})
	path, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("no unshare: an empty root cannot be had here")
	}
	event, err := os.Open(filepath.Join(image, "work", "event.json"))
	require.NoError(t, err)
	defer event.Close()
	cmd := exec.CommandContext(t.Context(), path, "--map-root-user", "--root="+image, "--wd=/work", "/usr/bin/hookc", "run", "-f", "hooks.yaml")
	cmd.Env, cmd.Stdin = []string{}, event
	out, _ := cmd.CombinedOutput()
	assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "no deploys here")
}
