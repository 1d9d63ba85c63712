package guard.compact

deny contains "compacts too early" if {
	input.event == "pre_auto_compact"
	input.pre_tokens < 50000
}

ask contains "compacts by hand" if input.trigger == "manual"

context contains sprintf("%d messages, %.1fk tokens", [input.message_count, input.pre_tokens / 1000]) if input.message_count > 10

message contains "half of the window is left" if input.pre_tokens / 200000 <= 0.5

deny contains "no reason given" if {
	input.event in {"session_end", "stop"}
	not input.reason
	not input.exit_reason
}
