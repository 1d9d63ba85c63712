package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// When the chain deadline strikes a faulty hook.
const (
	struckRunning = "running"
	struckWaiting = "waiting"
)

// fault is one way for a hook to fail, and what its failure is called.
type fault struct {
	name, kind string
	// hook holds the keys of the hook's body.
	hook map[string]any
	// rule, for rules: the body at an event that can, or cannot, refuse.
	rule func(refuses bool) map[string]any
	// fails is the kind of the failure, "" when all is well after all; text is
	// part of what it says.
	fails, text string
	// late failures are those of time, which on_timeout decides.
	late bool
	// struck says when the chain deadline strikes the hook, "" for never.
	struck string
	// sleeps: a row takes its time and little of the processor.
	sleeps bool
	// unheard: what it may have answered came too late, and the Decision says so.
	unheard bool
	// unstarted: no process comes to be, so nothing can count the attempts.
	unstarted bool
	// flaky hooks fail until their last attempt.
	flaky bool
	// chain is the event's chain_timeout.
	chain string
	// first goes before the hook in its chain.
	first map[string]any
	// event changes the event, in the folder of the row.
	event func(in *policy.Context, dir string)
	// go rules count their own attempts.
	run func(ctx context.Context, attempt int) (policy.Result, error)
	// reply, for llm: what the model's server does. With none, model says.
	reply func(p faultProvider) http.HandlerFunc
	model string
}

const (
	faultTimeout  = "250ms"
	faultDeadline = "300ms"
)

func script(name, fails, text, command string) fault {
	return fault{name: name, kind: "bash", fails: fails, text: text, hook: map[string]any{"command": command}}
}

func (f fault) with(change func(*fault)) fault {
	f.hook = maps.Clone(f.hook)
	change(&f)
	return f
}

func (f fault) protocol(p string) fault {
	return f.with(func(f *fault) { f.hook["protocol"] = p })
}

func (f fault) timed(timeout string) fault {
	return f.with(func(f *fault) { f.late, f.sleeps = true, true; f.hook["timeout"] = timeout })
}

