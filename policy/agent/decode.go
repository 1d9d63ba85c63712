package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Call is one event that an agent sent, and how to answer it.
type Call struct {
	// Context is what was sent, in canonical names; nil when it could not be
	// read. What has no name is under raw, as the agent wrote it.
	Context *policy.Context
	// Named is a folder that the variable NamedBy says is the project, and that the
	// event's own folder does not bear out: a variable narrows the project, it moves none.
	Named, NamedBy string

	agent *Agent
	// point is the event; nil when it is not known.
	point *point
}

// Unread is a call of which nothing is known: only Fail can answer it.
func (d *Agent) Unread() *Call { return &Call{agent: d} }

// Event is the canonical event, "" when it is not known.
func (c *Call) Event() policy.Event {
	if c.point == nil {
		return ""
	}
	return c.point.event
}

// Native is the agent's own name of the event, "" when it is not known.
func (c *Call) Native() string {
	if c.point == nil {
		return ""
	}
	return c.point.name
}

// Decode reads what an agent sent. Event names the event where the agent does
// not; env reads its environment. The call is never nil: beside an error,
// which says what is wrong with the input, its Fail answers the agent.
func (d *Agent) Decode(data []byte, event string, env func(string) string) (*Call, error) {
	c := &Call{agent: d}
	sent, bad := object(data)
	if err := c.place(sent, d.sentName(data, sent), event, env); err != nil {
		return c, errors.Join(bad, err)
	}
	if bad != nil {
		return c, bad
	}
	in, err := c.read(sent, env)
	if err != nil {
		return c, err
	}
	c.Context = in
	return c, nil
}

func object(data []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("stdin is empty")
	}
	v, err := policy.DecodeJSON(data)
	if err != nil {
		return nil, fault.Errorf("stdin is not JSON: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("stdin is not a JSON object")
	}
	return m, nil
}

// eventKeys are the keys under which some agent names the event.
var eventKeys = []string{"hook_event_name", "hookEventName", "event_type", "event"}

// sentName is the name of the event that the agent itself wrote. Of broken
// JSON the keys of the outer object count as far as it can be read: they are
// the agent's own, while what is nested may be a model's.
func (d *Agent) sentName(data []byte, sent map[string]any) string {
	if sent == nil {
		sent = outer(data)
	}
	for _, key := range append([]string{d.eventKey}, eventKeys...) {
		if name, ok := sent[key].(string); ok && name != "" {
			return name
		}
	}
	return ""
}

// outer collects the texts of the outermost object up to the first mistake.
func outer(data []byte) map[string]any {
	out := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return out
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		var value any
		if dec.Decode(&value) != nil {
			return out
		}
		out[key.(string)] = value
	}
	return out
}

// place finds the event. When names disagree the agent's own counts, unless
// the other one guards something.
func (c *Call) place(sent map[string]any, own, event string, env func(string) string) error {
	d := c.agent
	if own == "" && event == "" && d.eventEnv != "" {
		event = env(d.eventEnv)
	}
	theirs, ours := d.find(own, sent), d.find(event, sent)
	switch {
	case theirs == nil && ours == nil:
		name := own
		if event != "" {
			name = event
		}
		if name == "" {
			return errors.New("no event: name it as an argument")
		}
		return d.unknown(name)
	case theirs == nil && own != "":
		c.point = ours
		return d.unknown(own)
	case ours == nil && event != "":
		c.point = theirs
		return d.unknown(event)
	case theirs == nil:
		c.point = ours
	case ours == nil || ours.name == theirs.name || ours.event == theirs.event:
		c.point = theirs
	default:
		c.point = theirs
		if ours.event.Spec().Class == policy.Guard {
			c.point = ours
		}
		return fault.Errorf("the argument says %s and the input says %s", ours.name, theirs.name)
	}
	return nil
}

func (d *Agent) unknown(name string) error {
	return fault.Errorf("%s has no event %q: %s", d.ID, name, diag.DidYouMean(name, d.Natives(), "it has "+strings.Join(d.Natives(), ", ")))
}

