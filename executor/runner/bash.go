package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/observe"
)

// bashKind runs a command with the event as JSON on its standard input and
// reads its answer by the protocol it speaks.
func bashKind(o Options) dag.Kind {
	return dag.Kind{
		Name: policy.KindBash, Timeout: 10 * time.Second, Cost: 2400 * time.Microsecond,
		OnGuard: policy.OnErrorSkip, OnOther: policy.OnErrorSkip,
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) { return prepareBash(o, h) },
		Decode: later(func(h *policy.Hook) (dag.Body, diag.List) {
			b := newBash(o, h)
			b.start() // what it finds is in the error of each run
			return dag.Body{Runner: b}, nil
		}),
		Doc: "a shell command: the event as JSON on stdin, the answer on stdout, in exit code and stderr",
	}
}

// prepareBash makes a command ready. A script is a black box: unless the
// author declares otherwise it reads and writes all there is and may say
// anything the event obeys.
func prepareBash(o Options, h *policy.Hook) (dag.Body, diag.List) {
	var found diag.List
	b := newBash(o, h)
	body := h.Body
	found.Add(b.start()...)
	if b.broken == nil && len(body.Args) == 0 {
		found.Add(lintCommand(h, &body)...)
	}
	if !b.agent.Refuses(2) {
		found.Add(lintExit2(h, &body)...)
	}
	found.Add(lintExit1(h, b.agent)...)
	spec := h.Event.Spec()
	eff := policy.Effects{Reads: spec.Readable(), Writes: spec.Writable(), May: spec.PowersFor(body.Protocol),
		World: policy.WorldWrite, MayFail: true}
	if body.Agent.Event != "" {
		// Its agent may obey more at the event than the canonical row.
		eff.Writes, eff.May = policy.FieldPaths(policy.Fields()...), policy.AllPowers
	}
	return dag.Body{Runner: b, Effects: eff}, found
}

func newBash(o Options, h *policy.Hook) *bash {
	speaks := agent.Speaks(h.Body.Protocol)
	if speaks == nil {
		panic("runner: hook " + h.Name + " speaks no known protocol: " + string(h.Body.Protocol))
	}
	return &bash{hook: h, body: h.Body, agent: speaks, debug: o.Debug, environ: o.Environ}
}

// bash is a command made ready.
type bash struct {
	hook  *policy.Hook
	body  policy.Body
	agent *agent.Agent
	debug func(DebugRecord)
	// environ is whose environment the command gets; nil is this process's.
	environ []string
	// path and args start it; broken is why it cannot be started.
	path   string
	args   []string
	broken error
}

// start finds what to execute and reports a command that cannot work.
func (b *bash) start() diag.List {
	if b.body.Broken != "" {
		b.broken = policy.Failf(policy.ErrParse, "%s", b.body.Broken)
		return nil
	}
	if len(b.body.Args) > 0 {
		return b.startDirect()
	}
	if b.body.Command.Value == "" {
		b.broken = policy.Failf(policy.ErrSpawn, "the hook has no command")
		return nil
	}
	b.args = []string{"sh", "-c", script(&b.body)}
	if noProcesses != "" {
		return b.unstartable()
	}
	path, err := b.shell()
	if err != nil {
		b.broken = policy.Failf(policy.ErrSpawn, "there is no sh on this machine: %w", err)
		return diag.List{codeUnstartable.Report(b.body.Command.Span, "there is no sh on this machine to run the command with").
			WithHook(b.hook.Name).WithHint("install a POSIX shell (on Windows that of Git) and put it on PATH")}
	}
	b.path = path
	return nil
}

// shell finds what reads the command: the agent's own shell for a hook of its
// own configuration, where that is installed.
func (b *bash) shell() (string, error) {
	if b.body.Agent.Event != "" {
		if path, err := (reach{}).find(b.agent.Shell()); err == nil {
			b.args[0] = b.agent.Shell()
			return path, nil
		}
	}
	return reach{}.find("sh")
}

// unstartable reports a command where nothing can be started: each run fails,
// and on_error decides.
func (b *bash) unstartable() diag.List {
	b.broken = policy.Failf(policy.ErrSpawn, noProcesses)
	return diag.List{codeUnstartable.Report(b.hook.Span, "%s: every run of the hook fails, and on_error decides", noProcesses).
		WithHook(b.hook.Name).WithHint("write the guard in Rego or expr, which are evaluated in process")}
}

// startDirect starts an entry point without a shell: a script, of which its
// reader has said already whether it can run, or the interpreter it is given
// to.
func (b *bash) startDirect() diag.List {
	if noProcesses != "" {
		return b.unstartable()
	}
	b.path, b.args = b.body.Args[0], b.body.Args
	if strings.ContainsRune(b.path, filepath.Separator) {
		return nil
	}
	path, err := reach{}.find(b.path)
	if err != nil {
		b.broken = policy.Failf(policy.ErrSpawn, "there is no %s on this machine: %w", b.path, err)
		return diag.List{codeUnstartable.Report(b.hook.Span, "there is no %s on this machine to run the script with", b.path).
			WithHook(b.hook.Name).WithHint("install %s and put it on PATH, or make the script executable", b.path)}
	}
	b.path = path
	return nil
}

// Run runs the command once.
func (b *bash) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	began := time.Now()
	ctx, ended := observe.Hook(ctx, b.hook, attempt)
	env := b.env(ctx, in)
	out, err := answered(ctx, b.hook, func() (agent.Outcome, error) { return b.run(ctx, in, env) })
	var r policy.Result
	if err == nil {
		r, err = b.read(in, out)
	}
	ended(err)
	if b.debug != nil {
		b.debug(b.record(env, out, err, time.Since(began), attempt))
	}
	return r, err
}

// once runs one body of the hook.
func (b *bash) once(ctx context.Context, in *policy.Context, env []string, body *policy.Body) (agent.Outcome, error) {
	none := agent.Outcome{Exit: -1}
	if b.broken != nil {
		return none, b.broken
	}
	stdin, err := b.agent.Input(b.hook.Event, b.body.Agent.Event, in)
	if err != nil {
		return none, policy.Failf(policy.ErrSpawn, "the event cannot be written as JSON: %w", err)
	}
	dir := body.WorkDir
	if dir == "" {
		dir = in.Text(policy.FieldCwd)
	}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return none, badDir(dir)
		}
		env = append(env, "PWD="+dir)
	}
	c := command{path: b.program(in), args: b.args, dir: dir, env: env, stdin: stdin, limit: maxStdout}
	if b.body.Agent.Event != "" {
		limit, cut := b.agent.MaxStdout()
		c.limit, c.cut = lists.First(limit, maxStdout), cut
		tail, waits := b.agent.Streams()
		c.tail = tail
		if waits {
			c.more = func(sofar agent.Outcome) bool { return b.body.Agent.Emulate || !b.refuses(in, sofar) }
		}
		if len(b.body.Args) == 0 {
			c.args = []string{b.args[0], "-c", b.agent.Expand(script(body), in)}
		}
	}
	return c.run(ctx)
}

// script is the text that the shell is given.
func script(b *policy.Body) string { return lists.First(b.Line, b.Command.Value) }
