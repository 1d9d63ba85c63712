package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/bundled"
	"github.com/hookc/hookc/policy/diag"
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
	Profile *agent.Agent
	// Roots are those of the projects the policies are looked for in, outermost
	// first; nil is the nearest above Dir.
	Roots []string
	// Trust says what becomes of what nobody agreed to; the zero value is for
	// decisions.
	Trust Trust
	// User is the user's policy file where its path is known for certain; "" is
	// the one below $XDG_CONFIG_HOME, or ~/.config.
	User string
}

// Trust says what becomes of a project's files that nobody agreed to run.
type Trust uint8

const (
	// Decide does not read them: only the places that hookc or the agent names
	// are looked at, and nothing that the project's own files say is expanded,
	// opened or compiled.
	Decide Trust = iota
	// Inspect reads them and lists their hooks, which do not run.
	Inspect
	// AsFound reads the files of every project as they are, to ask for consent to
	// them.
	AsFound
	// Static is AsFound for commands that run nothing: what was not agreed to is
	// read as far as it lies in its project.
	Static
)

// managedDir is where the managed tier is. It is a variable for the linker: a
// test builds a hookc with a folder of its own. No environment variable names
// it, since whoever sets the environment must not choose the policy that is
// above the user.
var managedDir string

// ManagedDir is the folder of the managed tier on this system.
//
//go:noinline
func ManagedDir() string {
	if managedDir != "" {
		return managedDir
	}
	return defaultManagedDir()
}

// Discover finds the policies of every tier, lowest first (cli.md "Policy
// sources"): managed, user, and those of each project with its local ones. A
// place that is not there is skipped; one that is there and cannot be looked
// into is an input all the same, and loading it says what is wrong. The order
// is that in which the hooks of a tier are placed.
func Discover(o DiscoverOptions) ([]Input, diag.List) {
	d := discovery{dir: Absolute("", o.Dir), options: o}
	d.discover()
	return d.inputs, d.found
}

func (d *discovery) discover() {
	d.managed(d.options.Managed)
	if d.options.Profile != nil {
		d.native(d.options.Profile)
		return
	}
	if config, file := d.options.user(); file != "" {
		d.policy(policy.TierUser, filepath.Dir(file), filepath.Base(file))
		d.hookFolders(policy.TierUser, filepath.Join(config, "agents", "hooks"))
	}
	d.projects("", func(d *discovery) {
		hidden := d.policy(policy.TierProject, filepath.Join(d.root, ".hookc"), "hooks.yaml")
		if shown := filepath.Join(d.root, "hooks.yaml"); d.file(policy.TierProject, shown) && hidden {
			d.found.Add(codeTwoPolicies.Report(d.at(shown), "the project has two policies: .hookc/hooks.yaml and hooks.yaml").
				WithHint("keep one; it can name the other under include:"))
		}
		d.hookFolders(policy.TierProject, filepath.Join(d.root, ".agents", "hooks"))
		d.policy(policy.TierLocal, filepath.Join(d.root, ".hookc"), "hooks.local.yaml")
	})
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
	places, found := bundled.Find(dir, d.at(filepath.Join(dir, bundled.Index)), writtenByOthers)
	d.found.Add(found...)
	for _, p := range places {
		in := Input{Path: p.Path, Tier: policy.TierManaged, Content: p.Content}
		if p.Content != nil {
			in.Format = "hooksyaml"
		}
		d.inputs = append(d.inputs, in)
	}
}

// managedPlaces are the places that Managed looks at.
func managedPlaces(dir string) (files, trees []string) {
	if dir == "" {
		dir = ManagedDir()
	}
	return []string{dir, filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "facts.env"), filepath.Join(dir, bundled.Index)}, []string{filepath.Join(dir, "hooks")}
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

var codeTwoPolicies = diag.Define("HK061", diag.Error, "two policy files in one project")

type discovery struct {
	dir     string
	options DiscoverOptions
	inputs  []Input
	found   diag.List
	// root is the project that is looked at, innermost whether it is the nearest
	// one; withheld is whether its policies are not read.
	root                string
	innermost, withheld bool
	// within is the folder that looking may not leave, "" if there is none.
	within string
	// listed are files that are not read, and what else is to be said of
	// projects; refused the projects whose consent cannot be used.
	listed  []policy.SourceFile
	refused []refusal
}

// at is the beginning of a file, named as loading would name it.
func (d *discovery) at(path string) diag.Span {
	return fileSpan((&Loader{dir: d.dir}).shown(path))
}

// file adds a file, also when it is a link that leads nowhere, or below one, or below
// what is no folder: that a guard is missing must show. It reports whether there is one.
func (d *discovery) file(tier policy.Tier, path string) bool {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !astray(path) {
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
	if fromProject(tier) && (d.withheld || outside(d.within, dir) != nil) {
		return false
	}
	items, err := readFolder(dir)
	if err != nil {
		return false // not there, or reported with the file
	}
	for _, item := range items {
		name := strings.ToLower(item.Name())
		if name == base || strings.TrimSuffix(name, ".yml")+".yaml" == base {
			why := codeNeverFound.Report(d.at(filepath.Join(dir, item.Name())), "only a file called %s is found; %s is never read", base, item.Name()).
				WithHint("rename it to %s", base)
			d.found.Add(why)
			if !fromProject(tier) { // each answer says what of the user's own does not count
				d.list([]Input{{Path: filepath.Join(dir, item.Name()), Tier: tier}}, policy.SourceFile{Differs: why.Text + ": " + why.Hint})
			}
		}
	}
	return false
}

// hookFolders adds a folder of HOOK.md folders when it holds any.
func (d *discovery) hookFolders(tier policy.Tier, dir string) {
	if d.withheld && fromProject(tier) {
		if !holdsAny(dir) && !astray(dir) {
			return
		}
	} else if fromProject(tier) && outside(d.within, dir) != nil {
		// loading says what is wrong
	} else if folders, err := hookFolders(dir, 1); absent(err) && !astray(dir) || err == nil && len(folders) == 0 {
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

// astray reports whether a path that is not there is one, or below one, that is a link
// and leads nowhere: a folder that was moved, or whose disk is not mounted.
func astray(path string) bool {
	for ; ; path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			_, err = os.Stat(path)
			return errors.Is(err, fs.ErrNotExist)
		case err == nil, path == filepath.Dir(path):
			return false
		}
	}
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
	name, path, ok := spell.Cut(value, "=")
	tier, known := policy.ParseTier(name)
	switch {
	case value == "", known && ok && path == "":
		return Input{}, errors.New("-f needs a path, or TIER=PATH")
	case !ok || !known:
		return Input{Path: value, Tier: policy.TierProject}, nil
	case tier == policy.TierBuiltin:
		return Input{}, fault.Errorf("-f %s: the builtin tier is what hookc brings itself; use one of %s", value,
			strings.Join(policy.TierNames()[1:], ", "))
	}
	return Input{Path: path, Tier: tier}, nil
}

// fromProject reports whether a tier comes with a project rather than from
// its user.
//
//go:noinline
func fromProject(t policy.Tier) bool { return t == policy.TierProject || t == policy.TierLocal }
