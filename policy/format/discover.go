package format

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/dialect"
)

// DiscoverOptions say where to look for policies that nobody named.
type DiscoverOptions struct {
	// Dir is where the agent works; the project is the nearest root upwards.
	Dir string
	// Managed is the folder of the managed tier; "" is the system's own. It is
	// an option for tests and no environment variable: whoever sets the
	// environment must not choose the policy that is above the user.
	Managed string
	// Profile is the agent whose own configuration is looked for, in its own
	// places; nil looks for hookc's.
	Profile *dialect.Dialect
	// Withheld says why the policies of the project are not read, or is empty.
	// Then only the places that hookc or the agent names are looked at: nothing
	// that the project's own files say is expanded, opened or compiled.
	Withheld string
	// User is the user's policy file where its path is known for certain; "" is
	// the one below $XDG_CONFIG_HOME, or ~/.config.
	User string
}

// managedDir is where the managed tier is. It is a variable for the linker: a
// test builds a hookc with a folder of its own. No environment variable names
// it, since whoever sets the environment must not choose the policy that is
// above the user.
var managedDir string

// ManagedDir is the folder of the managed tier on this system.
func ManagedDir() string {
	if managedDir != "" {
		return managedDir
	}
	return defaultManagedDir()
}

// Discover finds the policies of every tier, lowest first (cli.md "Policy
// sources"): managed, user, project, local. A place that is not there is
// skipped; one that is there and cannot be looked into is an input all the
// same, and loading it says what is wrong. The order is that in which the
// hooks of a tier are placed.
func Discover(o DiscoverOptions) ([]Input, diag.List) {
	d := discovery{dir: absolute("", o.Dir), withheld: o.Withheld != ""}
	d.managed(o.Managed)
	if o.Profile != nil {
		d.native(o.Profile.Profile)
		return d.inputs, d.found
	}
	if config, file := o.user(); file != "" {
		d.policy(policy.TierUser, filepath.Dir(file), filepath.Base(file))
		d.hookFolders(policy.TierUser, filepath.Join(config, "agents", "hooks"))
	}
	root := policy.ProjectRoot(d.dir)
	hidden := d.policy(policy.TierProject, filepath.Join(root, ".hookc"), "hooks.yaml")
	if shown := filepath.Join(root, "hooks.yaml"); d.file(policy.TierProject, shown) && hidden {
		d.found.Add(codeTwoPolicies.Report(d.at(shown), "the project has two policies: .hookc/hooks.yaml and hooks.yaml").
			WithHint("keep one; it can name the other under include:"))
	}
	d.hookFolders(policy.TierProject, filepath.Join(root, ".agents", "hooks"))
	d.policy(policy.TierLocal, filepath.Join(root, ".hookc"), "hooks.local.yaml")
	return d.inputs, d.found
}

// Managed finds the policies of the managed tier, which count whatever else is
// named; dir is as in DiscoverOptions.
func Managed(dir string) ([]Input, diag.List) {
	var d discovery
	d.managed(dir)
	return d.inputs, d.found
}

func (d *discovery) managed(dir string) {
	if dir == "" {
		dir = ManagedDir()
	}
	d.policy(policy.TierManaged, dir, "hooks.yaml")
	d.hookFolders(policy.TierManaged, dir)
	d.hookFolders(policy.TierManaged, filepath.Join(dir, "hooks"))
}

// managedPlaces are the places that Managed looks at.
func managedPlaces(dir string) (files, trees []string) {
	if dir == "" {
		dir = ManagedDir()
	}
	return []string{dir, filepath.Join(dir, "hooks.yaml")}, []string{filepath.Join(dir, "hooks")}
}

// ManagedPlaces are the files and trees that decide what Managed finds, there or
// not.
func ManagedPlaces() (files, trees []string) { return managedPlaces("") }

