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
	{"lower", "s", 100}, {"upper", "s", 100}, {"trim_space", "s", 100}, {"strings.reverse", "s", 100},
	{"trim", "ss", 100}, {"trim_left", "ss", 100}, {"trim_right", "ss", 100}, {"trim_prefix", "ss", 100}, {"trim_suffix", "ss", 100},
	{"split", "ss", 100}, {"concat", "sS", 100}, {"indexof", "ss", 90}, {"indexof_n", "ss", 90}, {"strings.count", "ss", 100},
	{"strings.any_prefix_match", "SS", 100}, {"strings.any_suffix_match", "sS", 100}, {"strings.replace_n", "-s", 100},
	{"replace", "sss", 100}, {"substring", "sii", 90}, {"strings.split_n", "ssi", 100},
	{"sprintf", "fk", 60}, {"format_int", "ni", 60},
	{"regex.is_valid", "p", 100}, {"regex.match", "ps", 100}, {"re_match", "ps", 100}, {"regex.split", "ps", 100},
	{"regex.find_n", "psi", 100}, {"regex.find_all_string_submatch_n", "psi", 100}, {"regex.replace", "spr", 100},
	{"glob.quote_meta", "g", 100}, {"glob.match", "gem", 60},
	{"equal", "xx", 100}, {"neq", "xx", 100}, {"lt", "nn", 100}, {"lte", "xx", 100}, {"gt", "xx", 100}, {"gte", "nn", 100},
	{"internal.member_2", "xl", 100}, {"internal.member_3", "ixl", 100},
	{"is_null", "x", 100}, {"is_boolean", "x", 100}, {"is_number", "x", 100}, {"is_string", "x", 100},
	{"is_array", "x", 100}, {"is_object", "x", 100}, {"is_set", "x", 100}, {"type_name", "x", 100},
	{"cast_null", "x", 100}, {"cast_boolean", "x", 100}, {"cast_string", "s", 100}, {"cast_object", "o", 100},
	{"cast_array", "X", 100}, {"cast_set", "X", 100}, {"to_number", "j", 70},
	{"abs", "n", 60}, {"round", "n", 60}, {"ceil", "n", 60}, {"floor", "n", 60},
	{"plus", "nn", 60}, {"minus", "nn", 60}, {"mul", "nn", 50}, {"div", "nn", 60}, {"rem", "nn", 60},
	{"bits.or", "nn", 60}, {"bits.and", "nn", 60}, {"bits.xor", "nn", 60}, {"bits.negate", "n", 60}, {"bits.lsh", "n1", 40}, {"bits.rsh", "ni", 60},
	{"numbers.range", "11", 100}, {"numbers.range_step", "111", 100},
	{"count", "x", 100}, {"sum", "N", 40}, {"product", "I", 40}, {"max", "X", 100}, {"min", "N", 100}, {"sort", "X", 90}, {"any", "X", 100}, {"all", "X", 100},
	{"and", "tt", 100}, {"or", "tt", 100}, {"set_diff", "tt", 100}, {"union", "6", 100}, {"intersection", "6", 100},
	{"array.concat", "ll", 100}, {"array.slice", "lii", 100}, {"array.reverse", "l", 100}, {"array.flatten", "l", 100},
	{"object.get", "oyx", 90}, {"object.keys", "o", 100}, {"object.remove", "oX", 90}, {"object.filter", "oX", 90},
	{"object.union", "ww", 80}, {"object.union_n", "W", 50}, {"object.subset", "&&", 100},
	{"json.marshal", "x", 60}, {"json.unmarshal", "j", 80}, {"json.is_valid", "j", 100},
	{"base64.encode", "s", 100}, {"base64.decode", "b", 100}, {"base64.is_valid", "b", 100},
	{"base64url.encode", "s", 100}, {"base64url.encode_no_pad", "s", 100}, {"base64url.decode", "b", 100},
	{"hex.encode", "s", 100}, {"hex.decode", "h", 100}, {"urlquery.encode", "s", 100}, {"urlquery.decode", "q", 100}, {"crypto.sha256", "s", 100},
	{"time.parse_duration_ns", "d", 100}, {"time.parse_rfc3339_ns", "z", 100},
	{"time.date", ".", 60}, {"time.clock", ".", 60}, {"time.weekday", ".", 60},
	{"units.parse", "u", 35}, {"units.parse_bytes", "u", 35},
	{"walk", "x", 100}, {"graph.reachable", "+@", 100},
	{"semver.is_valid", "v", 100}, {"semver.compare", "vv", 90},
	{"net.cidr_is_valid", "c", 30}, {"net.cidr_contains", "cc", 50}, {"net.cidr_overlap", "cc", 50}, {"net.cidr_intersects", "cc", 45},
	{"internal.template_string", "=", 90},
}

