# event: {"tool_name": "TodoWrite", "tool_input": {"todos": [{"status": "in_progress", "content": "a"}, {"status": "in_progress", "content": "b"}, {"status": "odd", "content": ""}]}}
# event: {"tool_name": "TodoWrite", "tool_input": {"todos": [{"status": "completed", "content": "a"}, {"status": "completed", "content": "b"}]}}
# event: {"tool_name": "TodoWrite", "tool_input": {"todos": [{"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}, {"status": "pending", "content": "x"}]}}
package guard.todo

todos := input.tool_input.todos

by_status[status] contains i if {
	some i, t in todos
	status := t.status
}

deny contains sprintf("%d are in progress at once", [count(by_status.in_progress)]) if count(by_status.in_progress) > 1

deny contains sprintf("status %v", [status]) if {
	some status, _ in by_status
	not status in {"pending", "in_progress", "completed"}
}

deny contains sprintf("todo %d is empty", [i]) if {
	some i, t in todos
	trim_space(t.content) == ""
}

message contains "All done." if {
	count(todos) > 0
	every t in todos {
		t.status == "completed"
	}
}

ask contains "a long list" if count(todos) > 30
