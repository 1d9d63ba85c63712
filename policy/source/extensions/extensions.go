// Package extensions finds the extensions of Gemini CLI and its forks, and which of them
// are enabled, as the programs do (tests/agents compares the two).
package extensions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/pattern"
)

// Program is what one of the programs does with its extensions.
type Program struct {
	// Manifest is the file that makes a folder an extension: gemini-extension.json.
	Manifest string
	// Inline is true for Qwen Code: the manifest may hold hooks or name their file, names
	// have further letters, and no version is needed.
	Inline bool
	// Settings is false where what users set of an extension does not reach its hooks.
	Settings bool
	// Allowed are patterns of the sources that extensions may have, none for all; without
	// any, NoRemote keeps out those that came from a repository.
	Allowed  []string
	NoRemote bool
}

// Extension is one that is installed: its name, the folder of its files, and the file
// that holds its hooks, "" if there is none.
type Extension struct {
	Name, Root, Hooks string
	// Set is what its user set, as variables for its hooks in the order declared, and
	// Variables that with whatever else stands beside it. Unread says which of it hookc
	// does not read, "" if there is none.
	Set       []Value
	Variables map[string]string
	Unread    string
	// Off is the rule that disables it in the workspace, and Lost why the program does
	// not load it; "" is neither.
	Off, Lost string
}

// Value is a variable.
type Value struct{ Name, Value string }

type metadata struct{ Type, Source string }

type manifest struct {
	Name     any
	Version  any
	Hooks    any
	Settings []struct {
		EnvVar    string
		Sensitive bool
	}
}

// Rules is where the folder of extensions holds the rules that disable them.
//
//go:noinline
func Rules(folder string) string { return filepath.Join(folder, "extension-enablement.json") }

// Find finds the extensions in their folder, in the order loaded, for a program started
// in a workspace. looked are the files that decided, there or not.
func (p *Program) Find(folder, workspace string) (out []Extension, looked []string) {
	looked = append(looked, Rules(folder))
	enabled, wrong := p.rules(folder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, looked
	}
	seen := map[string]bool{}
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		x := Extension{Name: e.Name(), Root: dir}
		x.Lost = p.read(dir, &x, &looked)
		switch {
		case x.Lost != "":
		case seen[x.Name]:
			x.Lost = "another one has its name: the program does not start"
		case wrong[x.Name]:
			x.Lost = "its rules in " + filepath.Base(Rules(folder)) + " are not a list of texts"
		default:
			seen[x.Name] = true
			x.Off = off(enabled[x.Name], workspace)
			p.set(folder, workspace, &x, &looked)
		}
		out = append(out, x)
	}
	return out, looked
}

// read reads what the extension in a folder says of itself; it returns why the program
// does not load it, "" where it does.
func (p *Program) read(dir string, x *Extension, looked *[]string) string {
	installed := filepath.Join(dir, "."+strings.TrimSuffix(p.Manifest, ".json")+"-install.json")
	*looked = append(*looked, installed)
	var from metadata
	_ = decode(installed, &from) // the program goes on without it
	if why := p.refused(&from); why != "" {
		return why
	}
	if from.Type == "link" {
		if !filepath.IsAbs(from.Source) { // it would be another folder for each workspace
			return fmt.Sprintf("it is a link to %q, which is no absolute path", from.Source)
		}
		x.Root = filepath.Clean(from.Source)
	}
	path := filepath.Join(x.Root, p.Manifest)
	*looked = append(*looked, path)
	var says manifest
	if err := decode(path, &says); err != nil {
		return err.Error()
	}
	name, _ := says.Name.(string)
	letters := "^[a-zA-Z0-9-]+$"
	if p.Inline {
		letters = `^[a-zA-Z0-9_.-]+$`
	}
	switch {
	case !regexp.MustCompile(letters).MatchString(name):
		return fmt.Sprintf("its name %q is none", name)
	case !p.Inline && (says.Version == nil || says.Version == "" || says.Version == false || says.Version == 0.0):
		return "it has no version"
	}
	x.Name = name
	for _, s := range says.Settings {
		if s.Sensitive && p.Settings {
			x.Unread = s.EnvVar + " lies in the system's store of keys"
		}
		x.Set = append(x.Set, Value{Name: s.EnvVar})
	}
	x.Hooks = p.hooks(x.Root, path, says.Hooks, looked)
	return ""
}

