# event: {"tool_name": "Move", "tool_input": {"from": "a/b.c", "to": "a/b.c"}}
# event: {"tool_name": "Move", "tool_input": {"from": "a/b.c", "to": "A/B.d"}}
# event: {"tool_name": "Move", "tool_input": {"from": "a/b.c", "to": "a/B.c"}}
package guard.rename

import input.tool_input as args
import input.tool_name as tool

deny contains "moves a file onto another" if {
	tool == "Move"
	args.from == args.to
}

deny contains sprintf("%s → %s", [args.from, args.to]) if {
	tool == "Move"
	split(args.from, "/")[0] != split(args.to, "/")[0]
}

ask contains "changes case only" if {
	args.from != args.to
	lower(args.from) == lower(args.to)
}

ask contains "changes the type" if {
	a := split(args.from, ".")
	b := split(args.to, ".")
	a[count(a) - 1] != b[count(b) - 1]
}
