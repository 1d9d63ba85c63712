package rego

// builtinCase is a builtin of native: kinds has a letter for each argument
// (native_arguments_test.go), share is the least percentage of OPA's answers
// that it gives too.
type builtinCase struct {
	name, kinds string
	share       int
}

var builtinCases = []builtinCase{
	{"contains", "ss", 100}, {"startswith", "ss", 100}, {"endswith", "ss", 100},
	{"lower", "s", 100}, {"upper", "s", 100}, {"trim_space", "s", 100},
	{"trim", "ss", 100}, {"trim_left", "ss", 100}, {"trim_right", "ss", 100}, {"trim_prefix", "ss", 100}, {"trim_suffix", "ss", 100},
	{"split", "ss", 100}, {"concat", "sS", 100}, {"indexof", "ss", 90}, {"strings.count", "ss", 100},
	{"strings.any_prefix_match", "SS", 100}, {"strings.any_suffix_match", "sS", 100},
	{"replace", "sss", 100}, {"substring", "sii", 90},
	{"sprintf", "fk", 2}, {"format_int", "ni", 25},
	{"regex.is_valid", "p", 100}, {"regex.match", "ps", 100}, {"re_match", "ps", 100}, {"regex.split", "ps", 100},
	{"regex.find_n", "psi", 100}, {"regex.find_all_string_submatch_n", "psi", 100}, {"regex.replace", "spr", 100},
	{"glob.quote_meta", "g", 100}, {"glob.match", "gem", 60},
	{"equal", "xx", 100}, {"neq", "xx", 100}, {"lt", "nn", 100}, {"lte", "xx", 100}, {"gt", "xx", 100}, {"gte", "nn", 100},
	{"internal.member_2", "xl", 100}, {"internal.member_3", "ixl", 100},
	{"is_null", "x", 100}, {"is_boolean", "x", 100}, {"is_number", "x", 100}, {"is_string", "x", 100},
	{"is_array", "x", 100}, {"is_object", "x", 100}, {"is_set", "x", 100}, {"type_name", "x", 100},

	{"to_number", "j", 70},
	{"abs", "n", 35}, {"round", "n", 35}, {"ceil", "n", 35}, {"floor", "n", 35},
	{"plus", "nn", 12}, {"minus", "nn", 12}, {"mul", "nn", 12}, {"div", "nn", 1}, {"rem", "nn", 60},
	{"numbers.range", "11", 100}, {"numbers.range_step", "111", 100},
	{"count", "x", 100}, {"sum", "N", 10}, {"max", "X", 100}, {"min", "N", 100}, {"sort", "X", 90},
	{"and", "tt", 100}, {"or", "tt", 100}, {"set_diff", "tt", 100},
	{"array.concat", "ll", 100}, {"array.slice", "lii", 100},
	{"object.get", "oyx", 90}, {"object.keys", "o", 100}, {"object.remove", "oX", 90}, {"object.filter", "oX", 90},
	{"object.union", "ww", 80},
	{"walk", "x", 100}, {"any", "X", 100}, {"all", "X", 100}, {"array.reverse", "l", 100},
	{"json.unmarshal", "j", 60}, {"json.is_valid", "j", 30}, {"base64.decode", "b", 100}, {"base64.is_valid", "b", 100}, {"crypto.sha256", "s", 100},
	{"time.parse_rfc3339_ns", "z", 100}, {"time.date", ".", 60}, {"time.clock", ".", 60}, {"time.weekday", ".", 60},
	{"internal.template_string", "=", 90},
}

// builtinTexts are calls that native must answer.
var builtinTexts = map[string][]string{
	"sprintf": {
		`"%s must not run %s", ["agent", "rm"]`, `"%v of %d", [{"a": [1, 2.50, null]}, 3]`, `"%v%%", [1.50]`, `"", []`,
		`"%q", ["a\"b"]`, `"%s %s", [{1, 2}, set()]`, `"%v", [1e21]`, `"%v %d", [-7, 9223372036854775807]`, `"%v %s %v", [true, null, "é"]`,
	},
	"plus":  {"1, 2", "-5, 5", "1.0, 2"},
	"minus": {"{1, 2}, {2}", "5, 7"},
	"mul":   {"7, -6"},
	"div":   {"10, 2", "7, 7"},
	"sum":   {"[1, 2, 3]", "[]"},
	"round": {"3"}, "ceil": {"-1"}, "floor": {"0"}, "abs": {"-7"},
	"glob.match": {
		`"*.sh", [], "a.sh"`, `"/home/*/.ssh/**", ["/"], "/home/me/.ssh/a/b"`, `"{a,b*}/[!x-z]?", ["/"], "bcd/a1"`, `"**/secrets/*", ["/"], "a/b/secrets/k"`,
		`"rm *", null, "rm -rf /"`, `"a\\*b", null, "a*b"`, `"?é*", [], "aéb"`,
	},
	"json.unmarshal": {"`{\"a\": [1, 2.50, -0, 1e5, \"\\ud83d\\ude00\"]}`"}, "time.parse_rfc3339_ns": {`"2024-02-29T12:00:00+02:00"`},
	"format_int": {"255, 16", "5, 10"},
}
