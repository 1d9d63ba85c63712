// Package rule says what a guard written in Go is: a Rule, which hooks of `type: builtin` use by name.
package rule

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Rule is a guard written in Go, which hooks of `type: builtin` use by name.
type Rule struct {
	// Name is what `use:` says.
	Name string
	// Doc says in a sentence what the rule decides.
	Doc     string
	Options []OptionSpec
	// Cost is what one run is expected to take, for explain; 0 is that of a rule
	// that compares a text or two.
	Cost time.Duration
	// New makes the rule ready for one hook. The options are checked: each is
	// declared, of its type, and present if required. What else is wrong with
	// them is reported at their spans.
	New func(h *policy.Hook, opts Options) (Made, diag.List)
}

// OptionSpec is one option of a rule.
type OptionSpec struct {
	Name string
	// Type is the JSON type of the value. With Texts, the value is a list of
	// strings; a single string is taken as a list of one.
	Type     policy.FieldType
	Texts    bool
	Required bool
	// Doc says what the option does.
	Doc string
}

// Made is a rule made ready for one hook. A rule that is not of this package
// may always fail, whatever its Effects say, and says nothing for certain.
type Made struct {
	// Runner is called on the goroutine of the event and is not interrupted.
	// Its ctx ends with the hook's timeout, or else with the step budget of
	// 100 ms; a rule that was told so has failed, whatever it answers then
	// (semantics.md §5.4). One that may take longer must therefore ask, by
	// ctx.Err or ctx.Done: nothing else stops it.
	Runner policy.Runner
	// Effects must say what the rule has to do with the world: nothing
	// (policy.WorldNone), looking at it (WorldRead) or changing it (WorldWrite).
	Effects policy.Effects
	// Always is what the rule says whatever it reads, if that is known.
	Always policy.Powers
	// Brief is true of a rule that only compares, so that a look at the clock
	// would take longer than it does: several such rules in a row are timed
	// together, and share the time alike.
	Brief bool
}

// Options are the checked options of one hook, by name.
type Options map[string]policy.Option

// Texts returns an option that holds a list of strings, nil when it is not
// written.
//
//go:noinline
func (o Options) Texts(name string) []string {
	opt, ok := o[name]
	if !ok {
		return nil
	}
	out, _ := textList(opt.Value)
	return out
}

// Text returns an option that holds a string, "" when it is not written.
//
//go:noinline
func (o Options) Text(name string) string {
	s, _ := o[name].Value.(string)
	return s
}

// What is wrong with the options of a hook, beside codeUnknownOption.
var (
	codeUnknownOption = diag.Define("HK101", diag.Error, "unknown option of a builtin")
	CodeOptionValue   = diag.Define("HK102", diag.Error, "option of a builtin has a wrong value")
	CodeOptionMissing = diag.Define("HK103", diag.Error, "builtin without an option it needs")
	CodeOptionEvent   = diag.Define("HK104", diag.Error, "builtin on an event it cannot judge")
)

// Misuse is a mistake in a program that lists rules of its own, as opposed to
// one in a policy that uses them: CheckRules and Make panic with it.
type Misuse struct{ Rule, Text string }

func (m Misuse) Error() string { return "rule " + m.Rule + " " + m.Text }

// CheckRules panics with Misuse when a rule is incomplete or two have one
// name.
func Check(list []Rule) {
	seen := map[string]bool{}
	for _, r := range list {
		if r.Name == "" || r.Doc == "" || r.New == nil {
			panic(Misuse{r.Name, "is incomplete: it needs Name, Doc and New"})
		}
		if seen[r.Name] {
			panic(Misuse{r.Name, "is listed twice"})
		}
		seen[r.Name] = true
	}
}

// Make makes the rule ready for a hook. With errors among the findings there
// is nothing to run. It panics with Misuse when New makes half a rule.
func (r *Rule) Make(h *policy.Hook) (Made, diag.List) {
	opts, found := r.check(h)
	if found.HasErrors() {
		return Made{}, found
	}
	made, more := r.New(h, opts)
	found.Add(more...)
	for i := range found {
		found[i].Hook = h.Name
	}
	switch {
	case found.HasErrors():
	case made.Runner == nil:
		panic(Misuse{r.Name, "was made without a Runner"})
	case made.Effects.World == policy.WorldUnset:
		panic(Misuse{r.Name, "does not say how it uses the world: set Effects.World to policy.WorldNone, WorldRead or WorldWrite"})
	}
	return made, found
}

func (r *Rule) check(h *policy.Hook) (Options, diag.List) {
	var found diag.List
	opts := Options{}
	for _, opt := range h.Body.Options {
		i := slices.IndexFunc(r.Options, func(s OptionSpec) bool { return s.Name == opt.Key.Value })
		if i < 0 {
			found.Add(codeUnknownOption.Report(opt.Key.Span, "%s has no option %q", r.Name, opt.Key.Value).
				WithHint("%s", diag.DidYouMean(opt.Key.Value, r.optionNames(), "it takes "+strings.Join(r.optionNames(), ", "))).WithHook(h.Name))
			continue
		}
		if want, ok := r.Options[i].takes(opt.Value); !ok {
			found.Add(CodeOptionValue.Report(OptionSpan(opt), "%s must be %s", opt.Key.Value, want).WithHook(h.Name))
			continue
		}
		opts[opt.Key.Value] = opt
	}
	for _, spec := range r.Options {
		written := slices.ContainsFunc(h.Body.Options, func(o policy.Option) bool { return o.Key.Value == spec.Name })
		if spec.Required && !written {
			found.Add(CodeOptionMissing.Report(UseSpan(h), "%s needs the option %s: %s", r.Name, spec.Name, spec.Doc).WithHook(h.Name))
		}
	}
	return opts, found
}

func (r *Rule) optionNames() []string {
	out := make([]string, len(r.Options))
	for i, s := range r.Options {
		out[i] = s.Name
	}
	return out
}

func (s *OptionSpec) takes(v any) (want string, ok bool) {
	if s.Texts {
		_, ok := textList(v)
		return "a list of strings", ok
	}
	return s.Type.Article(), s.Type.Holds(v)
}

//go:noinline
func textList(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, true
	}
	return nil, false
}

// OptionSpan is where an option's value is written, or its key.
//
//go:noinline
func OptionSpan(opt policy.Option) diag.Span {
	if opt.Span.IsZero() {
		return opt.Key.Span
	}
	return opt.Span
}

// UseSpan is where a hook names its rule, or the hook itself.
//
//go:noinline
func UseSpan(h *policy.Hook) diag.Span {
	if h.Body.Use.Span.IsZero() {
		return h.Span
	}
	return h.Body.Use.Span
}
