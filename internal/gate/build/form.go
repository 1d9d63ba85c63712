package build

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// mark is a text that no answer has on its own.
const mark = "hookcMARKhookc"

// probes are what texts are like; a form must answer each as the dialect does.
// Those of several are said one by one.
var probes = [][]string{
	{"x"}, {"no push to main"}, {`"quoted" and 'single'`}, {"two\nlines\n\nand more"}, {"a\ttab\r\nand \x01 \x1f \x7f \b\f"}, {"<b>&amp;</b>"},
	{`back\slash \n \u0041`}, {"é ü 日本語 🎉 \u2028 \u2029 \u00a0 \ufeff."}, {`{"a":1}`}, {`[1]`}, {`"x"`}, {"null"}, {"allow"}, {"%s %d ${X} {{x}}"},
	{"hookc: x"}, {"HK101: x"}, {strings.Repeat("long ", rules.MaxText/5-1) + "text"}, {"one", "two"}, {"a\nb", "c", "d"},
}

// modes are permission modes in which some agent may be told something else.
var modes = []string{"bypassPermissions", "yolo", "plan", "default", "acceptEdits", "dontAsk", "auto"}

// form is how an agent is told an outcome; nil where that is left to hookc: it is
// not the same in every situation, or the text does not stand in it as it is.
func (s *stage) form(d *agent.Agent, p *agent.PointReading, outcome int) *rules.Form {
	call := reach(d, p)
	if call == nil {
		return nil
	}
	say := func(texts []string, situation func(*policy.Context)) *agent.Wire {
		decision := *s.delivered(outcome, texts) // Encode notes in it what it cannot say
		if decision.Action == policy.KeepWorking || decision.Action == policy.RetryTurn {
			return nil // it is counted
		}
		in := policy.NewContext(p.Event)
		situation(in)
		call.Context = in.Frozen(p.Event)
		w := call.Encode(&decision)
		return &w
	}
	plain := say([]string{mark}, situations[0])
	if plain == nil || plain.Exit < 0 || plain.Exit > 255 {
		return nil
	}
	for _, situation := range situations {
		in := policy.NewContext(p.Event)
		if situation(in); !in.Has(policy.FieldPermissionMode) && !reflect.DeepEqual(plain, say([]string{mark}, situation)) {
			return nil
		}
	}
	f := &rules.Form{Exit: plain.Exit}
	for _, mode := range modes {
		if !reflect.DeepEqual(plain, say([]string{mark}, func(c *policy.Context) { c.Set(policy.FieldPermissionMode, mode) })) {
			f.Except = append(f.Except, mode)
		}
	}
	f.Stdout.Literals = strings.Split(string(plain.Stdout), mark)
	f.Stderr.Literals = strings.Split(plain.Stderr, mark)
	for _, f.Join = range []string{"\n", "\n\n", " "} {
		for _, f.Stdout.Mode = range []int{rules.JSON, rules.HTMLJSON, rules.Raw} {
			for _, f.Stderr.Mode = range []int{rules.Raw, rules.JSON} {
				if holds(f, outcome, func(texts []string) *agent.Wire { return say(texts, situations[0]) }) {
					return f
				}
			}
		}
	}
	return nil
}

// holds reports whether a form answers every probe as the dialect does.
func holds(f *rules.Form, outcome int, say func([]string) *agent.Wire) bool {
	for _, texts := range probes {
		if outcome >= rules.BareDeny && len(texts) > 1 {
			continue // there is one name
		}
		want := say(texts)
		stdout, stderr, ok := f.Fill(texts)
		if !ok || want == nil || want.Exit != f.Exit || !bytes.Equal(want.Stdout, stdout) || want.Stderr != string(stderr) {
			return false
		}
	}
	return true
}
