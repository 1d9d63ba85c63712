# event: {"tool_name": "Edit", "tool_input": {"file_path": "src/a.py", "new_string": "\tbreakpoint()\n  eval(x)\n<<<<<<< HEAD\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "a.b.JS", "content": "child_process; debugger;"}}
package guard.code

import data.lib.paths

text := object.get(input.tool_input, "new_string", object.get(input.tool_input, "content", ""))

ext := paths.extension(input.tool_input.file_path)

banned := {
	"py": {"eval(": "eval", "pickle.loads(": "unpickling", "verify=False": "no TLS check"},
	"js": {"eval(": "eval", "innerHTML =": "raw html", "child_process": "processes"},
	"go": {"unsafe.Pointer": "unsafe", "InsecureSkipVerify: true": "no TLS check"},
	"sh": {"set +e": "errors ignored"},
}

deny contains {"reason": sprintf("%s in .%s", [why, ext]), "token": token} if {
	some token, why in banned[ext]
	contains(text, token)
}

warn contains sprintf("%d lines longer than 120", [n]) if {
	n := count([l | some l in split(text, "\n"); count(l) > 120])
	n > 0
}

warn contains "tabs and spaces are mixed" if {
	lines := split(text, "\n")
	some a in lines
	startswith(a, "\t")
	some b in lines
	startswith(b, "  ")
}

ask contains "debugging is left" if {
	words := {"py": "breakpoint()", "js": "debugger;", "go": "println("}
	contains(text, words[ext])
}

deny contains "a conflict marker" if regex.match(`(?m)^(<<<<<<<|>>>>>>>) `, text)