// user is the folder of the user's configuration and the policy in it, "" where
// neither is known.
func (o *DiscoverOptions) user() (config, file string) {
	if o.User != "" {
		return filepath.Dir(filepath.Dir(o.User)), o.User
	}
	if config = configHome(os.Getenv, os.UserHomeDir); config == "" {
		return "", ""
	}
	return config, filepath.Join(config, "hookc", "hooks.yaml")
}

// UserPolicy is the path of the user's policy, there or not, "" where no home is
// known.
func UserPolicy() string {
	_, file := (&DiscoverOptions{}).user()
	return file
}

var codeTwoPolicies = diag.Define(diag.Code{
	ID:    "HK061",
	Title: "two policy files in one project",
	Help: `A project's policy is .hookc/hooks.yaml or hooks.yaml at its root, not both: which of the
two comes first would decide what they mean together. Keep one; it may include the other.`,
	Bad: `-- hooks.yaml --
notify:
  - command: cat
-- .hookc/hooks.yaml --
notify:
  - command: cat
`,
	Good: `-- .hookc/hooks.yaml --
notify:
  - command: cat
`,
})

type discovery struct {
	dir    string
	inputs []Input
	found  diag.List
	// withheld is whether the policies of the project are not read.
	withheld bool
}

// at is the beginning of a file, named as loading would name it.
func (d *discovery) at(path string) diag.Span {
	return fileSpan((&Loader{dir: d.dir}).shown(path))
}

// file adds a file, also when it is a link that leads nowhere: that a guard is
// missing must show. It reports whether there is one.
func (d *discovery) file(tier policy.Tier, path string) bool {
	if _, err := os.Lstat(path); absent(err) {
		return false
	}
	d.inputs = append(d.inputs, Input{Path: path, Tier: tier})
	return true
}

// policy adds the policy file of a folder that is hookc's own. A file there
// that differs from it in its ending or letter case alone is reported.
func (d *discovery) policy(tier policy.Tier, dir, base string) bool {
	if d.file(tier, filepath.Join(dir, base)) {
		return true
	}
	if d.withheld && fromProject(tier) {
		return false
	}
	items, err := os.ReadDir(dir)
	if err != nil {
		return false // not there, or reported with the file
	}
	for _, item := range items {
		name := strings.ToLower(item.Name())
		if name == base || strings.TrimSuffix(name, ".yml")+".yaml" == base {
			d.found.Add(codeNeverFound.Report(d.at(filepath.Join(dir, item.Name())), "only a file called %s is found; %s is never read", base, item.Name()).
				WithHint("rename it to %s", base))
		}
	}
	return false
}

// hookFolders adds a folder of HOOK.md folders when it holds any.
func (d *discovery) hookFolders(tier policy.Tier, dir string) {
	if d.withheld && fromProject(tier) {
		if !holdsAny(dir) {
			return
		}
	} else if folders, err := hookFolders(dir); absent(err) || err == nil && len(folders) == 0 {
		return
	}
	d.inputs = append(d.inputs, Input{Path: dir, Tier: tier, Format: hookMDFormat})
}

// holdsAny reports whether there is anything at dir but an empty folder. It
// follows no link and reads one entry, however many there are.
func holdsAny(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return !absent(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return !absent(err)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return !errors.Is(err, io.EOF)
}

// absent reports whether an error says that there is no such file; what
// cannot be told counts as there.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// UserDir is the folder below which hookc's policies of the user tier are, ""
// when there is none.
func UserDir() string { return configHome(os.Getenv, os.UserHomeDir) }

// configHome is $XDG_CONFIG_HOME or ~/.config, on every system: the Agent
// Hooks format names it so. A relative one is ignored, as the XDG
// specification demands: it would let a project pose as its user.
func configHome(getenv func(string) string, home func() (string, error)) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	dir, err := home()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, ".config")
}

