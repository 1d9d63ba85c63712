package dag

// Loss is something the hooks of an event may say that the agent cannot be
// told, and what becomes of it: the name of what is said instead, upwards
// where there is anything stricter, or "none" or "dropped" (docs/cli.md,
// "Dialects").
type Loss struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

func (l Loss) String() string { return l.From + " → " + l.To }

func (t *textPage) losses(e *EventModel) {
	if len(e.Losses) == 0 {
		return
	}
	t.line(" " + t.Palette.paint(t.Palette.Title, "DEGRADED"))
	for _, l := range e.Losses {
		t.prose(3, l.String(), t.Palette.Name, l.Why)
	}
}