func scriptFaults() []fault {
	all := []fault{
		script("cwd missing", "spawn", "does not exist", ":").with(func(f *fault) {
			f.unstarted = true
			f.event = func(in *policy.Context, dir string) { in.Set(policy.FieldCwd, filepath.Join(dir, "gone")) }
		}),
		script("cwd a file", "spawn", "not a directory", ":").with(func(f *fault) {
			f.unstarted = true
			f.event = func(in *policy.Context, _ string) { in.Set(policy.FieldCwd, "/dev/null") }
		}),
		script("exit 1", "exit", "exit status 1: out of luck", "echo out of luck >&2; exit 1"),
		script("exit 2", "exit", "exit status 2", "exit 2"),
		script("exit 3", "exit", "exit status 3", `echo '{"decision": "deny", "reason": "too late"}'; exit 3`),
		script("exit 126", "exit", "exit status 126: not executable", "/dev/null"),
		script("exit 127", "exit", "exit status 127: command not found", "no-such-command-of-hookc"),
		script("exit 137", "exit", "exit status 137 (signal 9)", "sh -c 'kill -KILL $$'; exit $?"),
		script("SIGKILL", "signal", "killed", "kill -KILL $$"), // what the system does when memory is short
		script("SIGTERM", "signal", "terminated", "kill -TERM $$"),
		script("SIGSEGV", "signal", "segmentation fault", "kill -SEGV $$"),
		script("SIGKILL after an answer", "signal", "killed", `echo '{"system_message": "said"}'; kill -KILL $$`),
		script("half JSON", "parse", "not JSON", `printf '{"decision": "al'`),
		script("array", "parse", "not a JSON object", `echo '[{"decision": "allow"}]'`),
		script("scalar", "parse", "not a JSON object", "echo 5"),
		script("text", "parse", "not JSON", "echo all is well"),
		script("trailing text", "parse", "not JSON", `echo '{"decision": "allow"} and so on'`),
		script("wrong type", "parse", "decision", `echo '{"decision": 5}'`),
		script("wrong type of a field", "parse", "retry_feedback", `echo '{"retry_feedback": ["again"]}'`),
		script("unknown decision", "parse", "decision", `echo '{"decision": "perhaps"}'`),
		script("unknown action", "parse", "action", `echo '{"action": "explode"}'`),
		script("arguments not an object", "parse", "tool_arguments", `echo '{"tool_arguments": "[1]"}'`),
		script("oversize by one byte", "oversize", "more than 1024 KiB", "head -c 1048577 /dev/zero"),
		script("oversize for ever", "oversize", "more than 1024 KiB", "yes & yes"),
		script("oversize under claude", "oversize", "more than 1024 KiB", "exec yes").protocol("claude"),
		script("pipe closed, then failed", "exit", "exit status 3", "exec <&-; exit 3").with(bigEvent),
		script("pipe closed", "", "", "exec <&-; exit 0").with(bigEvent),
		script("grandchild holds the pipe", "", "", "sleep 30 & exit 0").with(func(f *fault) { f.sleeps, f.unheard = true, true }),
		script("grandchild holds the pipe, then failed", "exit", "exit status 3", "sleep 30 & exit 3").with(func(f *fault) { f.sleeps = true }),
		script("grandchild holds the pipe too long", "timeout", "timed out", "sleep 30 & exit 0").timed(faultTimeout),
		script("timeout", "timeout", "timed out after 250ms", "sleep 30").timed(faultTimeout),
		script("timeout of a family", "timeout", "timed out", "sleep 30 & sleep 30 & wait").timed(faultTimeout),
		script("timeout, deaf to SIGTERM", "timeout", "timed out", "trap '' TERM; sleep 30").timed(faultTimeout),
		script("timeout after half an answer", "timeout", "timed out", `printf '{"decision":'; sleep 30`).timed(faultTimeout),
		script("deadline, running", "deadline", "chain deadline", "sleep 30").deadline(struckRunning),
		script("deadline, not started", "deadline", "chain deadline", ":").deadline(struckWaiting),
		script("deadline, no time to try again", "deadline", "chain deadline", "sleep 0.255; exit 3").deadline(struckRunning).
			with(func(f *fault) { f.hook["retry"] = 5 }),
		script("mended by the last attempt", "", "", `[ "$(wc -l <"$FAULT_COUNT")" -ge 3 ]`).with(func(f *fault) { f.flaky = true; f.hook["retry"] = 2 }),
		script("agent-hooks, exit 1", "exit", "exit status 1", "exit 1").protocol("agent-hooks"),
		script("agent-hooks, bad JSON", "parse", "", `echo '{"decision":'`).protocol("agent-hooks"),
		script("claude, exit 1", "exit", "exit status 1", "exit 1").protocol("claude"),
		script("claude, timeout", "timeout", "timed out", "sleep 30").protocol("claude").timed(faultTimeout),
	}
	if limitsMemory() {
		all = append(all, script("out of memory", "exit", "exit status 1",
			"ulimit -v 40000; exec dd if=/dev/zero of=/dev/null bs=512M count=1"))
	}
	return all
}

// limitsMemory reports whether a shell here can bound its memory.
func limitsMemory() bool {
	return exec.Command("sh", "-c", "ulimit -v 40000 && ! dd if=/dev/zero of=/dev/null bs=512M count=1 2>/dev/null").Run() == nil
}

// bigEvent makes the event larger than a pipe holds.
func bigEvent(f *fault) {
	big := make([]byte, 300<<10)
	for i := range big {
		big[i] = 'x'
	}
	f.event = func(in *policy.Context, _ string) { in.Set(policy.FieldRaw, map[string]any{"big": string(big)}) }
}

// deadline lets the chain's time run out while the hook runs, or before.
func (f fault) deadline(when string) fault {
	return f.with(func(f *fault) {
		f.late, f.sleeps, f.struck, f.chain = true, true, when, faultDeadline
		if when == struckWaiting { // for what goes first to end, or for room
			f.first = maps.Clone(f.hook)
			f.first["name"], f.first["on_error"] = "first", "skip"
			if f.kind == "bash" {
				f.first["command"] = "sleep 30"
			}
		}
	})
}

func regoFault(name, fails, text, condition, rest string) fault {
	return fault{name: name, kind: "rego", fails: fails, text: text, rule: func(refuses bool) map[string]any {
		entry := "message"
		if refuses {
			entry = "deny"
		}
		return map[string]any{"type": "rego", "source": fmt.Sprintf("package faulty\n\n%s contains \"x\" if %s\n%s", entry, condition, rest)}
	}}
}

