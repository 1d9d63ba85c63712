package runner

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/observe"
)

// llmKind asks a language model. Its reads are the variables of its prompt.
func llmKind(o Options) dag.Kind {
	return dag.Kind{
		Name: policy.KindLLM, Timeout: 30 * time.Second, Retry: 1, Cost: 2 * time.Second,
		OnGuard: policy.OnErrorSkip, OnOther: policy.OnErrorSkip,
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) { return prepareLLM(o, h) },
		Doc:     "a prompt with {{fields}} to a language model, which answers with a HookResult",
	}
}

// prepareLLM makes a prompt ready. A model changes nothing in the world, but
// a call discloses data and costs money: it is never started early unless the
// author says so.
func prepareLLM(o Options, h *policy.Hook) (dag.Body, diag.List) {
	t, found := parseTemplate(h)
	spec := h.Event.Spec()
	if agent.Speaks(h.Body.Protocol).Asks(h) {
		t, found = template{}, nil // its prompt is no template
	}
	model := h.Body.Model
	if model == "" && h.File != nil {
		model = h.File.Model
	}
	if model == "" {
		model = o.DefaultModel
	}
	reads := t.reads()
	if model == "" && spec.CanRead(policy.FieldModel) {
		reads = reads.Union(policy.FieldPaths(policy.FieldModel)) // the event's is asked
	}
	body := dag.Body{
		Runner: &llm{hook: h, template: t, name: model, model: o.Model, debug: o.Debug},
		Effects: policy.Effects{
			Reads: reads, Writes: spec.Writable(), May: spec.PowersFor(h.Body.Protocol),
			World: policy.WorldNone, MayFail: true,
		},
	}
	if agent.Speaks(h.Body.Protocol).Asks(h) {
		body.Effects.Reads, body.Effects.May, body.Effects.Writes = spec.Readable(), policy.AllPowers, policy.Paths{}
	}
	return body, found
}

// llm is a prompt made ready.
type llm struct {
	hook     *policy.Hook
	template template
	name     string
	model    policy.Model
	debug    func(DebugRecord)
}

// Run asks the model once.
func (l *llm) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	began := time.Now()
	ctx, ended := observe.Hook(ctx, l.hook, attempt)
	r, err := l.ask(ctx, in, attempt)
	ended(err)
	if l.debug != nil {
		record := DebugRecord{Hook: l.hook.Name, Event: l.hook.Event, Kind: policy.KindLLM, Command: "model " + l.name,
			Exit: -1, Micros: time.Since(began).Microseconds(), Attempt: attempt}
		if err != nil {
			record.Error = redactor{}.text(err.Error())
		}
		l.debug(record)
	}
	return r, err
}

func (l *llm) ask(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	if l.model == nil {
		return policy.Result{}, policy.Failf(policy.ErrNetwork,
			"no model provider is configured: set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY, or pass a Model")
	}
	if ctx.Err() != nil {
		return policy.Result{}, ended(ctx)
	}
	prompt := l.template.render(in) + instruction
	if agent.Speaks(l.hook.Body.Protocol).Asks(l.hook) {
		var err error
		if prompt, err = agent.Speaks(l.hook.Body.Protocol).Prompt(l.hook, in); err != nil {
			return policy.Result{}, err
		}
	}
	out, err := answered(ctx, l.hook, func() (agent.Outcome, error) {
		reply, err := l.model(ctx, policy.ModelRequest{Model: lists.First(l.name, in.Text(policy.FieldModel)), Prompt: prompt, Attempt: attempt})
		return agent.Outcome{Stdout: reply}, err
	})
	switch {
	case err == nil:
		return l.reply(out.Stdout, in)
	case ctx.Err() != nil:
		return policy.Result{}, ended(ctx)
	}
	var known *policy.HookError
	if errors.As(err, &known) {
		return policy.Result{}, known
	}
	return policy.Result{}, policy.Failf(policy.ErrNetwork, "model: %w", err)
}

// reply reads what the model said; of a hook of jcli's own configuration as
// jcli does, to which an empty reply says nothing.
func (l *llm) reply(text string, in *policy.Context) (policy.Result, error) {
	own := agent.Speaks(l.hook.Body.Protocol)
	switch {
	case own.Asks(l.hook):
		return own.Reply(l.hook, text)
	case l.hook.Body.Agent.Event == "":
		return readReply(text, policy.By{Name: l.hook.Name, At: l.hook.Span})
	}
	if strings.TrimSpace(text) == "" {
		return policy.Result{}, nil
	}
	object, err := replyObject(text)
	if err != nil {
		return policy.Result{}, err
	}
	return own.Read(l.hook, in, agent.Outcome{Stdout: object})
}

// instruction ends every prompt: it says what an answer looks like.
var instruction = `

Answer with exactly one JSON object and no other text. Answer {} if you have nothing to say.
"decision" is "allow", "ask", "defer" or "deny"; "reason" says why.
"action" is "skip" (leave out this step), "stop" (end the operation) or "halt" (end the turn);
"retry_feedback" beside "stop" says what to do better.
All keys are optional: ` + strings.Join(policy.HookResultKeys(), ", ") + `.`

// readReply reads a HookResult from the first { to the last } of a reply. A
// reply without one is a failure: silence is not consent.
func readReply(reply string, by policy.By) (policy.Result, error) {
	object, err := replyObject(reply)
	if err != nil {
		return policy.Result{}, err
	}
	return agent.Strictest(by, object, func(text string) (policy.Result, error) { return policy.ParseHookResultText([]byte(text), by) })
}

func replyObject(reply string) (string, error) {
	first, last := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	switch {
	case strings.TrimSpace(reply) == "":
		return "", policy.Failf(policy.ErrParse, "the model's reply is empty")
	case first < 0 || last < first:
		return "", policy.Failf(policy.ErrParse, "the model's reply holds no JSON object")
	}
	return reply[first : last+1], nil
}
