# event: {"level": "info", "message": "x", "title": "t"}
# event: {"level": "error", "message": "https://x", "title": "t"}
package guard.notify

quiet := {"info", "debug"}

skip contains "quiet" if input.level in quiet

message contains sprintf("[%s] %s: %s", [upper(input.level), input.title, input.message]) if {
	not input.level in quiet
	input.title != ""
}

message contains sprintf("[%v] %v", [input.level, input.message]) if object.get(input, "title", "") == ""

deny contains "an address in a notification" if regex.match(`https?://\S+`, input.message)
