package runner

import (
	"encoding/json"
	"strings"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnheard = diag.Define("HK096", diag.Warning, "what a script answered was not heard")

// read is what an answer means. What it says and nobody hears is a warning: the call
// may go ahead because of it. Of a hook that an agent's own configuration declares that
// is only what came too late, as the agent passes over the rest.
func (b *bash) read(in *policy.Context, out agent.Outcome) (policy.Result, error) {
	own := b.body.Agent.Event == ""
	if own {
		out.Stdout = strings.TrimPrefix(out.Stdout, "\ufeff") // a mark of the encoding is no text
	}
	r, err := b.agent.Read(b.hook, in, out)
	if err != nil || refuses(&r) {
		return r, err
	}
	warn := func(text string) {
		r.Warnings = append(r.Warnings, policy.Warning{Code: codeUnheard, Hook: b.hook.Name, Text: b.hook.Name + ": " + text})
	}
	if out.Late {
		warn("a process that it left behind held its output, and was stopped: what it would have answered is lost")
	}
	if own && len(r.Warnings) == 0 && unheard(out.Stdout) {
		warn("its answer refuses or asks, but not as protocol " + b.agent.ID + " does, so it has no effect")
	}
	return r, nil
}

// refuses reports whether what a script has said so far is enough.
func (b *bash) refuses(in *policy.Context, sofar agent.Outcome) bool {
	r, err := b.agent.Read(b.hook, in, sofar)
	return err == nil && refuses(&r)
}

func refuses(r *policy.Result) bool {
	verdict, control := r.Alone()
	return verdict > policy.Allow || control != policy.Go
}

// mostLooks bounds at how many lines JSON is looked for.
const mostLooks = 64

// unheard reports whether a text has JSON that refuses or asks, in whatever words: as a
// whole, or from the beginning of a line on.
func unheard(text string) bool {
	looks := 0
	for line := text; line != "" && looks < mostLooks; {
		if line = strings.TrimLeft(line, " \t\r\n"); strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
			looks++
			var v any
			if json.NewDecoder(strings.NewReader(line)).Decode(&v) == nil && forbids(v, "") {
				return true
			}
		}
		_, line, _ = spell.Cut(line, "\n")
	}
	return false
}

// forbids reports whether v, the value of a key, or a value in it refuses or asks.
func forbids(v any, key string) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if forbids(e, folded(k)) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if forbids(e, key) {
				return true
			}
		}
	case string:
		return among(decisionKeys, key) && among(refusals, folded(v))
	case bool:
		return v && among(refusals, key) || !v && among(permissions, key)
	}
	return false
}

// folded is a word without what spellings differ in.
func folded(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

const (
	decisionKeys = " decision permission permissiondecision verdict action behavior result "
	refusals     = " deny denied block blocked ask defer reject rejected refuse refused stop halt abort skip prevent "
	permissions  = " continue allow allowed approve approved permit proceed ok "
)

func among(words, word string) bool { return strings.Contains(words, " "+word+" ") }
