package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

var codeOpenMembership = diag.Define(diag.Code{
	ID: "HK116", Severity: diag.Warning,
	Title: "in over a literal with variables does not see them",
	Help: `OPA looks at what a rule demands of the event before it evaluates the rule. Of
"input.tool_name in [name, "Bash"]" it takes only "Bash" for what may be there: for
any other tool the rule is left out, whatever name is, and a guard does not fire.
Give the collection a name first, or write the tests apart.`,
	Bad: `pre_tool_execution:
  - name: shells
    type: rego
    source: |
      package hooks.shells
      deny contains "no shells" if input.tool_name in [input.tool_input.name, "Bash"]
`,
	Good: `pre_tool_execution:
  - name: shells
    type: rego
    source: |
      package hooks.shells
      deny contains "no shells" if {
        names := [input.tool_input.name, "Bash"]
        input.tool_name in names
      }
`,
})

var codeEarlyKey = diag.Define(diag.Code{
	ID: "HK088", Severity: diag.Warning,
	Title: "comprehension takes a variable for given that it is indexed by",
	Help: `OPA evaluates a comprehension whose body looks something up by a variable from around
it, such as "n := input.tool_input.sizes[name]", once for all values of the variable,
and so without one. What stands before the lookup and needs the variable then fails, or
is decided wrongly: put it behind the lookup.`,
	Bad: `pre_tool_execution:
  - name: sizes
    type: rego
    source: |
      package hooks.sizes
      deny contains "too large" if {
        some name in input.tool_input.names
        sizes := [n | startswith(name, "log"); n := input.tool_input.sizes[name]]
        sum(sizes) > 100
      }
`,
	Good: `pre_tool_execution:
  - name: sizes
    type: rego
    source: |
      package hooks.sizes
      deny contains "too large" if {
        some name in input.tool_input.names
        sizes := [n | n := input.tool_input.sizes[name]; startswith(name, "log")]
        sum(sizes) > 100
      }
`,
})

var codeEndless = diag.Define(diag.Code{
	ID: "HK089", Severity: diag.Error,
	Title: "comprehension whose evaluation has no end",
	Help: `OPA evaluates a comprehension whose body looks something up by a variable from around
it without that variable. One that first compares the variable with a value that
contains it, as "name == [name]", makes OPA build a value without end, and the process
dies of it. Put what needs the variable behind the lookup.`,
	Bad: `pre_tool_execution:
  - name: sizes
    type: rego
    source: |
      package hooks.sizes
      deny contains "too large" if {
        some name in input.tool_input.names
        sizes := [n | name == [name]; n := input.tool_input.sizes[name]]
        sum(sizes) > 100
      }
`,
	Good: `pre_tool_execution:
  - name: sizes
    type: rego
    source: |
      package hooks.sizes
      deny contains "too large" if {
        some name in input.tool_input.names
        sizes := [n | n := input.tool_input.sizes[name]; name != [name]]
        sum(sizes) > 100
      }
`,
})

// lintTopdown finds what OPA evaluates otherwise than Rego means it, in the
// hook's own module and in those of its library: a guard may not fire for it,
// or the process end.
func (u *unit) lintTopdown(c *ast.Compiler) {
	for _, file := range spell.Keys(c.Modules) {
		for _, r := range c.Modules[file].Rules {
			for _, e := range openMemberships(r) {
				u.reportHint(codeOpenMembership, e.Location, apart(e), "left out unless it is one of the constants")
			}
			ast.WalkTerms(r, func(t *ast.Term) bool {
				if e := earlyKey(c, t); e != nil && !settlesItself(e) {
					u.reportEarly(c, e)
				}
				return false
			})
		}
	}
}

// settlesItself reports whether an expression comes to nothing at worst without its
// variable, and OPA then evaluates the comprehension again with it.
func settlesItself(e *ast.Expr) bool {
	_, term := e.Terms.(*ast.Term)
	return e.Negated && (term || e.IsEquality())
}

func (u *unit) reportEarly(c *ast.Compiler, e *ast.Expr) {
	const hint = "put it behind what looks the variable up"
	if endless(c, e) {
		u.reportHint(codeEndless, e.Location, hint, "builds a value without end, which ends the process")
		return
	}
	u.reportHint(codeEarlyKey, e.Location, hint, "is evaluated before its variable has a value")
}

// apart is how to write a test of membership so that no index knows it.
func apart(e *ast.Expr) string {
	value, of, ok := strings.Cut(string(e.Location.Text), " in ")
	if !ok || strings.Contains(of, "\n") {
		return "give the collection a name first"
	}
	return "write `choices := " + of + "` before it, and `" + value + " in choices`"
}
