//go:build unix

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookc/hookc/tests/depth"
)

// repo is one hostile repository: a name and what it lays out below its root.
type repo struct {
	name string
	make func(root string) error
}

// Repos is the corpus: each class of content in each place that hookc or an
// agent finds on its own.
func Repos() []repo {
	var out []repo
	places := []string{".hookc/hooks.yaml", "hooks.yaml", ".hookc/hooks.local.yaml"}
	for _, place := range places {
		for name, text := range contents() {
			if dear(name) && place != places[0] && !depth.Full() {
				continue // the first place means all
			}
			out = append(out, repo{place + " " + name, func(root string) error { return put(root, place, text) }})
		}
		for name, special := range specials() {
			out = append(out, repo{place + " is " + name, func(root string) error {
				path := filepath.Join(root, place)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				return special(path)
			}})
		}
	}
	out = append(out, trees()...)
	slices.SortFunc(out, func(a, b repo) int { return strings.Compare(a.name, b.name) })
	return out
}

// contents are texts of a policy that cost without end to expand, read or
// compile.
func contents() map[string]string {
	hook := "pre_tool_execution:\n"
	many := strings.Builder{}
	many.WriteString(hook)
	for i := range beyond(60_000, 20_000) {
		fmt.Fprintf(&many, "  - {name: r%d, deny: 'command contains \"x%d\"', reason: no}\n", i, i)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	return map[string]string{
		"includes the disk":       "include: [\"/**/*.yaml\"]\n",
		"includes upwards":        "include: [\"../../../../**/hooks.yaml\"]\n",
		"includes processes":      "include: [\"/proc/*/*/*/*\"]\n",
		"includes a terminal":     "include: [/dev/tty, /dev/stdin]\n",
		"includes without end":    "include: [/dev/zero]\n",
		"includes itself":         "include: [hooks.yaml, ./hooks.yaml, ../hooks.yaml]\n",
		"has many rules":          many.String(),
		"is a bomb":               bomb,
		"is deep":                 hook + strings.Repeat("[", 100_000),
		"is not text":             string([]byte{0xff, 0xfe, 0, 1, 2}),
		"is empty":                "",
		"reads Rego from a pipe":  hook + "  - {name: r, file: pipe.rego}\n",
		"reads data from memory":  "rego: {data: [/proc/kcore, /dev/zero]}\n" + hook + "  - {name: r, rego: 'package p'}\n",
		"reads data from a tree":  "rego: {data: [/], paths: [/]}\n" + hook + "  - {name: r, rego: 'package p'}\n",
		"has a slow expression":   hook + "  - {name: r, deny: '" + strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000) + "'}\n",
		"takes the guard's name":  hook + "  - {name: mine, override: true, deny: 'false'}\n",
		"shortens every deadline": "defaults: {chain_timeout: 1ms, max_concurrent: 1}\n" + hook + "  - {command: sleep 100}\n",
	}
}

// dear says which contents take seconds to read, however few of them there are.
func dear(content string) bool { return content == "has many rules" }

// beyond is how many of a thing a repository has: all at full depth, otherwise
// little more than the bound that hookc has for it.
func beyond(all, bound int) int {
	if depth.Full() {
		return all
	}
	return bound + bound/20
}

// specials are what a path can be but a file.
func specials() map[string]func(path string) error {
	return map[string]func(string) error{
		"a pipe":              func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a folder":            func(p string) error { return os.Mkdir(p, 0o755) },
		"a link to itself":    func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"a link to nowhere":   func(p string) error { return os.Symlink("/no/such/place", p) },
		"a link to a device":  func(p string) error { return os.Symlink("/dev/zero", p) },
		"a link to the disk":  func(p string) error { return os.Symlink("/", p) },
		"a file of 50 GB":     func(p string) error { return sparse(p, 50<<30) },
		"a file without read": func(p string) error { return os.WriteFile(p, []byte("x"), 0) },
	}
}

// trees are repositories whose folders are the attack.
func trees() []repo {
	return []repo{
		{"many hook folders", func(root string) error {
			for i := range beyond(30_000, 2_000) {
				if err := put(root, fmt.Sprintf(".agents/hooks/h%d/HOOK.md", i), "---\nname: h\ntrigger: pre-tool-call\n---\n"); err != nil {
					return err
				}
			}
			return nil
		}},
		{"a hook folder that is a pipe", func(root string) error {
			if err := os.MkdirAll(filepath.Join(root, ".agents"), 0o755); err != nil {
				return err
			}
			return syscall.Mkfifo(filepath.Join(root, ".agents", "hooks"), 0o600)
		}},
		{"a HOOK.md that is a pipe", func(root string) error {
			dir := filepath.Join(root, ".agents", "hooks", "a")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			return syscall.Mkfifo(filepath.Join(dir, "HOOK.md"), 0o600)
		}},
		{"hook folders that are the disk", func(root string) error {
			if err := os.MkdirAll(filepath.Join(root, ".agents"), 0o755); err != nil {
				return err
			}
			return os.Symlink("/", filepath.Join(root, ".agents", "hooks"))
		}},
		{"a deep tree", func(root string) error {
			dir := ".agents/hooks/" + strings.Repeat("d/", 500)
			return put(root, dir+"HOOK.md", "---\nname: h\n---\n")
		}},
		{"a folder nobody may look into", func(root string) error {
			if err := put(root, ".hookc/hooks.yaml", "stop: []\n"); err != nil {
				return err
			}
			return os.Chmod(filepath.Join(root, ".hookc"), 0)
		}},
		{"many names beside the policy", func(root string) error {
			for i := range beyond(20_000, 2_000) {
				if err := put(root, fmt.Sprintf(".hookc/hooks%d.yml", i), ""); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

func put(root, name, text string) error {
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func sparse(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}
