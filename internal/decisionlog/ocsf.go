package decisionlog

// OCSF is the entry as an event of the Open Cybersecurity Schema Framework 1.3,
// class API Activity (6003): who asked for what, and whether it was let through.
func (e *Entry) OCSF() map[string]any {
	action, disposition, severity := 1, 1, 1 // allowed, informational
	verdict, _ := e.Result["action"].(string)
	switch {
	case e.Error != "" || verdict != "proceed" && verdict != "ask" && verdict != "defer":
		action, disposition, severity = 2, 2, 3 // denied, blocked, medium
	case verdict != "proceed":
		action, disposition, severity = 99, 99, 2 // other, low
	}
	tool, _ := e.Input["tool_name"].(string)
	message, _ := e.Result["by"].(string)
	return map[string]any{
		"class_uid": 6003, "category_uid": 6, "activity_id": 99, "type_uid": 600399, "activity_name": e.Path,
		"time": e.Timestamp.UnixMilli(), "severity_id": severity, "action_id": action, "disposition_id": disposition,
		"metadata":     map[string]any{"version": "1.3.0", "uid": e.ID, "product": map[string]any{"name": "hookc", "vendor_name": "hookc", "version": e.Labels["hookc"]}},
		"actor":        map[string]any{"app_name": e.Labels["agent"], "session": map[string]any{"uid": e.Session}},
		"api":          map[string]any{"operation": tool, "request": map[string]any{"uid": e.ID}},
		"message":      message,
		"src_endpoint": map[string]any{"name": "localhost"},
		"unmapped":     map[string]any{"input": e.Input, "result": e.Result, "error": e.Error},
	}
}