// read turns what was sent into a Context.
func (c *Call) read(sent map[string]any, env func(string) string) (*policy.Context, error) {
	if c.point.shape != nil {
		sent = maps.Clone(sent)
		c.point.shape.do(sent)
	}
	named, raw := c.rename(sent)
	in, _, err := policy.ContextFromMap(named)
	if err != nil {
		return nil, fault.Errorf("the event is not valid: %w", err)
	}
	in.Set(policy.FieldEvent, string(c.point.event))
	c.nameServer(in)
	if old, ok := in.Get(policy.FieldRaw); ok {
		maps.Copy(raw, old.(map[string]any))
	}
	if len(raw) > 0 {
		in.Set(policy.FieldRaw, raw)
	}
	for _, k := range c.agent.env {
		switch v := env(k.name); {
		case v == "" || in.Has(k.field) || !filepath.IsAbs(v) && k.field != policy.FieldSessionID:
		case k.field == policy.FieldProjectRoot:
			if v = filepath.Clean(v); paths.Narrows(v, in.Text(policy.FieldCwd)) {
				in.Set(k.field, v)
			} else {
				c.Named, c.NamedBy = lists.First(c.Named, v), lists.First(c.NamedBy, k.name)
			}
		default:
			in.Set(k.field, v)
		}
	}
	return in, c.complete(in)
}

// strict are the fields a policy decides by: sent with the wrong type they
// are an error. Any other such field goes to raw.
var strict = []policy.Field{policy.FieldToolName, policy.FieldToolInput, policy.FieldToolArguments, policy.FieldUserInput, policy.FieldMessages}

// rename gives what was sent its canonical names; raw is what has none at the
// event, under the agent's own name.
func (c *Call) rename(sent map[string]any) (named, raw map[string]any) {
	named, raw = map[string]any{}, map[string]any{}
	put := func(key string, f policy.Field, v any) {
		_, taken := named[f.String()]
		fits := f.Spec().Type.Holds(v) || lists.Among(strict, f)
		if taken || !fits || !c.point.event.Spec().CanRead(f) || f.Derived() && f != policy.FieldToolArguments || f == policy.FieldRaw {
			raw[key] = v
			return
		}
		named[f.String()] = v
	}
	var rest []string
	for _, key := range lists.Keys(sent) {
		f, ok := c.agent.field(key, c.point.event)
		switch {
		case sent[key] == nil, key == c.agent.eventKey, lists.Has(eventKeys, key) && sent[key] == any(c.point.name):
		case ok:
			put(key, f, sent[key])
		default:
			rest = append(rest, key)
		}
	}
	// The agent's own names come before canonical ones it happens to use.
	for _, key := range rest {
		if f, ok := policy.ParseField(key); ok && f != policy.FieldEvent {
			put(key, f, sent[key])
			continue
		}
		raw[key] = sent[key]
	}
	return named, raw
}

// nameServer fills in mcp.server and mcp.tool, by the agent's own names and by serverOf.
func (c *Call) nameServer(in *policy.Context) {
	if !c.point.event.Spec().CanRead(policy.FieldMCP) {
		return
	}
	sent, _ := in.Get(policy.FieldMCP)
	object, _ := sent.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, object)
	put := func(key string, v any) {
		if text, ok := v.(string); ok && text != "" && out[key] == nil {
			out[key] = text
		}
	}
	put("server", object[c.agent.mcp.server])
	put("tool", object[c.agent.mcp.tool])
	known, _ := out["server"].(string)
	server, tool := serverOf(in.Text(policy.FieldToolName), known)
	put("server", server)
	put("tool", tool)
	if len(out) > 0 {
		in.Set(policy.FieldMCP, out)
	}
}

// serverOf cuts an MCP tool's name where there is one way only; known is its server or "".
func serverOf(name, known string) (server, tool string) {
	name, isMCP := spell.CutPrefix(name, "mcp__")
	if tool, ok := spell.CutPrefix(name, "MCP:"); ok {
		return "", tool
	}
	if tool, ok := spell.CutPrefix(name, known+"__"); ok && isMCP && known != "" {
		return known, tool
	}
	if isMCP && strings.Count(name, "__") == 1 && !strings.Contains(name, "___") {
		server, tool, _ = spell.Cut(name, "__")
	}
	return server, tool
}

// complete reports what an event cannot be decided without.
func (c *Call) complete(in *policy.Context) error {
	needs := c.point.needs()
	for _, f := range needs {
		if !in.Has(f) {
			return fault.Errorf("the event has no %s", f)
		}
	}
	if len(needs) == 2 && in.Text(policy.FieldToolName) == "" {
		return errors.New("the event names no tool")
	}
	return nil
}

// needs are the fields without which the event is not decided.
func (p *point) needs() []policy.Field {
	switch {
	case p.event == policy.PreToolExecution, p.event == policy.PermissionRequest:
		return []policy.Field{policy.FieldToolName, policy.FieldToolInput}
	case p.event == policy.PreSendMessage && !p.promptOptional:
		return []policy.Field{policy.FieldUserInput}
	}
	return nil
}
