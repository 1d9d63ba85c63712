package source

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/disk"
	"github.com/hookc/hookc/policy/source/tree"
)

// Cache keeps what the last loads found, so that the next one reads and parses
// only what has changed; what it finds is what it would find without. It holds
// no more than two loads did: a discovered project is loaded a second time when
// it is not trusted. The zero Cache is ready; it is safe for concurrent use.
type Cache struct {
	// Lean keeps a policy for as long as nothing but bodies in files of their own
	// changes, and of one that must be read again nothing: parsed files take
	// several times the memory of their hooks.
	Lean bool
	// Draft, if not nil, gives the text of a file as an editor has it.
	Draft func(path string) (string, bool)

	mu    sync.Mutex
	loads []*loaded

	files       disk.Files
	used, older map[treeKey]*parsed
}

// maxLoads is how many loads a Cache keeps.
const maxLoads = 2

// loaded is a load without errors and all that it looked at.
type loaded struct {
	options Options
	// paths are the inputs from where the process was.
	paths  []string
	policy *policy.Policy
	found  diag.List
	sight  *sight
}

// sight is what a load has seen of the disk. Its methods do nothing on nil.
type sight struct {
	// blind is true when it looked at something that is not noted here.
	blind bool
	looks []look
	// again are other questions to the disk: whether the answer is what it was.
	again []func() bool
}

// look is one file that was looked at.
type look struct {
	path    string
	role    role
	print   disk.Print
	settled bool
	content string
	// hook has the file's text as its body.
	hook *policy.Hook
}

// role is what a file was looked at for.
type role uint8

const (
	// aPlace is looked at for what is there, not for what it holds.
	aPlace role = iota
	aPolicy
	aBody
)

func (s *sight) note(path string, r role, content string, h *policy.Hook, print disk.Print, at time.Time) {
	if s != nil {
		s.looks = append(s.looks, look{path: path, role: r, print: print, settled: print.Settled(at), content: content, hook: h})
	}
}

func (s *sight) place(path string) {
	if s != nil {
		s.looks = append(s.looks, look{path: path, role: aPlace, print: disk.Look(path)})
	}
}

//go:noinline
func (s *sight) ask(same func() bool) {
	if s != nil {
		s.again = append(s.again, same)
	}
}

//go:noinline
func (s *sight) unsure() {
	if s != nil {
		s.blind = true
	}
}

// recall is the policy of an earlier load with the same options, if nothing
// that it looked at has changed but the texts of bodies: those are other hooks.
func (c *Cache) recall(o *Options) (*policy.Policy, diag.List, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := *o
	key.Cache, key.Environ = nil, nil // what reads the environment is not kept
	i := slices.IndexFunc(c.loads, func(l *loaded) bool {
		return reflect.DeepEqual(l.options, key) && lists.Equal(l.paths, inputPaths(o))
	})
	if i < 0 {
		return nil, nil, false
	}
	next, ok := c.loads[i].now(c.draft)
	if !ok {
		return nil, nil, false
	}
	c.loads[i] = next
	return next.policy, lists.Copy(next.found), true
}

func inputPaths(o *Options) []string {
	out := make([]string, len(o.Inputs))
	for i, in := range o.Inputs {
		out[i] = Absolute("", in.Path)
	}
	return out
}

// now is the load as it would be now; false when that must be found out.
func (l *loaded) now(draft func(string) (string, bool)) (*loaded, bool) {
	out := &loaded{l.options, l.paths, l.policy, l.found, &sight{looks: lists.Copy(l.sight.looks), again: l.sight.again}}
	changed := map[*policy.Hook]*policy.Hook{}
	for i := range out.sight.looks {
		if !out.sight.looks[i].now(changed, draft) {
			return nil, false
		}
	}
	for _, same := range l.sight.again {
		if !same() {
			return nil, false
		}
	}
	if len(changed) == 0 {
		return out, true
	}
	p := *l.policy
	p.Hooks = lists.Copy(p.Hooks)
	for i, h := range p.Hooks {
		if next := changed[h]; next != nil {
			p.Hooks[i] = next
		}
	}
	out.policy = &p
	return out, true
}