// ParseInput reads a value of `-f`: PATH, which is project policy, or
// TIER=PATH. A path may hold "="; only a tier's name before it is one, and
// `./user=x.yaml` is a path. The error is one of usage.
func ParseInput(value string) (Input, error) {
	name, path, ok := strings.Cut(value, "=")
	tier, known := policy.ParseTier(name)
	switch {
	case value == "", known && ok && path == "":
		return Input{}, errors.New("-f needs a path, or TIER=PATH")
	case !ok || !known:
		return Input{Path: value, Tier: policy.TierProject}, nil
	case tier == policy.TierBuiltin:
		return Input{}, fmt.Errorf("-f %s: the builtin tier is what hookc brings itself; use one of %s", value,
			strings.Join(policy.TierNames()[1:], ", "))
	}
	return Input{Path: path, Tier: tier}, nil
}

// LoadDiscovered loads what Discover finds; o.Inputs are not looked at. check
// says, given the sources of the project and local tiers with all they use,
// why they must not run, or "": package trust has the answer. The hooks of an
// untrusted project are loaded, listed and never run, and its mistakes are
// warnings: they cannot keep the user's own policy from compiling. With
// d.Withheld they are not read at all, and check is not asked.
func LoadDiscovered(d DiscoverOptions, o Options, check func([]policy.SourceFile) (why string)) (*policy.Policy, diag.List) {
	inputs, found := Discover(d)
	if d.Withheld != "" {
		return loadWithheld(d.Withheld, inputs, found, o)
	}
	o.Inputs = inputs
	p, more := Load(o)
	why := ""
	if files := projectFiles(p, inputs); len(files) > 0 {
		why = check(files)
	}
	if why != "" {
		for i := range o.Inputs {
			if fromProject(o.Inputs[i].Tier) {
				o.Inputs[i].Untrusted = why
			}
		}
		for i := range found {
			found[i].Severity = max(found[i].Severity, diag.Warning)
		}
		p, more = Load(o)
	}
	found.Add(more...)
	found.Sort()
	return p, found
}

// loadWithheld loads what does not come with the project, and lists what does
// by the places alone.
func loadWithheld(why string, inputs []Input, found diag.List, o Options) (*policy.Policy, diag.List) {
	var listed []policy.SourceFile
	for _, in := range inputs {
		if !fromProject(in.Tier) {
			o.Inputs = append(o.Inputs, in)
			continue
		}
		name := (&Loader{dir: o.Dir}).shown(in.Path)
		listed = append(listed, policy.SourceFile{Name: name, Path: in.Path, Tier: in.Tier, Format: in.Format, Untrusted: why})
	}
	loaded, more := Load(o)
	p := *loaded // which a cache may share
	p.Sources = append(slices.Clone(p.Sources), listed...)
	found.Add(more...)
	for i := range found {
		if len(listed) > 0 && found[i].Code == codeTwoPolicies {
			found[i].Severity = max(found[i].Severity, diag.Warning)
		}
	}
	found.Sort()
	return &p, found
}

// projectFiles is what trust must cover: the sources of the project and local
// tiers, and the inputs of those tiers that could not be read at all.
func projectFiles(p *policy.Policy, inputs []Input) []policy.SourceFile {
	var files []policy.SourceFile
	for _, s := range p.Sources {
		if fromProject(s.Tier) {
			files = append(files, s)
		}
	}
	for _, in := range inputs {
		read := slices.ContainsFunc(files, func(s policy.SourceFile) bool {
			rel, err := filepath.Rel(in.Path, s.Path)
			return err == nil && filepath.IsLocal(rel)
		})
		if fromProject(in.Tier) && !read {
			files = append(files, policy.SourceFile{Name: in.Path, Path: in.Path, Tier: in.Tier, Format: in.Format})
		}
	}
	return files
}

// fromProject reports whether a tier comes with a project rather than from
// its user.
func fromProject(t policy.Tier) bool { return t == policy.TierProject || t == policy.TierLocal }
