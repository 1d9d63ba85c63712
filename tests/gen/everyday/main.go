// Command everyday collects commands that people write down for each other, from
// the READMEs, documents, CI files, Makefiles and Dockerfiles of the modules in
// the Go module cache, and prints them as the corpus of tests/guard, one a line,
// as Go strings without the quotes.
//
// Its arguments are further folders of modules. A command is kept if bash reads it; whether it is harmless is not looked at.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// want is how many commands are kept; longest is how long one may be.
	want, longest = 5000, 600
	// fromEach bounds what one module gives, and perProgram what begins alike.
	fromEach, perProgram = 400, 450
)

func main() {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	found := map[string]string{} // command → module
	for _, root := range append(os.Args[1:], strings.TrimSpace(string(cache))) {
		collect(root, found)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Collected by go run ./tests/gen/everyday from READMEs, CI files, Makefiles and Dockerfiles of Go modules.")
	for _, c := range chosen(found) {
		quoted := strconv.Quote(c)
		fmt.Fprintln(out, quoted[1:len(quoted)-1])
	}
}

// collect finds the commands of the modules in a folder.
func collect(root string, found map[string]string) {
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (p == filepath.Join(root, "cache") || d.Name() == "testdata" || d.Name() == "vendor") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		read := readerOf(filepath.ToSlash(p))
		if read == nil {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil || len(data) > 1<<20 {
			return nil
		}
		rel, _ := filepath.Rel(root, p)
		module, _, _ := strings.Cut(filepath.ToSlash(rel), "@")
		for _, c := range read(string(data)) {
			c = strings.TrimSpace(c)
			if _, known := found[c]; !known && plausible(c) {
				found[c] = module
			}
		}
		return nil
	})
}

// chosen keeps some of each module and program, in an order that does not depend
// on where the commands stood.
func chosen(found map[string]string) []string {
	list := make([]string, 0, len(found))
	for c := range found {
		list = append(list, c)
	}
	sum := func(s string) uint64 { h := fnv.New64a(); _, _ = h.Write([]byte(s)); return h.Sum64() }
	slices.SortFunc(list, func(a, b string) int {
		if x, y := sum(a), sum(b); x < y {
			return -1
		} else if x > y {
			return 1
		}
		return 0
	})
	modules, programs, shapes := map[string]int{}, map[string]int{}, map[string]bool{}
	var out []string
	for _, c := range list {
		first, _, _ := strings.Cut(c, " ")
		shape := digits.ReplaceAllString(c, "0")
		if modules[found[c]] >= fromEach || programs[first] >= perProgram || shapes[shape] || len(out) >= want || !reads(c) {
			continue
		}
		modules[found[c]]++
		programs[first]++
		shapes[shape] = true
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// reads reports whether bash reads a command.
func reads(c string) bool { return exec.Command("bash", "-n", "-c", c).Run() == nil }

var (
	digits  = regexp.MustCompile(`[0-9]+`)
	fence   = regexp.MustCompile("(?m)^[ \t]*```+[ \t]*([A-Za-z-]*)[^\n]*\n((?s:.*?))^[ \t]*```+[ \t]*$")
	yamlRun = regexp.MustCompile(`(?m)^([ \t]*)(?:- )?run:[ \t]*(.*)$`)
	command = regexp.MustCompile(`^(?:\w+=\S* )*(?:[a-z][\w.+-]*|\./[\w./-]+)(?:[ ;|&]|$)`)
	prose   = regexp.MustCompile(`^[a-z]+ (?:is|are|was|the|a|an|to|of|and|or|in|that|will|can|has)\b|^(?:func|var|const|type|package|import|return|if err|module|require|struct|interface|select|from|create table|insert into) `)
)

// plausible reports whether a text looks like a command and not like what one
// prints.
func plausible(c string) bool {
	if len(c) < 2 || len(c) > longest || !command.MatchString(c) || prose.MatchString(strings.ToLower(c)) {
		return false
	}
	for _, mark := range []string{"${{", "{{", ":=", "…", "...\n", "\x00", " => ", "\t\t"} {
		if strings.Contains(c, mark) {
			return false
		}
	}
	return !strings.HasSuffix(c, "{") && !strings.HasSuffix(c, ":") && !strings.HasSuffix(c, ",")
}

// readerOf is how the commands of a file are found, nil for other files.
func readerOf(p string) func(string) []string {
	base := strings.ToLower(filepath.Base(p))
	switch {
	case strings.HasSuffix(base, ".md"):
		return markdown
	case strings.Contains(p, "/.github/workflows/") || strings.Contains(p, "/.circleci/") || base == ".travis.yml" || base == ".gitlab-ci.yml" || base == ".cirrus.yml":
		return workflow
	case base == "makefile" || strings.HasSuffix(base, ".mk"):
		return makefile
	case strings.HasPrefix(base, "dockerfile") || strings.HasSuffix(base, ".dockerfile"):
		return dockerfile
	}
	return nil
}

func markdown(text string) []string {
	var out []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		lang := strings.ToLower(m[1])
		prompted := strings.Contains("\n"+m[2], "\n$ ")
		switch {
		case lang == "sh" || lang == "bash" || lang == "shell" || lang == "zsh" || lang == "console" || lang == "shell-session" || lang == "shellsession" || lang == "terminal":
		case lang == "" && prompted:
		default:
			continue
		}
		out = append(out, lines(m[2], prompted)...)
	}
	return out
}

// lines joins what belongs together: continuations, here-documents, blocks. With
// a prompt, only what stands behind one is a command.
func lines(text string, prompted bool) []string {
	var out []string
	var open strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		plain := strings.TrimSpace(line)
		if open.Len() == 0 {
			if after, ok := strings.CutPrefix(plain, "$ "); ok {
				plain = after
			} else if prompted {
				continue
			}
			if plain == "" || plain[0] == '#' || plain[0] == '>' {
				continue
			}
			line = plain
		}
		if open.Len() > 0 {
			open.WriteByte('\n')
		}
		open.WriteString(line)
		whole := open.String()
		if strings.HasSuffix(whole, "\\") || !reads(whole) && strings.Count(whole, "\n") < 12 || strings.Contains(whole, "<<") && strings.Count(whole, "\n") < 12 && !closed(whole) {
			continue
		}
		out = append(out, whole)
		open.Reset()
	}
	return out
}

