# event: {"tool_name": "Edit", "tool_input": {"file_path": "auth/login.go"}, "raw": {"approvals": [{"by": "ann", "at": "2026-01-01T00:00:00Z"}], "author": "ann"}, "timestamp": "2026-01-03T00:00:00Z"}
# event: {"tool_name": "Edit", "tool_input": {"file_path": "auth/login.go"}, "raw": {"approvals": [{"by": "bob", "at": "2026-01-02T23:00:00Z"}, {"by": "eve", "at": "2026-01-02T23:30:00Z"}], "author": "ann"}, "timestamp": "2026-01-03T00:00:00Z"}
package guard.reviewers

sensitive if strings.any_prefix_match(input.tool_input.file_path, ["auth/", "crypto/", "payments/"])

approvers := {a.by | some a in input.raw.approvals}

others := approvers - {input.raw.author}

age(a) := (time.parse_rfc3339_ns(input.timestamp) - time.parse_rfc3339_ns(a.at)) / 1000000000

deny contains sprintf("%d of 2 approvals", [count(others)]) if {
	sensitive
	count(others) < 2
}

deny contains "approved by the author" if {
	sensitive
	input.raw.author in approvers
}

ask contains sprintf("%s's approval is %d hours old", [a.by, floor(age(a) / 3600)]) if {
	sensitive
	some a in input.raw.approvals
	age(a) > 86400
}

context contains sprintf("Approved by %s.", [concat(" and ", sort(others))]) if count(others) > 1
