# event: {"tool_name": "Edit", "tool_input": {"file_path": "a_test.go", "old_string": "assert.Equal(t, 1, f())", "new_string": "f()"}}
package guard.tests_only

path := input.tool_input.file_path

is_test if endswith(path, "_test.go")

is_test if glob.match("**/{test,tests,__tests__}/**", ["/"], path)

is_test if regex.match(`\.(spec|test)\.[jt]sx?$`, path)

deny contains "a test is switched off" if {
	is_test
	some marker in ["t.Skip(", "@pytest.mark.skip", "it.skip(", "xit(", "@Disabled"]
	contains(input.tool_input.new_string, marker)
}

deny contains "assertions disappear" if {
	is_test
	old := count(regex.find_n(`\b(assert|expect|require)\b`, input.tool_input.old_string, -1))
	new := count(regex.find_n(`\b(assert|expect|require)\b`, input.tool_input.new_string, -1))
	new < old
}

ask contains "a snapshot" if endswith(path, ".snap")

ask contains "golden files" if {
	contains(path, "/testdata/")
	endswith(path, ".golden")
}