// refused says why settings keep an extension out.
func (p *Program) refused(from *metadata) string {
	if len(p.Allowed) == 0 {
		if p.NoRemote && (from.Type == "git" || from.Type == "github-release") {
			return "blockGitExtensions keeps it out"
		}
		return ""
	}
	if from.Source == "" {
		return "allowedExtensions is set and it does not say where it came from: the program does not start"
	}
	source := from.Source
	if real, err := filepath.EvalSymlinks(source); err == nil {
		source = real
	}
	for _, text := range p.Allowed {
		allowed, wrong := pattern.ECMAScript.Compile(text)
		if wrong != nil {
			return fmt.Sprintf("allowedExtensions has %q, which is no pattern: the program does not start", text)
		}
		if allowed.Match(source) {
			return ""
		}
	}
	return "allowedExtensions keeps it out"
}

// hooks is the file that holds the hooks, "" if there is none.
func (p *Program) hooks(root, manifest string, says any, looked *[]string) string {
	standard := filepath.Join(root, "hooks", "hooks.json")
	*looked = append(*looked, standard)
	if named, ok := says.(string); ok && p.Inline && named != "" {
		path := filepath.FromSlash(named)
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		*looked = append(*looked, path)
		if exists(path) {
			return path
		}
	} else if says != nil && p.Inline && named == "" {
		return manifest
	}
	if exists(standard) {
		return standard
	}
	return ""
}

// set fills in what the user set of an extension; what is not set is left out.
func (p *Program) set(folder, workspace string, x *Extension, looked *[]string) {
	declared := x.Set
	if x.Set = nil; !p.Settings {
		return
	}
	path := filepath.Join(folder, x.Name, ".env")
	*looked = append(*looked, path)
	if data, err := os.ReadFile(path); err == nil {
		x.Variables = dotenv(string(data))
	}
	for _, v := range declared {
		if value, ok := x.Variables[v.Name]; ok {
			x.Set = append(x.Set, Value{v.Name, value})
		}
	}
	if local := filepath.Join(workspace, ".env"); len(declared) > 0 && x.Unread == "" {
		if *looked = append(*looked, local); exists(local) {
			x.Unread = "what the .env of the workspace sets of it"
		}
	}
}

// rules are those of every extension. A file that the program does not take disables
// none; Qwen Code takes each entry on its own, and one that is wrong loses its extension.
func (p *Program) rules(folder string) (out map[string][]string, wrong map[string]bool) {
	var entries map[string]any
	if err := decode(Rules(folder), &entries); err != nil {
		return nil, nil
	}
	out, wrong = map[string][]string{}, map[string]bool{}
	for name, entry := range entries {
		says, isMap := entry.(map[string]any)
		list, isList := says["overrides"].([]any)
		ok := isList || p.Inline && (!isMap || says["overrides"] == nil)
		for _, rule := range list {
			text, isText := rule.(string)
			out[name], ok = append(out[name], text), ok && isText
		}
		if wrong[name] = !ok; !ok && !p.Inline {
			return nil, nil
		}
	}
	return out, wrong
}

// off is the last rule that says anything of a workspace, when it disables; "" when the
// extension is enabled there.
func off(rules []string, workspace string) string {
	at := filepath.ToSlash(workspace)
	if !strings.HasPrefix(at, "/") {
		at = "/" + at
	}
	if !strings.HasSuffix(at, "/") {
		at += "/"
	}
	last := ""
	for _, rule := range rules {
		text, disables := spell.CutPrefix(rule, "!")
		var b strings.Builder
		for i, part := range strings.Split(text, "*") {
			if i > 0 {
				before, slash := spell.CutSuffix(b.String(), "/")
				b.Reset()
				b.WriteString(before + "(?:" + map[bool]string{true: "/"}[slash] + ".*)?")
			}
			b.WriteString(regexp.QuoteMeta(part))
		}
		if re, err := regexp.Compile("^" + b.String() + "$"); err != nil || !re.MatchString(at) {
			continue
		}
		if last = ""; disables {
			last = rule
		}
	}
	return last
}

var dotenvLine = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*` + "`(?:\\\\`|[^`])*`" + `|[^#\r\n]+)?\s*(?:#.*)?$`)
})

// dotenv reads a file of variables as the package of that name does.
func dotenv(text string) map[string]string {
	out := map[string]string{}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for _, m := range dotenvLine().FindAllStringSubmatch(text, -1) {
		value := strings.TrimSpace(m[2])
		if n := len(value); n > 1 && strings.ContainsRune("'\"`", rune(value[0])) && value[0] == value[n-1] {
			quote := value[0]
			if value = value[1 : n-1]; quote == '"' {
				value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value)
			}
		}
		out[m[1]] = value
	}
	return out
}

//go:noinline
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// decode reads a file of JSON.
func decode(path string, into any) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fault.Errorf("it has no %s", filepath.Base(path))
	}
	return fault.Errorf("%s: %s", filepath.Base(path), err)
}