// now looks at a file again. A body that has another text is noted in changed.
func (k *look) now(changed map[*policy.Hook]*policy.Hook, draft func(string) (string, bool)) bool {
	at := time.Now()
	print := disk.Look(k.path)
	if k.role == aPlace {
		return print.SameKind(k.print)
	}
	content, drafted := draft(k.path)
	if drafted {
		at = time.Time{}
	} else {
		if k.settled && print == k.print {
			return true
		}
		info, err := os.Stat(k.path)
		if err != nil {
			return false
		}
		if content, err = readRegular(k.path, info); err != nil {
			return false
		}
	}
	k.print, k.settled = print, print.Settled(at)
	switch {
	case content == k.content:
		return true
	case k.role != aBody:
		return false
	}
	source, wrong := bodyText(k.hook.Body.Source.Span.Source.Name, content)
	if wrong != nil {
		return false
	}
	h := *k.hook
	h.Body.Source = source
	changed[k.hook] = &h
	k.hook, k.content = &h, content
	return true
}

// bodyText is the text of a file that is a hook's body, or what is wrong with
// it.
func bodyText(name, content string) (diag.Text, diag.List) {
	src := diag.NewSource(name, content)
	start := len(tree.BOM(content))
	if found := tree.CheckText(src, start, len(content)); found != nil {
		return diag.Text{}, found
	}
	span := diag.Span{Source: src, Start: start, End: len(content)}
	return diag.NewText(content[start:], span, []diag.Mark{{Body: 0, Source: start}}), nil
}

// begin begins a load that recall could not answer.
func (c *Cache) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Begin()
	c.used, c.older = nil, c.used
}

// keep takes note of a load.
func (c *Cache) keep(o Options, l *Loader) {
	o.Cache, o.Environ = nil, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads = lists.DeleteFunc(c.loads, func(old *loaded) bool { return reflect.DeepEqual(old.options, o) })
	if l.sight.blind || l.diags.HasErrors() {
		return
	}
	o.Inputs, o.Overrides = lists.Copy(o.Inputs), maps.Clone(o.Overrides)
	c.loads = append(c.loads, &loaded{o, inputPaths(&o), &l.policy, lists.Copy(l.diags), l.sight})
	if len(c.loads) > maxLoads {
		c.loads = c.loads[1:]
	}
}

// parsed is a file as it was parsed. Nobody changes it.
type parsed struct {
	src   *diag.Source
	root  *tree.Node
	found diag.List
}

// treeKey is what the same content is parsed differently for.
type treeKey struct{ name, path string }

// parse parses a policy file, or remembers what came of it.
func (l *Loader) parse(in *File, parse func(*diag.Source) (*tree.Node, diag.List)) *parsed {
	if l.cache == nil || l.cache.Lean {
		src := diag.NewSource(in.Name, in.Content)
		root, found := parse(src)
		return &parsed{src, root, found}
	}
	c, key := l.cache, treeKey{in.Name, in.Path}
	c.mu.Lock()
	t := c.used[key]
	if t == nil {
		t = c.older[key]
	}
	c.mu.Unlock()
	if t == nil || t.src.Content != in.Content {
		src := diag.NewSource(in.Name, strings.Clone(in.Content))
		t = &parsed{src: src}
		t.root, t.found = parse(src)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = map[treeKey]*parsed{}
	}
	c.used[key] = t
	return t
}

// readFile is readRegular, from memory when the file was not changed.
func (l *Loader) readFile(path string) (string, disk.Print, time.Time, error) {
	at := time.Now()
	print := disk.Look(path)
	if text, ok := l.cache.draft(path); ok { // the disk's print is not of that
		return text, print, time.Time{}, nil
	}
	read := func(path string) (string, error) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		return readRegular(path, info)
	}
	if l.cache == nil || l.cache.Lean {
		content, err := read(path)
		return content, print, at, err
	}
	f := l.cache.files.Read(path, read)
	return f.Content, print, at, f.Err
}
func (c *Cache) draft(path string) (text string, ok bool) {
	if c != nil && c.Draft != nil {
		text, ok = c.Draft(path)
	}
	return text, ok
}
