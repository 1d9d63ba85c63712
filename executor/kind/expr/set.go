package expr

import (
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// exprSet is one entry of `set:`. A whole field goes the way of the canonical
// HookResult key of its name, so objects merge and the rest replaces; a dotted
// path sets that leaf (semantics.md §2.6).
type exprSet struct {
	// key is the HookResult key of a whole field or an output; "" for a leaf.
	// tool_arguments and modified_input replace tool_input instead of merging.
	key   string
	path  policy.Path
	value *formula
	// output is true for what is collected rather than changed.
	output bool
}

// outputKeys are what set may give besides the fields of the event, and
// whether the event takes it.
var outputKeys = map[string]func(*policy.EventSpec) bool{
	"additional_context": func(s *policy.EventSpec) bool { return s.Context },
	"retry_feedback":     func(s *policy.EventSpec) bool { return s.Feedback },
	"inject_messages":    func(s *policy.EventSpec) bool { return s.Inject },
	"stop_reason":        func(s *policy.EventSpec) bool { return s.Powers.Has(policy.MayHalt) },
	"system_message":     func(*policy.EventSpec) bool { return true },
	"suppress_output":    func(*policy.EventSpec) bool { return true },
}

func (b *exprBuilder) set(assign policy.Assign) {
	name, spec := assign.Path.Value, b.hook.Event.Spec()
	s := exprSet{key: name}
	b.sure = false
	takes, isOutput := outputKeys[name]
	if isOutput {
		s.output = true
		if !takes(spec) {
			b.found.Add(codeExprTarget.Report(assign.Path.Span, "%s takes no %s", spec.Event, name))
		}
	} else if !b.target(assign.Path, spec, &s) {
		return
	}
	if s.value = b.formula("set "+name, assign.Value, wantAny); s.value != nil {
		b.out.sets = append(b.out.sets, s)
	}
}

// target finds the field a set changes, and reports one that it cannot.
func (b *exprBuilder) target(path diag.Text, spec *policy.EventSpec, s *exprSet) bool {
	p, err := policy.ParsePath(path.Value)
	if f, _, sets := policy.HookResultField(path.Value); sets {
		p, err = policy.Path{Field: f}, nil // also by another name of the field
	}
	if err != nil {
		b.found.Add(codeExprTarget.Report(path.Span, "set: %s", err).
			WithHint("%s", diag.DidYouMean(path.Value, settable(spec), hintSettable(spec))))
		return false
	}
	if !spec.CanWrite(p.Field) {
		b.found.Add(codeExprTarget.Report(path.Span, "%s does not let a hook change %s", spec.Event, p.Field).
			WithHint("%s", hintSettable(spec)))
		return false
	}
	s.path = p
	if len(p.Keys) > 0 && p.Field != policy.FieldToolConfig {
		s.key = ""
	}
	return true
}

func settable(spec *policy.EventSpec) []string {
	var out []string
	for _, f := range spec.Writes {
		out = append(out, f.String())
	}
	for name, takes := range outputKeys {
		if takes(spec) {
			out = append(out, name)
		}
	}
	lists.Sort(out)
	return out
}

func hintSettable(spec *policy.EventSpec) string {
	out := "here a hook may set "
	for i, name := range settable(spec) {
		if i > 0 {
			out += ", "
		}
		out += name
	}
	return out
}

// apply adds to r what the entry sets; an undefined value sets nothing.
func (s *exprSet) apply(f *frame, r *policy.Result) error {
	v := s.value.run(f)
	if isUndefined(v) {
		return nil
	}
	value, err := jsonValue(v)
	if err != nil {
		f.fail(0, "%s", err)
	}
	if s.key == "" {
		r.Patch = r.Patch.Then(policy.Replace(s.path, value))
		return nil
	}
	key := s.key
	if s.path.Field == policy.FieldToolConfig && !s.output {
		for _, k := range slices.Backward(s.path.Keys) {
			value = map[string]any{k: value}
		}
		key = s.path.Field.String()
	}
	more, err := policy.ParseHookResult(map[string]any{key: value}, policy.By{})
	if err != nil {
		f.fail(0, "%s", err)
	}
	*r = policy.Join(policy.FoldMax, *r, more)
	return nil
}
