package lib.session

default mode := "default"

mode := input.permission_mode

default level := 0

level := data.tables.modes[mode]

subagent if input.agent_id

name := input.agent_type if {
	subagent
} else := "main"

needs(tool) := least if {
	least := data.tables.tools[tool].level
} else := 9

trusted if {
	level >= 3
	not subagent
}
