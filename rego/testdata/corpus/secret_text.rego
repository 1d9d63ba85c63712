# event: {"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "key AKIAABCDEFGHIJKLMNOP and xoxb-1234567890"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "export TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "a.pem", "content": "-----BEGIN RSA PRIVATE KEY-----\nMII"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "PASSWORD='hunter2hunter2'"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz'"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "echo QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0MTIz"}}
package guard.secret_text

import data.tables.secrets

texts contains input.tool_input.content

texts contains input.tool_input.new_string

texts contains input.tool_input.command

found[id] contains match if {
	some text in texts
	some s in secrets
	id := s.id
	some match in regex.find_n(s.pattern, text, -1)
}

deny contains {"reason": sprintf("%s: %d secret(s) of kind %s", [input.tool_name, count(found[id]), id]), "kind": id} if {
	some id, _ in found
}

deny contains "a password in an assignment" if {
	some text in texts
	regex.match(`(?i)(password|passwd|secret)\s*[:=]\s*["'][^"'$]{8,}["']`, text)
}

ask contains "a bearer token in a header" if {
	some text in texts
	regex.match(`(?i)authorization:\s*bearer\s+[a-z0-9._-]{20,}`, text)
}

warn contains msg if {
	some text in texts
	some word in regex.split(`[\s"'=]+`, text)
	count(word) > 32
	regex.match(`^[A-Za-z0-9+/]+={0,2}$`, word)
	msg := sprintf("a long opaque word: %s...", [substring(word, 0, 6)])
}
