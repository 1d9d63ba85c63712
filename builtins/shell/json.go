package shell

// JSON is the analysis as expr and Rego see it: docs/reference/shell.md. Lists and texts
// that are empty are there, so that a rule need not ask.
func (s *Line) JSON() map[string]any {
	commands := make([]any, len(s.Commands))
	for i := range s.Commands {
		commands[i] = s.Commands[i].json()
	}
	effects := make([]any, len(s.Effects))
	for i := range s.Effects {
		effects[i] = s.Effects[i].json()
	}
	return map[string]any{
		"commands": commands,
		"effects":  effects,
		"dynamic":  s.Dynamic,
		"unknown":  jsonTexts(s.Unknown),
	}
}

func (c *Command) json() map[string]any {
	argv := make([]any, len(c.Argv))
	args := []any{}
	for i, w := range c.Argv {
		argv[i] = w.Text
	}
	if len(argv) > 1 {
		args = argv[1:]
	}
	env := make(map[string]any, len(c.Env))
	for _, a := range c.Env {
		env[a.Name] = a.Value.Text
	}
	redirects := make([]any, len(c.Redirects))
	for i, r := range c.Redirects {
		redirects[i] = map[string]any{"op": r.Op, "fd": r.Fd, "target": r.Target.Text}
	}
	return map[string]any{
		"name": c.Name, "argv": argv, "args": args, "flags": jsonTexts(c.Flags), "env": env,
		"redirects": redirects, "dir": c.Dir, "via": jsonTexts(c.Via), "host": c.Host,
		"pipe": c.Pipe, "stage": c.Stage, "conditional": c.Conditional, "dynamic": c.Dynamic, "offset": c.Offset,
	}
}

func (e *Effect) json() map[string]any {
	return map[string]any{
		"kind": string(e.Kind), "domain": string(e.Domain), "op": e.Op, "target": e.Target,
		"certainty": string(e.Certainty), "place": string(e.Place), "secret": e.Secret,
		"recursive": e.Recursive, "host": e.Host, "command": e.Command, "offset": e.Offset,
	}
}

//go:noinline
func jsonTexts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
