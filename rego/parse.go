package rego

import (
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

var codeSyntax = diag.Define("HK070", diag.Error, "Rego does not parse")
var codeCompile = diag.Define("HK071", diag.Error, "Rego does not compile")
var codeForbidden = diag.Define("HK074", diag.Error, "Rego calls a forbidden function")
var codeSettings = diag.Define("HK078", diag.Error, "rego settings name something unknown")

// DefaultForbid lists the functions a hook may not call when its policy file
// does not say (semantics.md §3.2).
func DefaultForbid() []string { return []string{"http.send", "net.lookup_ip_addr", "opa.runtime"} }

var versions = map[string]ast.RegoVersion{"": ast.RegoV1, "v1": ast.RegoV1, "v0": ast.RegoV0}

// settings reads the version and the forbidden functions. What is wrong there
// belongs to the policy file, not to the hook.
func (u *unit) settings() {
	version, ok := versions[u.config.Version]
	if !ok {
		u.found.Add(codeSettings.Report(u.fileSpan(), "rego.version %q is unknown", u.config.Version).
			WithHint("versions are v0 and v1"))
		version = ast.RegoV1
	}
	u.version = version
	forbid := u.config.Forbid
	if forbid == nil {
		forbid = DefaultForbid()
	}
	u.forbid = make(map[string]struct{}, len(forbid))
	known := callable()
	for _, name := range forbid {
		u.forbid[name] = struct{}{}
		if _, ok := slices.BinarySearch(known, name); !ok {
			u.found.Add(codeSettings.Report(u.fileSpan(), "rego.forbid names %q, which is no function", name).
				WithHint("%s", diag.DidYouMean(name, known, "hookc list shows hookc's functions, OPA's manual the others")))
		}
	}
}

// fileSpan is the start of the hook's policy file: the same for all its hooks,
// so that a finding about the file is reported once.
func (u *unit) fileSpan() diag.Span { return diag.Span{Source: u.hook.Span.Source} }

// callable lists the functions of OPA and of hookc, sorted.
var callable = lazy.Value(func() []string {
	out := make([]string, 0, len(ast.Builtins)+len(functions().decls))
	for _, b := range ast.Builtins {
		out = append(out, b.Name)
	}
	for _, b := range functions().decls {
		out = append(out, b.Name)
	}
	return lists.Distinct(out)
})

// parse reads the hook's own text.
func (u *unit) parse() {
	text := u.hook.Body.Source
	u.where[ownFile] = text
	module, err := parseModule(ownFile, text.Value, u.version)
	if err != nil {
		for _, d := range syntaxFindings(u.where, text.Value, u.version, err) {
			if d.Span.IsZero() {
				d.Span = u.hook.Span
			}
			u.found.Add(d.WithHook(u.hook.Name))
		}
		return
	}
	u.own = module
	u.modules[ownFile] = module
}

func parseModule(file, text string, version ast.RegoVersion) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(file, text, ast.ParserOptions{RegoVersion: version, ProcessAnnotation: true})
}

// syntaxFindings reports parse errors. Where v1 was expected and the text is
// v0, the first error means all.
func syntaxFindings(where positions, text string, version ast.RegoVersion, err error) diag.List {
	var list ast.Errors
	if !errors.As(err, &list) {
		list = ast.Errors{{Code: ast.ParseErr, Message: err.Error(), Location: &ast.Location{File: ownFile, Row: 1, Col: 1}}}
	}
	var out diag.List
	for i, e := range list {
		if i+1 < len(list) && strings.HasPrefix(list[i+1].Message, e.Message) {
			continue // The parser repeats itself with more detail.
		}
		out.Add(codeSyntax.Report(where.span(e.Location), "%s", e.Message))
	}
	if version == ast.RegoV1 {
		if _, err := parseModule(ownFile, text, ast.RegoV0); err == nil {
			return diag.List{out[0].WithHint("this is Rego v0: write `deny contains msg if { ... }`, or set rego: {version: v0}")}
		}
	}
	return out
}

// ownCalls reports what the modules that are not shared call that they may
// not.
func (u *unit) ownCalls() {
	for _, file := range lists.Keys(u.modules) {
		for _, fault := range forbiddenCalls(u.modules[file], u.forbid) {
			u.reportForbidden(fault)
		}
	}
}

// forbiddenCalls lists every call of a forbidden function.
func forbiddenCalls(m *ast.Module, forbid map[string]struct{}) []libraryFault {
	var out []libraryFault
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok {
			name := ref.String()
			if _, bad := forbid[name]; bad {
				out = append(out, libraryFault{t.Location, name})
			}
		}
		return false
	})
	return out
}

// report adds a finding; it names the hook when it lies in its own text.
func (u *unit) report(code *diag.Code, loc *ast.Location, format string, args ...any) {
	u.reportHint(code, loc, "", format, args...)
}

func (u *unit) reportHint(code *diag.Code, loc *ast.Location, hint, format string, args ...any) {
	d := code.Report(u.where.span(loc), format, args...).WithHint("%s", hint)
	if loc == nil {
		d.Span = u.hook.Body.Source.Span
	}
	if loc == nil || loc.File == ownFile {
		d = d.WithHook(u.hook.Name)
	}
	u.found.Add(d)
}

// reportCompile reports OPA's compile errors with the author's package name.
func (u *unit) reportCompile(list ast.Errors) {
	for _, e := range list {
		text := u.names.restore(e.Message)
		u.reportHint(codeCompile, e.Location, compileHint(u.own, e.Message), "%s", text)
	}
}

// compileHint guesses what an unknown name was meant to be.
func compileHint(in *ast.Module, message string) string {
	if name, ok := spell.CutPrefix(message, "undefined function "); ok {
		return diag.DidYouMean(name, callable(), "shared functions live in the files of rego: {paths: [...]}")
	}
	name, ok := spell.CutSuffix(strings.TrimPrefix(message, "var "), " is unsafe")
	if !ok {
		return ""
	}
	candidates := []string{"input", "data"}
	if in != nil {
		for _, r := range in.Rules {
			candidates = append(candidates, r.Head.Ref()[0].Value.String())
		}
		for _, i := range in.Imports {
			candidates = append(candidates, string(i.Name()))
		}
	}
	return diag.DidYouMean(name, candidates, "nothing gives "+name+" a value")
}
