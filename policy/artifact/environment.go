package artifact

import (
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/internal/lists"
)

// Condition is one variable, or one flag, that a policy was compiled under.
type Condition struct {
	Name, Value string
	// Set is false where there was none; an empty variable is none.
	Set bool
	// Exact is true where an empty variable is another than none.
	Exact bool
}

// Conditions are the circumstances that changed what was compiled.
type Conditions struct {
	// Vars are the variables that count, set or not.
	Vars []Condition
	// Prefixes begin the names of further variables that count: those not among
	// Vars were not set.
	Prefixes []string
	// Flags are what the command line said: profile, faithful and such.
	Flags []Condition
}

// Take is the conditions of an environment (entries NAME=value): the variables
// named, and all that begin with a prefix.
func Take(environ, names, prefixes []string) Conditions {
	c := Conditions{Prefixes: prefixes}
	for _, name := range names {
		value := lookup(environ, name)
		c.Vars = append(c.Vars, Condition{Name: name, Value: value, Set: value != ""})
	}
	for _, name := range c.prefixed(environ) {
		if !lists.Has(names, name) {
			c.Vars = append(c.Vars, Condition{Name: name, Value: lookup(environ, name), Set: true})
		}
	}
	sort.Slice(c.Vars, func(i, j int) bool { return c.Vars[i].Name < c.Vars[j].Name })
	return c
}

// lookup is the value of a variable; of several the last, as exec has it.
//
//go:noinline
func lookup(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if kv := environ[i]; len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// isSet reports whether there is a variable, be it empty.
func isSet(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// prefixed names the variables that are set and begin with a prefix, once each.
func (c *Conditions) prefixed(environ []string) []string {
	var out []string
	for _, kv := range environ {
		for _, p := range c.Prefixes {
			if len(kv) < len(p) || kv[:len(p)] != p {
				continue
			}
			name := kv
			for i := range len(kv) {
				if kv[i] == '=' {
					name = kv[:i]
					break
				}
			}
			if lookup(environ, name) != "" && !lists.Has(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Flag is the value of a flag, "" if there is none.
//
//go:noinline
func (c *Conditions) Flag(name string) string {
	for _, f := range c.Flags {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// AddEnvironment appends the section of the conditions.
func (w *Writer) AddEnvironment(c Conditions) {
	var b binary.Writer
	b.Uint(uint64(len(c.Prefixes)))
	for _, p := range c.Prefixes {
		b.Text(p)
	}
	for _, list := range [][]Condition{c.Vars, c.Flags} {
		b.Uint(uint64(len(list)))
		for _, v := range list {
			b.Text(v.Name)
			b.Text(v.Value)
			b.Bool(v.Set)
			b.Bool(v.Exact)
		}
	}
	w.Add(Environment, b.B)
}

// Conditions are what the policy was compiled under.
func (f *File) Conditions() (Conditions, error) {
	b, err := f.Section(Environment)
	if err != nil {
		return Conditions{}, err
	}
	var c Conditions
	r := binary.NewReader(b)
	for range r.Count(maxSections) {
		c.Prefixes = append(c.Prefixes, r.Text())
	}
	for _, list := range []*[]Condition{&c.Vars, &c.Flags} {
		for range r.Count(maxSources) {
			*list = append(*list, Condition{r.Text(), r.Text(), r.Bool(), r.Bool()})
		}
	}
	if r.Bad() || !r.Done() {
		return Conditions{}, f.Damaged("section " + Environment + " is wrong")
	}
	return c, nil
}

// Fits reports, as an error that names the first, when a variable that counts is
// another one in an environment.
func (f *File) Fits(environ []string) error {
	c, err := f.Conditions()
	if err != nil {
		return err
	}
	for _, v := range c.Vars {
		if now := lookup(environ, v.Name); now != v.Value || v.Exact && now == "" && isSet(environ, v.Name) != v.Set {
			return f.Other("$" + v.Name + " is another one")
		}
	}
	for _, name := range c.prefixed(environ) {
		if !slices.ContainsFunc(c.Vars, func(v Condition) bool { return v.Name == name }) {
			return f.Other("$" + name + " is set")
		}
	}
	return nil
}

// Other refuses the artifact: what it was compiled under is not what is.
func (f *File) Other(what string) *Error {
	return f.Refuse(OtherEnvironment, "the policy was compiled in another environment: "+what+": compile it again")
}

// Fresh reports, as an error, when the artifact is not what its sources compile
// to now: the environment or a file is another.
func (f *File) Fresh(environ []string) error {
	if err := f.Fits(environ); err != nil {
		return err
	}
	return f.Unchanged()
}
