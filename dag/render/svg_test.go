package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// rulesEvent is an event with n rules of slot 0 and, where asked, a process that all
// of them hold up, and a rule behind it.
func rulesEvent(n int, process bool) *EventModel {
	e := &EventModel{Event: "pre_tool_execution", Strategy: "chain", Halts: "halts on deny", Slots: []SlotModel{{Slot: 0, EstUS: 12}}}
	add := func(h HookModel) {
		h.Label, h.May = h.Name, []string{"deny"}
		e.Items = append(e.Items, ItemModel{Pos: h.ID, Hooks: []HookModel{h}})
	}
	for i := range n {
		add(HookModel{ID: fmt.Sprint(i + 1), Name: fmt.Sprint("rule-", i), Kind: "expr", Mode: ModeInline})
	}
	if process {
		add(HookModel{ID: "p", Name: "script", Kind: "bash", Mode: ModeProcess, Slot: -1})
		add(HookModel{ID: "r", Name: "again", Kind: "expr", Mode: ModeInline, Slot: 1, Filter: strings.Repeat("a=b ", 60)})
		for i := range n {
			e.Edges = append(e.Edges, EdgeModel{From: fmt.Sprint(i + 1), To: "p", Kind: "gate", Why: "it may deny"})
		}
		e.Edges = append(e.Edges, EdgeModel{From: "p", To: "r", Kind: "data"})
	}
	return e
}

// TestManyRulesAreFolded: sixty rules of a slot are one box with their count in a
// picture that needs no sideways scrolling, and each of them is in the other picture.
func TestManyRulesAreFolded(t *testing.T) {
	e := rulesEvent(60, true)
	p, folded := drawEvent(e, true, false)
	assert.True(t, folded)
	body := p.body.String()
	assert.LessOrEqual(t, p.w, 1230.0)
	assert.Contains(t, body, ">60 rules<")
	assert.NotContains(t, body, ">7  rule-6<")
	assert.Equal(t, 1, strings.Count(body, `data-from="slot0" data-to="p"`), "one arrow for the sixty")
	assert.Contains(t, body, ` data-holds="1 2 3 4 `)
	all, folded := drawEvent(e, false, false)
	assert.False(t, folded)
	for i := range 60 {
		assert.Equal(t, 1, strings.Count(all.body.String(), fmt.Sprintf(`data-id="%d"`, i+1)))
	}
	_, folded = drawEvent(rulesEvent(foldAbove, true), true, false)
	assert.False(t, folded, "few rules are drawn each")
}

// TestFoldingThatWouldTurnBack: rules of a slot of which one waits for what waits for
// another are drawn each.
func TestFoldingThatWouldTurnBack(t *testing.T) {
	e := rulesEvent(20, true)
	e.Items[len(e.Items)-1].Hooks[0].Slot = 0
	_, folded := drawEvent(e, true, false)
	assert.False(t, folded)
}

// TestLegend: what is drawn is explained, and nothing else.
func TestLegend(t *testing.T) {
	p, _ := drawEvent(rulesEvent(3, true), true, false)
	for text, want := range map[string]int{"evaluated in process": 1, "a process": 1, "a question to a model": 0, "started, not waited for": 0,
		"evaluated or started together": 1, "data: reads what the other may write": 1, "gate: not started while the other may end the chain": 1, "order: their use of the world is not swapped": 0} {
		assert.Equal(t, want, strings.Count(p.body.String(), ">"+text+"</text>"), text)
	}
}

// TestNothingIsCut: a text goes on in the next line where there is room.
func TestNothingIsCut(t *testing.T) {
	long := "tool_kind=shell command=^(a|b)$ permission_mode=default|acceptEdits not_permission_mode=plan"
	e := rulesEvent(1, false)
	e.Items[0].Hooks[0].Filter = long
	p, _ := drawEvent(e, true, false)
	for _, word := range strings.Fields(long) {
		assert.Contains(t, p.body.String(), word)
	}
	assert.NotContains(t, p.body.String(), "…")
}

// TestNoTalkOfProcesses: where all is evaluated in process, no line of the text speaks
// of processes.
func TestNoTalkOfProcesses(t *testing.T) {
	for _, process := range []bool{false, true} {
		e := rulesEvent(3, process)
		e.Tools = []ToolsModel{{Tools: []string{"Bash"}}}
		e.Tools[0].EstimateModel = EstimateModel{Path: []string{"rule-0"}, FirstDenyUS: 2}
		e.Estimate = e.Tools[0].EstimateModel
		page := &textPage{}
		page.event(e, "")
		assert.Equal(t, process, strings.Contains(page.b.String(), "process"), page.b.String())
	}
	_, m := deniedTrace(0)
	for _, outside := range []bool{false, true} {
		m.outside = outside
		text := traceText(t, m, Style{})
		head, _, _ := strings.Cut(text, "\n")
		_, without, _ := strings.Cut(text, "without")
		assert.Equal(t, outside, strings.Contains(head, "process"), head)
		assert.Equal(t, outside, strings.Contains(without, "process"), without)
	}
}
