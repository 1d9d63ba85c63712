package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// sorrel is an agent that nobody made. Its file is laid over this package by
// tests/onefile, and nothing else of hookc knows it.
var _ = register(Agent{
	ID: "sorrel", Version: "3", Aliases: []string{"sorrel-cli"},
	Doc:      "Sorrel: a JSON object with a word on stdout",
	eventKey: "moment",
	keys: slices.Concat(
		[]key{
			{name: "tool", field: policy.FieldToolName},
			{name: "args", field: policy.FieldToolInput},
			{name: "folder", field: policy.FieldCwd},
			{name: "typed", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
		},
		same(policy.FieldSessionID),
	),
	env: []envKey{{"SORREL_ROOT", policy.FieldProjectRoot}},
	points: []point{
		{name: "beforeCall", event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny, writes: []policy.Field{policy.FieldToolInput}},
		{name: "afterCall", event: policy.PostToolExecution, may: MayContext},
		{name: "typed", event: policy.PreSendMessage, may: MayDeny, at: At{Field: policy.FieldUserInput, Standard: 7 * time.Second}},
		{name: "finished", event: policy.StopEvent, may: MayDeny},
	},
	Profile: &Profile{
		Tools: []string{"Run", "Write"},
		Rules: func(bool) policy.Profile {
			out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
			for _, e := range []policy.Event{policy.PreToolExecution, policy.PreSendMessage, policy.StopEvent} {
				out.Strategies[e] = &policy.StrategySpec{Strategy: "sorrel", Halt: policy.HaltDeny, Fold: policy.FoldMax,
					Doc: "one after another until one refuses", Rules: policy.Rules{Supersede: supersede.ReasonsOfVerdict}}
			}
			return out
		},
	},
	Files: []File{
		{Tier: policy.TierUser, Base: Home, Path: ".sorrel/hooks.json", Env: "SORREL_HOME", EnvPath: "hooks.json", Install: Writes, Layout: Flat},
		{Tier: policy.TierProject, Base: Project, Path: ".sorrel/hooks.json", Install: Writes, Layout: Flat},
	},
	protects: []string{"~/.sorrel-rc"},
	settings: &Settings{
		Handler: Handler{Command: "run", Timeout: "patience"},
		Unit:    time.Second, Standard: time.Minute,
		Matchers: wrapped,
		Switches: []Switch{{Path: "ways.mute", Off: true, Ranks: []policy.Tier{policy.TierProject, policy.TierUser}}},
		Reading: Reading{
			Doc: "hooks.json of Sorrel", Comments: true,
			Beside: []string{"theme"}, Gone: []string{"before"}, GoneTo: "beforeCall",
			Matcher: MatcherReading{Flavour: pattern.ECMAScript, Whole: true, Absent: EmptyHolds,
				NotPattern: "%q is no pattern of Sorrel's (%v): it never runs"},
			Hook: HookReading{
				Types: []string{"script", "oracle"}, NotRun: "Sorrel has no hooks of type TYPE",
				Fails: []string{"oracle"}, Failing: "only Sorrel asks its oracle", Failure: "the oracle is silent",
				Env: "with", Dir: "at", Async: "later", Unset: "SORREL_DREAM",
			},
			Once: OnceEach,
		},
	},
	deliver: func(a *answer) Wire {
		out := reply{}
		switch a.act {
		case allow, ask, deny:
			out["word"] = a.act.String()
			out.text("because", a.reason)
		}
		if input, ok := a.patch[policy.FieldToolInput]; ok {
			out["args"] = input
		}
		out.text("note", a.contextText())
		return out.wire(0, "")
	},
	refuseUnknown: func(reason string) Wire { return reply{"word": "deny", "because": reason}.wire(0, "") },
	noticeExit:    1,
	scripts: scripts{
		read: func(a output) (policy.Result, error) {
			d := a.draft()
			switch text := strings.TrimSpace(a.Stdout); {
			case a.Exit == 2:
				d.verdict(policy.Deny, a.complaint("refused"))
			case a.Exit != 0:
				return policy.Result{}, a.failure()
			case text != "":
				v, err := looseJSON(text)
				m, ok := v.(map[string]any)
				if err != nil || !ok {
					return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
				}
				o := d.object(m)
				d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}, o.text("word"), o.text("because"))
				d.context(o.text("note"))
			}
			return d.done()
		},
	},
})