// closed reports whether a here-document has its end.
func closed(text string) bool {
	m := regexp.MustCompile(`<<-?\s*['"\\]?(\w+)`).FindStringSubmatch(text)
	return m == nil || strings.HasSuffix(strings.TrimRight(text, " \n"), "\n"+m[1]) || strings.HasSuffix(text, "\t"+m[1])
}

func workflow(text string) []string {
	var out []string
	for _, at := range yamlRun.FindAllStringSubmatchIndex(text, -1) {
		indent, value := text[at[2]:at[3]], strings.TrimSpace(text[at[4]:at[5]])
		if value != "" && !strings.HasPrefix(value, "|") && !strings.HasPrefix(value, ">") {
			out = append(out, strings.Trim(value, `"'`))
			continue
		}
		var block strings.Builder
		for line := range strings.Lines(strings.TrimPrefix(text[at[1]:], "\n")) {
			if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) <= len(indent) {
				break
			}
			block.WriteString(strings.TrimLeft(line, " "))
		}
		out = append(out, lines(block.String(), false)...)
		if whole := strings.TrimSpace(block.String()); strings.Count(whole, "\n") < 20 {
			out = append(out, whole)
		}
	}
	return out
}

func makefile(text string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "\\\n\t")) {
		recipe, ok := strings.CutPrefix(line, "\t")
		recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-+")
		if ok && !strings.Contains(strings.ReplaceAll(recipe, "$$", ""), "$") && !strings.HasSuffix(recipe, "\\") {
			out = append(out, strings.ReplaceAll(recipe, "$$", "$"))
		}
	}
	return out
}

func dockerfile(text string) []string {
	var out []string
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if run, ok := strings.CutPrefix(strings.TrimSpace(line), "RUN "); ok && !strings.HasPrefix(run, "[") && !strings.HasPrefix(run, "--") {
			out = append(out, strings.Join(strings.Fields(run), " "))
		}
	}
	return out
}
