# event: {"tool_name": "Bash", "tool_input": {"command": "npm install -g left-pad"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "pip install x --index-url=http://y"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "go get https://x/y"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "pnpm add a b"}}
package guard.packages

command := input.tool_input.command

managers := {
	"npm": {"install", "i", "add"},
	"pnpm": {"add", "install"},
	"yarn": {"add"},
	"pip": {"install"},
	"cargo": {"install", "add"},
	"go": {"install", "get"},
}

installs[manager] := rest if {
	words := split(command, " ")
	manager := words[0]
	words[1] in managers[manager]
	rest := array.slice(words, 2, count(words))
}

ask contains sprintf("%s installs %s", [m, concat(" ", rest)]) if {
	some m, rest in installs
	count(rest) > 0
}

deny contains "a global install" if {
	some m, rest in installs
	m in {"npm", "pnpm", "yarn"}
	some flag in rest
	flag in {"-g", "--global"}
}

deny contains "another index" if {
	some rest in installs
	some w in rest
	some option in ["--index-url", "--extra-index-url", "--registry"]
	startswith(w, option)
}

deny contains sprintf("installs from an address: %s", [w]) if {
	some rest in installs
	some w in rest
	contains(w, "://")
}

deny contains "use pnpm here" if {
	startswith(command, "npm ")
	input.project_root == "/repo"
}
