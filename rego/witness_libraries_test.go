package rego

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/conditions"
)

// score counts the answers of rules.
type score struct {
	fires, never, unknown int
	why                   map[string]int
	lines                 []string
}

func (s *score) known() float64 {
	return 100 * float64(s.fires+s.never) / float64(max(1, s.fires+s.never+s.unknown))
}

// TestWitnessLibraries looks for a witness of every rule of public libraries that
// says something. Their folders are two halves: what is not known of the rules of
// one is shown, to be mended, of the other half only how many there are.
func TestWitnessLibraries(t *testing.T) {
	folders := filepath.SplitList(os.Getenv(librariesEnv))
	if len(folders) == 0 {
		t.Skip(librariesEnv + " names no folder of Rego")
	}
	halves := [2]score{{why: map[string]int{}}, {why: map[string]int{}}}
	for _, folder := range folders {
		for _, m := range loadLibraries(t, folder) {
			h := fnv.New32a()
			fmt.Fprint(h, path.Dir(m.name))
			m.standIn()
			if r := m.open(m.parsed); r != nil {
				halves[h.Sum32()%2].add(r)
			}
		}
	}
	for i, name := range []string{"shown", "not looked at"} {
		s := &halves[i]
		t.Logf("%s: %d fire, %d never, %d unknown: %.1f %% known", name, s.fires, s.never, s.unknown, s.known())
	}
	both := score{fires: halves[0].fires + halves[1].fires, never: halves[0].never + halves[1].never, unknown: halves[0].unknown + halves[1].unknown}
	assert.GreaterOrEqual(t, both.known(), 95.0)
	var why []string
	for w := range halves[0].why {
		why = append(why, w)
	}
	sort.Slice(why, func(i, j int) bool { return halves[0].why[why[i]] > halves[0].why[why[j]] })
	for _, w := range why {
		t.Logf("%4d %s", halves[0].why[w], w)
	}
	t.Log(strings.Join(halves[0].lines, "\n"))
	require.Greater(t, both.fires, 300)
}

// add looks for witnesses of the rules of a module that say something.
func (s *score) add(r *corpusRun) {
	reader := conditions.Reader{Compiler: r.compiler, Open: func([]string, string) bool { return false }, Span: func(*ast.Location) diag.Span { return diag.Span{} },
		Document: func(path []string) (any, bool) { return nil, len(path) == 0 }}
	for _, rule := range r.compiler.Modules[r.name+".rego"].Rules {
		if rule.Default || len(rule.Head.Args) > 0 || !isVerdict(strings.Trim(rule.Head.Ref()[len(rule.Head.Ref())-1].Value.String(), `"`)) && !isVerdict(string(rule.Head.Name)) {
			continue
		}
		world := solve.World{Open: true}
		answer := world.Search(reader.Else(rule, 0), func(doc map[string]any) bool { return r.holds(rule, doc) })
		switch {
		case answer.Event != nil:
			s.fires++
		case answer.Proof != nil:
			s.never++
			s.lines = append(s.lines, fmt.Sprintf("never: %s %v", rule.Location, len(answer.Proof.Ways)))
		default:
			s.unknown++
			for _, w := range answer.Unknown {
				s.why[w]++
			}
			s.lines = append(s.lines, fmt.Sprintf("%s tried %d: %s", rule.Location, answer.Tried, strings.Join(answer.Unknown, "; ")))
		}
	}
}

// holds reports whether a rule gives something on an input.
func (r *corpusRun) holds(rule *ast.Rule, doc map[string]any) bool {
	input, err := ast.InterfaceToValue(doc)
	if err != nil {
		return false
	}
	body := rule.Body
	gives := rule.Head.Value
	if rule.Head.RuleKind() == ast.MultiValue {
		gives = rule.Head.Key
	}
	if gives != nil {
		body = append(slices.Clone(body), ast.NewExpr(gives))
	}
	rs, err := topdown.NewQuery(body).WithCompiler(r.compiler).WithStore(r.store).WithTransaction(r.txn).
		WithBuiltins(functions().eval).WithStrictBuiltinErrors(true).WithInput(ast.NewTerm(input)).Run(context.Background())
	return err == nil && len(rs) > 0
}