// builtinTexts are calls that native must answer.
var builtinTexts = map[string][]string{
	"sprintf": {
		`"%s must not run %s", ["agent", "rm"]`, `"%v of %d", [{"a": [1, 2.50, null]}, 3]`, `"%s", [5]`, `"%d", ["a"]`, `"%t", [true]`,
		`"%d", [12345678901234567890]`, `"%v%%", [1.50]`, `"%.2f", [3.14159]`, `"%5d|%-5s|%05d", [1, "é", -3]`, `"", []`, `"%s", []`,
		`"a", ["b", 1, 2.5]`, `"%q %x", ["a\"b", "hi"]`, `"%x", [255]`, `"%s %s", [{1, 2}, set()]`, `"%", [1]`, `"%e", [1e300]`, `"%v", [1e21]`,
		`"%.2f", [3]`, `"%f %.1f %8.3f|%-8.2f|%08.2f", [1, 0, -2, 3, 12345]`, `"%.0f|%5.0f|%.0d|%-3.0d|", [0, 0, 0, 0]`, `"%.3d|%6.3d|%-6.3d|%06d|%6d|%02d|%-4d|", [7, 7, -7, -7, 0, 123, 5]`,
		`"%.4x|%6.3X|%08b|%5o|%.1v|%04v", [255, 171, 5, 8, 42, -42]`, `"%s|%5s|%.3s|%-5s|%e|%g|%t|%5t", [5, 5, 5, -5, 1, 2, 3, 4]`,
		`"%d|%5d|%.2d|%-9.3d|%09d|%s|%8.2s|%t|%5c", [2.5, 2.5, 1.2345, -3.75, -2.5, 1.5, 12.75, 0.5, 1.5]`, `"%d|%5d|%.1d|%-4d|", ["ab", "ab", "ab", "ab"]`,
		`"%f|%.2f|%8.2f|%-9f|", ["abc", "abc", [1, 2], {"a"}]`, `"%.2f%%", [99]`, `"%6.2f", [9223372036854775807]`, `"%v %.1f", [1, 2, 3]`, `"%.2f %d", [1]`,
	},
	"plus":  {"0.1, 0.2", "1, 0.5", "-0.5, 0.5", "1e-7, 0.5", "3.3, 1.1", "123456789.5, 1"},
	"minus": {"0.3, 0.1", "1, 0.9", "{1, 2}, {2}", "0.1, 0.1", "5, 7"},
	"mul":   {"0.1, 3", "1.1, 1.1", "-0.5, 0", "2.5, 4", "0.001, 0.001"},
	"div":   {"1, 3", "10, 4", "2, 3", "0, -5", "7, 7", "1, 1000000", "22, 7", "-1, 3", "9007199254740993, 2", "1e20, 3"},
	"sum":   {"[0.1, 0.2, 0.3]", "[1, 2, 3]", "{1.5, 2}", "[]"},
	"round": {"2.5", "-2.5", "0.4", "-0.4", "3"}, "ceil": {"1.2", "-1.2", "-0.5", "0.5"}, "floor": {"1.2", "-1.2", "-0.5", "0.5"},
	"abs": {"-1.5", "0.00001", "-1234567.5", "-0.25"},
	"glob.match": {
		`"*.sh", [], "a.sh"`, `"/home/*/.ssh/**", ["/"], "/home/me/.ssh/a/b"`, `"{a,b*}/[!x-z]?", ["/"], "bcd/a1"`, `"**/secrets/*", ["/"], "a/b/secrets/k"`,
		`"rm *", null, "rm -rf /"`, `"a\\*b", null, "a*b"`, `"?é*", [], "aéb"`,
	},
	"json.unmarshal":    {"`{\"a\": [1, 2.50, -0, 1e5, \"\\ud83d\\ude00\\ud800\"]}`"},
	"json.marshal":      {`{"b": [1.50, "<é\u2028>", {3, 1}], "a": null}`},
	"units.parse_bytes": {`"10KiB"`, `"1.5GB"`, `"2mb"`}, "units.parse": {`"10Ki"`, `"1.5G"`},
	"time.parse_duration_ns": {`"1d2h"`, `"-1.5w"`, `"90s"`}, "time.parse_rfc3339_ns": {`"2024-02-29T12:00:00+02:00"`},
	"net.cidr_contains": {`"10.0.0.0/8", "10.1.2.3"`, `"::/0", "1.2.3.4"`, `"10.0.0.0/8", "10.1.0.0/16"`, `"2001:db8::/32", "2001:db8:1::/48"`, `"10.0.0.0/8", "::1"`},
	"object.union_n":    {`[{"a": {"b": 2}}, {"a": 4}, {"a": {"c": 3}}]`}, "object.subset": {"[1, 1], {1, 2}", `{"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}`},
	"format_int": {"255, 16", "-15.9, 16", "5, 10", "0.5, 2"},
}