func exprFault(name, fails, text, condition string) fault {
	return fault{name: name, kind: "expr", fails: fails, text: text, rule: func(refuses bool) map[string]any {
		if refuses {
			return map[string]any{"type": "expr", "deny": condition, "reason": "x"}
		}
		return map[string]any{"type": "expr", "set": map[string]any{"system_message": "(" + condition + `) ? "x" : "y"`}}
	}}
}

func goFault(name, fails, text string, run func(ctx context.Context, attempt int) (policy.Result, error)) fault {
	return fault{name: name, kind: "builtin", fails: fails, text: text, run: run,
		hook: map[string]any{"type": "builtin", "use": "faulty"}}
}

// budgeted gives a rule a budget shorter than the default 100 ms.
func (f fault) budgeted() fault {
	f.late = true
	if f.hook != nil {
		return f.with(func(f *fault) { f.hook["timeout"] = "10ms" })
	}
	rule := f.rule
	f.rule = func(refuses bool) map[string]any {
		out := rule(refuses)
		out["timeout"] = "10ms"
		return out
	}
	return f
}

const (
	regoLoop = "count([1 | some i in numbers.range(1, 3000); some j in numbers.range(1, 3000); i * j < 0]) > 0"
	exprLoop = "any(1..3000, {let i = #; any(1..3000, # * i < 0)})"
)

func ruleFaults() []fault {
	var nowhere map[string]int
	return []fault{
		regoFault("conflict", "eval", "conflict", `choice == "a"`, "choice := \"a\" if input.session_id\nchoice := \"b\" if input.cwd\n"),
		regoFault("builtin error", "eval", "to_number", "to_number(input.session_id) > 3", ""),
		{name: "entry point of a wrong type", kind: "rego", fails: "parse", text: "is a number", rule: func(refuses bool) map[string]any {
			entry := map[bool]string{true: "deny", false: "message"}[refuses]
			return map[string]any{"type": "rego", "source": "package faulty\n\n" + entry + " := input.raw.number\n"}
		}},
		regoFault("budget", "budget", "budget", regoLoop, "").budgeted(),
		exprFault("type error", "eval", "", "len(raw.number) > 1"),
		exprFault("neither true nor false", "eval", "", "raw.number"),
		exprFault("budget", "budget", "budget", exprLoop).budgeted(),
		goFault("error", "eval", "the disk is full", func(context.Context, int) (policy.Result, error) {
			return policy.Result{}, errors.New("the disk is full")
		}),
		goFault("error of a kind", "network", "no route", func(context.Context, int) (policy.Result, error) {
			return policy.Result{}, policy.Failf(policy.ErrNetwork, "no route")
		}),
		goFault("panic", "panic", "boom", func(context.Context, int) (policy.Result, error) { panic("boom") }),
		goFault("panic of the runtime", "panic", "nil map", func(context.Context, int) (policy.Result, error) {
			nowhere["x"]++
			return policy.Result{}, nil
		}),
		goFault("panic with nil", "panic", "nil", func(context.Context, int) (policy.Result, error) { panic(nil) }),
		goFault("budget", "budget", "budget", func(ctx context.Context, _ int) (policy.Result, error) {
			<-ctx.Done()
			return policy.Result{}, ctx.Err()
		}).budgeted(),
		goFault("says and fails", "eval", "but", func(context.Context, int) (policy.Result, error) {
			return policy.Result{Verdict: policy.Allow, System: []string{"said"}}, errors.New("but")
		}),
	}
}

// faultyRule is the builtin that the Go faults use.
func faultyRule(f *fault, calls *atomic.Int64) rule.Rule {
	return rule.Rule{Name: "faulty", Doc: "fails", New: func(h *policy.Hook, _ rule.Options) (rule.Made, diag.List) {
		run := policy.RunnerFunc(func(ctx context.Context, _ *policy.Context, attempt int) (policy.Result, error) {
			calls.Add(1)
			return f.run(ctx, attempt)
		})
		return rule.Made{Runner: run, Effects: policy.Effects{May: h.Event.Spec().Powers, World: policy.WorldNone, MayFail: true}}, nil
	}}
}
