package observe

import (
	"context"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// Trace is a place in a trace as W3C Trace Context writes it: what the headers
// traceparent and tracestate hold. The zero Trace is none.
type Trace struct{ Parent, State string }

// parentLength is how long a traceparent of version 00 is.
const parentLength = 55

// Parse checks a traceparent and its tracestate, which an agent may have written: a
// traceparent that is none gives no Trace, a tracestate that is none is left out.
func Parse(parent, state string) Trace {
	if len(parent) < parentLength || parent[:2] == "ff" {
		return Trace{}
	}
	if len(parent) > parentLength && (parent[:2] == "00" || parent[parentLength] != '-') {
		return Trace{}
	}
	for i, c := range []byte(parent[:parentLength]) {
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash := i == 2 || i == 35 || i == 52; dash != (c == '-') || !dash && !hex {
			return Trace{}
		}
	}
	if strings.Trim(parent[3:35], "0") == "" || strings.Trim(parent[36:52], "0") == "" {
		return Trace{}
	}
	t := Trace{Parent: "00" + parent[2:parentLength]} // of a later version the rest is not known
	if isState(state) {
		t.State = state
	}
	return t
}

// isState reports whether a tracestate can be passed on: a list of key=value.
func isState(state string) bool {
	if len(state) > 512 || strings.Count(state, ",") > 31 {
		return false
	}
	for _, c := range []byte(state) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	for state != "" {
		var member string
		member, state, _ = spell.Cut(state, ",")
		if strings.TrimSpace(member) != "" && strings.IndexByte(member, '=') < 1 {
			return false
		}
	}
	return true
}

// InEnviron is the Trace that an environment names by TRACEPARENT and TRACESTATE. Of a
// variable that is there twice, the first counts.
func InEnviron(environ []string) Trace {
	var parent, state string
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "TRACE") {
			continue
		}
		switch name, value, _ := spell.Cut(kv, "="); {
		case name == "TRACEPARENT" && parent == "":
			parent = value
		case name == "TRACESTATE" && state == "":
			state = value
		}
	}
	return Parse(parent, state)
}

type traceKey struct{}

// WithTrace says where in a trace what happens under ctx is.
func WithTrace(ctx context.Context, t Trace) context.Context {
	if t.Parent == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf is what WithTrace said.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
