# event: {"tool_input": {"query": "truncate table x"}}
# event: {"tool_input": {"query": "delete from x"}}
# event: {"tool_input": {"query": "update x set a=1"}}
# event: {"tool_input": {"query": "grant all on x to y"}}
# event: {"tool_input": {"query": "select 1; select 2;"}}
# event: {"tool_input": {"query": "drop table users"}}
# event: {"tool_input": {"query": "select password_hash from users"}}
package guard.sql

statement := upper(trim_space(input.tool_input.query))

deny contains "drops" if startswith(statement, "DROP ")

deny contains "truncates" if startswith(statement, "TRUNCATE ")

deny contains "deletes without where" if {
	startswith(statement, "DELETE ")
	not contains(statement, " WHERE ")
}

deny contains "updates without where" if {
	startswith(statement, "UPDATE ")
	not contains(statement, " WHERE ")
}

ask contains "grants" if startswith(statement, "GRANT ")

deny contains "several statements" if {
	parts := [p | some p in split(trim_suffix(statement, ";"), ";"); trim_space(p) != ""]
	count(parts) > 1
}

ask contains "selects everything" if {
	startswith(statement, "SELECT *")
	indexof(statement, " LIMIT ") == -1
}

deny contains "reads passwords" if regex.match(`\b(PASSWORD|PASSWD|SECRET)(_HASH)?\b`, statement)
