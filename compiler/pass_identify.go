package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// identify hashes everything that says what the policy means, in resolved
// order: settings, hooks with their bodies as text, and what bodies are made
// of besides. Where something is written and in which file, which passes run,
// which event is compiled and what is merely shown are no part of it: every
// process that serves one event of a policy reports one hash. A body that is
// left on disk until needed counts by its declarations, a script by the
// command that runs it.
func identify(u *unit) {
	if u.reused {
		u.identifyAgain()
	} else {
		u.identifyAll()
	}
	h := sha256.New()
	for i := range u.identity {
		h.Write(u.identity[i].sum[:])
		fmt.Fprintf(h, "%s\n", u.identity[i].digest)
	}
	u.hash = "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// identity is one part of what is hashed, by a hash of its own: of a hook, with
// the digest of what its body is made of besides, or of what holds for several.
type identity struct {
	hook   *policy.Hook
	status dag.EntryStatus
	digest string
	sum    [sha256.Size]byte
}

func (u *unit) identifyAll() {
	write := func(v ...any) { u.identity = append(u.identity, identity{sum: sumOf(v)}) }
	write("hookc", 1, u.policy.Tools.Known, u.policy.Tools.Open, u.policy.ChainTimeout)
	if key := u.policy.Approvals.Key(); key != "" {
		write(key)
	}
	if p := u.policy.Profile; p != nil {
		write(p.Name, p.Faithful)
	}
	for _, f := range u.policy.Facts {
		command := ""
		if f.Command != nil {
			command = f.Command.Body.Command.Value
		}
		write(f.Name, f.Type, f.Words, command, f.Tier)
	}
	for _, plan := range u.plans {
		write(plan.Event, plan.Strategy.Strategy, plan.ByPriority, plan.Deadline, plan.MaxConcurrent, plan.MaxModels)
		for i := range u.entries {
			if e := &u.entries[i]; e.Hook.Event == plan.Event {
				u.identity = append(u.identity, identity{e.Hook, e.Status, u.digest(e.Hook), sumOf(facts(e.Hook, e.Status))})
			}
		}
	}
}

// identifyAgain writes what has changed since the last compilation.
func (u *unit) identifyAgain() {
	u.identity = lists.Copy(u.earlier.unit.identity)
	changed, _ := u.onlyTexts()
	for i := range u.identity {
		f := &u.identity[i]
		if f.hook == nil {
			continue
		}
		now := changed[f.hook]
		if now == nil {
			now = f.hook
		}
		if now != f.hook {
			f.hook, f.sum = now, sumOf(facts(now, f.status))
		}
		f.digest = u.digest(now)
	}
}

func sumOf(v any) [sha256.Size]byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("compiler: pass identify: %v", err))
	}
	return sha256.Sum256(text)
}

// facts is what a hook means on its own.
func facts(h *policy.Hook, status dag.EntryStatus) []any {
	b, d := &h.Body, &h.Declared
	var filter, rules, sets, options, env []any
	for _, c := range h.Filter.Conditions {
		filter = append(filter, c.Key, c.Value.Value)
	}
	for _, r := range b.Rules {
		rules = append(rules, r.Says, r.Condition.Value, r.Reason.Value)
	}
	for _, s := range b.Set {
		sets = append(sets, s.Path.Value, s.Value.Value)
	}
	for _, o := range b.Options {
		options = append(options, o.Key.Value, o.Value)
	}
	for _, v := range b.Env {
		env = append(env, v.Name, v.Value)
	}
	group := []any{}
	if h.Group != nil {
		group = append(group, h.Group.Name, h.Group.Priority, h.Group.Fold, h.Group.Order)
	}
	if h.Enforcement != "" || h.Spared > 0 {
		group = append(group, h.Enforcement, h.Spared)
	}
	if h.Durable {
		group = append(group, "durable")
	}
	return []any{
		h.Name, h.Kind, h.Tier, status, h.Priority, h.Locked, h.Async, h.Recheck, group,
		filter, texts(d.Reads), texts(d.Writes), texts(d.May), d.World, d.Speculative, d.Pure,
		h.Timeout, h.Retry, h.OnError, h.OnTimeout, fileFacts(h),
		b.Command.Value, b.Protocol, b.Agent.Emulate, b.Agent.Event, b.Agent.Sequential, b.Agent.Strict, b.Agent.ContinueTurn, b.Agent.OnFailure, b.AllowIsOpinion, b.Args, env, workDir(h), b.Prompt.Value, b.Model,
		b.Source.Value, b.When.Value, rules, sets, b.Context.Value, b.Use.Value, options,
	}
}

// digest is what the hook's kind says its body is made of besides the hook.
func (u *unit) digest(h *policy.Hook) string {
	if h.Off {
		return ""
	}
	if k := u.kind(h); k.Digest != nil {
		return k.Digest(h)
	}
	return ""
}

// fileFacts is what a hook's file sets for it.
func fileFacts(h *policy.Hook) []any {
	if h.File == nil {
		return nil
	}
	return []any{h.File.OnError[h.Kind], h.File.Model, h.File.Rego.Version, h.File.Rego.Forbid}
}

// workDir is a hook's working folder as the file says it: where the file lies is
// no part of what it means.
func workDir(h *policy.Hook) string {
	if h.File != nil {
		if rel, err := filepath.Rel(h.File.Dir, h.Body.WorkDir); err == nil && h.Body.WorkDir != "" && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return h.Body.WorkDir
}

// texts keeps the difference between not written (null) and empty.
//
//go:noinline
func texts(list []diag.Text) []string {
	if list == nil {
		return nil
	}
	out := []string{}
	for _, t := range list {
		out = append(out, t.Value)
	}
	return out
}
