# event: {"tool_name": "browser_navigate", "tool_input": {"url": "file://x/etc"}}
# event: {"tool_name": "browser_file_upload", "tool_input": {"paths": ["a", "b"], "url": "https://my.bank.com/"}}
package guard.browser

import data.lib.net

is_browser if startswith(input.tool_name, "browser_")

host := net.host(input.tool_input.url)

deny contains sprintf("scheme %s", [s]) if {
	is_browser
	s := net.scheme(input.tool_input.url)
	s in {"file", "chrome", "about", "javascript", "data"}
}

deny contains "types a password" if {
	input.tool_name == "browser_type"
	regex.match(`(?i)passw|pin|otp`, input.tool_input.element)
}

ask contains "submits" if {
	input.tool_name == "browser_type"
	input.tool_input.submit == true
}

deny contains "runs a script" if input.tool_name in {"browser_evaluate", "browser_run_code"}

ask contains sprintf("uploads %d files", [count(input.tool_input.paths)]) if input.tool_name == "browser_file_upload"

deny contains sprintf("%s is a bank", [host]) if {
	is_browser
	some word in {"bank", "paypal", "stripe"}
	contains(host, word)
}
