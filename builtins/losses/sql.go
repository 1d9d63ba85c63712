package losses

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Loss is what a statement of SQL takes away.
type Loss struct{ Op, Target string }

// SQL finds what SQL text destroys. Strings and comments are text.
func SQL(text string) []Loss {
	var out []Loss
	statements := lists.DeleteFunc(sqlStatements(text), func(words []string) bool { return len(words) == 0 })
	undone, own := rolledBack(statements), map[string]bool{}
	for _, words := range statements {
		if i := slices.Index(words, "TABLE"); words[0] == "CREATE" && i == 2 && In(words[1], "TEMP TEMPORARY") {
			own[sqlName(lists.DeleteFunc(lists.Copy(words[i:]), func(w string) bool { return w == "NOT" }))] = true
		}
		loss, ok := sqlStatement(words)
		if ok && !(undone && In(loss.Op, "delete-rows update-rows")) && !(own[loss.Target] && (loss.Op == "drop-table" && len(words) == 3 || words[0] == "TRUNCATE" && len(words) < 4)) {
			out = append(out, loss)
		}
	}
	return out
}

// rolledBack reports whether statements are one transaction that is undone.
func rolledBack(statements [][]string) bool {
	ends := func(words []string) bool { return In(words[0], "COMMIT END ROLLBACK BEGIN START ABORT") }
	n := len(statements)
	return n > 2 && (lists.Equal(statements[0], []string{"BEGIN"}) || lists.Equal(statements[0], []string{"START", "TRANSACTION"})) &&
		lists.Equal(statements[n-1], []string{"ROLLBACK"}) && !slices.ContainsFunc(statements[1:n-1], ends)
}

// sqlToken is a token of SQL: a comment, a string, a name in quotes, a word, or a sign.
var sqlToken = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile("(?m:--.*|^#.*)|(?s:/\\*.*?(?:\\*/|$))|(?s:'(?:[^'\\\\]|''|\\\\.)*(?:'|$|\\\\$))|\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|[\\w.$:[:^ascii:]]+|[^\\x00- ]")
})

// sqlStatements are the words of each statement in upper case, without what is
// in strings and comments.
func sqlStatements(text string) [][]string {
	var out [][]string
	var words []string
	for _, t := range sqlToken().FindAllString(text, -1) {
		switch {
		case t == ";":
			out, words = append(out, words), nil
		case strings.HasPrefix(t, "--"), strings.HasPrefix(t, "/*"), t[0] == '#' && len(t) > 1:
		case t[0] == '\'':
			words = append(words, t)
		case t[0] == '"' || t[0] == '`':
			words = append(words, strings.Trim(t, t[:1]))
		default:
			words = append(words, strings.ToUpper(t))
		}
	}
	return append(out, words)
}

func sqlStatement(words []string) (Loss, bool) {
	if len(words) > 1 && !In(words[0], "SELECT INSERT UPDATE DELETE COMMENT RAISE") { // EXECUTE 'drop …', PREPARE p FROM 'drop …'
		for i, w := range words {
			if w[0] == '\'' && len(w) > 12 && (In(words[0], "SET") || slices.ContainsFunc(words[:i], func(before string) bool {
				return In(before, "EXECUTE EXEC IMMEDIATE PREPARE") || strings.HasPrefix(before, "SP_")
			})) {
				for _, loss := range SQL(strings.Trim(w, "'")) {
					return loss, true
				}
			}
		}
	}
	if len(words) > 0 && (words[0] == "WITH" || words[0] == "DO" || words[0] == "BEGIN" || words[0] == "EXPLAIN" && len(words) > 1 && words[1] == "ANALYZE") {
		for i, w := range words {
			if i > 0 && (w == "DELETE" || w == "DROP" || w == "TRUNCATE") {
				return sqlStatement(words[i:])
			}
		}
		return Loss{}, false
	}
	if len(words) < 2 {
		return Loss{}, false
	}
	last := words[len(words)-1]
	switch words[0] {
	case "DROP":
		return sqlDrop(words)
	case "MATCH": // of Cypher
		if lists.Has(words, "DELETE") && !lists.Has(words, "WHERE") {
			return Loss{"delete-nodes", sqlName(words[1:])}, true
		}
	case "SELECT":
		for _, w := range words[1:] {
			if In(w, "PG_TERMINATE_BACKEND PG_DROP_REPLICATION_SLOT LO_UNLINK PG_LOGICAL_EMIT DROP_CHUNKS CITUS_DRAIN_NODE") {
				return Loss{strings.ToLower(strings.ReplaceAll(w, "_", "-")), last}, true
			}
		}
	case "CREATE":
		if lists.Has(words, "SUPERUSER") {
			return Loss{"create-superuser", last}, true
		}
	case "MERGE":
		if last == "DELETE" {
			return Loss{"delete-rows", sqlName(words[2:])}, true
		}
	case "SET":
		if words[1] == "GLOBAL" && strings.Contains(strings.Join(words, " "), "LOG") && In(last, "0 OFF FALSE") {
			return Loss{"log-off", strings.ToLower(words[2])}, true
		}
	case "DETACH", "UNINSTALL":
		return Loss{"drop-table", last}, true
	case "SYSTEM":
		if words[1] == "DROP" && In("REPLICA", strings.Join(words, " ")) {
			return Loss{"drop-replica", last}, true
		}
	case "REMOVE", "PURGE", "RESET":
		if In(words[1], "DATABASE TABLE NAMESPACE BINARY MASTER") {
			return Loss{"remove-" + strings.ToLower(words[1]), sqlName(words[2:])}, true
		}
	case "TRUNCATE":
		return Loss{"truncate-table", sqlName(words[1:])}, true
	case "DELETE":
		if lists.Has(words[1:min(len(words), 4)], "FROM") && sqlEverything(words) {
			return Loss{"delete-rows", sqlName(words[2:])}, true
		}
	case "GRANT", "REVOKE":
		if words[1] == "ALL" && (words[0] == "REVOKE" || last == "OPTION" || last == "PUBLIC" || lists.Has(words, "'%'")) {
			return Loss{strings.ToLower(words[0]) + "-all", last}, true
		}
	case "UPDATE":
		if sqlEverything(words) && lists.Has(words, "SET") {
			return Loss{"update-rows", sqlName(words[1:])}, true
		}
	case "ALTER":
		if words[1] == "SYSTEM" || lists.Has(words, "SUPERUSER") || lists.Has(words, "DISABLE") && lists.Has(words, "SECURITY") {
			return Loss{"alter-" + strings.ToLower(words[1]), last}, true
		}
		for i, w := range words {
			if (w == "DELETE" && i+1 < len(words) && words[i+1] == "WHERE" || w == "UPDATE") && i > 2 && sqlEverything(words) { // of ClickHouse
				return Loss{strings.ToLower(w) + "-rows", sqlName(words[1:])}, true
			}
			if w == "DROP" && i+1 < len(words) && words[i+1] != "CONSTRAINT" && words[i+1] != "DEFAULT" && words[i+1] != "NOT" && words[i+1] != "INDEX" {
				return Loss{"drop-column", last}, true
			}
		}
	}
	return Loss{}, false
}

// sqlDrop is DROP of something that holds data, or of all that hangs on it.
func sqlDrop(words []string) (Loss, bool) {
	kind, rest := words[1], words[2:]
	switch {
	case kind[0] == '\'': // of HBase
		return Loss{"drop-table", kind}, true
	case In(kind, "DATABASE SCHEMA TABLE KEYSPACE OWNED TABLESPACE COLLECTION USER ROLE BUCKET MEASUREMENT NAMESPACE STREAM WAREHOUSE CATALOG GRAPH PARTITION"):
		return Loss{"drop-" + strings.ToLower(kind), sqlName(rest)}, true
	case In(kind, "FOREIGN EXTERNAL MATERIALIZED SEQUENCE PUBLICATION SUBSCRIPTION POLICY"), words[len(words)-1] == "CASCADE":
		return Loss{"drop-table", sqlName(rest)}, true
	}
	return Loss{}, false
}

// sqlName is the first word that is a name.
//
//go:noinline
func sqlName(words []string) string {
	for _, w := range words {
		switch w {
		case "TABLE", "IF", "EXISTS", "ONLY", "BY", "CONCURRENTLY":
			continue
		}
		return strings.ToLower(w)
	}
	return ""
}

// sqlEverything reports whether a statement has no condition, or one that is
// always true.
func sqlEverything(words []string) bool {
	if i := slices.IndexFunc(words, func(w string) bool { return In(w, "RETURNING ORDER") }); i > 2 {
		words = words[:i]
	}
	for i, w := range words {
		if w == "LIMIT" {
			return false
		}
		if w != "WHERE" {
			continue
		}
		for _, any := range strings.Split(strings.Join(words[i+1:], " "), " OR ") {
			all := true
			for _, part := range strings.Split(any, " AND ") {
				m := sqlAlways().FindStringSubmatch(part)
				all = all && m != nil && m[1] == m[2]
			}
			if all {
				return true
			}
		}
		return false
	}
	return true
}

// sqlAlways are conditions that hold for every row.
var sqlAlways = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^[( ]*(?:TRUE|[1-9]\d*|([\w.]+|'[^']*') = ([\w.]+|'[^']*')|(?:[\w.]+\.)?(?:U?U?ID|ROWID|_ID|\d+) (?:> (?:= )?(?:0|- 1)|> = 1|[!<] [>=] (?:0|''|- 1)|IS NOT NULL)|\d+ > \d+|[\w.]+ I?LIKE '%+')[ )]*$`)
})

// ForTests reports whether the words of a command, with its variables, say that it works on a
// database that tests make again: MIX_ENV=test, --env=testing, -d app_test, mongodb://localhost/test;
// target is what it takes away. Where production or another machine is named too, it does not.
func ForTests(words []string, target string) bool {
	tests := lists.Has(Tokens(target), "test") && slices.ContainsFunc(words, func(w string) bool { return Holds(w, "drop database", "dropdb") })
	for i, w := range words {
		before := words[max(i-1, 0)]
		name, value, set := spell.Cut(w, "=")
		switch tokens := Tokens(w); {
		case slices.ContainsFunc(tokens, func(t string) bool { return In(t, "prod production prd live staging") }), In(before, "-h --host -H") && strings.Contains(w, ".") && !IsLocal(w), In(name, "-h --host") && set && !IsLocal(value):
			return false
		case strings.Contains(w, "://"):
			_, rest, _ := spell.Cut(w, "://")
			host, _, _ := spell.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
			host, _, _ = spell.Cut(host, ":")
			if !IsLocal(host) && strings.Contains(host, ".") {
				return false
			}
			path, _, _ := spell.Cut(w, "?")
			tests = tests || testName(path[strings.LastIndexByte(path, '/')+1:])
		case w == "--local":
			tests = true
		case set && (strings.HasSuffix(strings.ToUpper(name), "ENV") || In(name, "--settings -e")):
			tests = tests || testName(value)
		case i > 0 && !strings.ContainsAny(w, " /") && !set && !In(before, "-f --file -U --user -u -p --username -c --command -e --execute --eval"):
			tests = tests || testName(w)
		case In(name, "--dbname --database -d --db"):
			tests = tests || testName(value)
		}
	}
	return tests
}

// testName reports whether a name is of what tests work on; that of a script is not.
func testName(name string) bool {
	if i := strings.LastIndexByte(name, '.'); i > 0 && In(name[i+1:], "sql js sh rb py dump gz json yml yaml cnf") {
		return false
	}
	return slices.ContainsFunc(Tokens(name), func(t string) bool { return In(t, "test tests testing") })
}

// MadeSQL is how the SQL begins that a query makes: select 'drop table ' || name.
func MadeSQL(text string) string {
	if !Holds(text, "select") {
		return ""
	}
	for _, t := range sqlToken().FindAllString(text, -1) {
		if made := strings.Trim(t, "'"); t[0] == '\'' && len(SQL(made+" x")) > 0 {
			return made + " x;"
		}
	}
	return ""
}

// sqlAside finds what SQL clients do beside the database: the command lines they start, and the files they write and read.
var sqlAside = lazy.Value(func() [3]*regexp.Regexp {
	return [3]*regexp.Regexp{
		regexp.MustCompile(`(?im)\b(?:to|from) program\s+'((?:[^']|'')*)'|^\s*\\[og]\s*\|(.*)`),
		regexp.MustCompile(`(?im)^\s*(?:\\[ogw]|\.(?:output|once|save|log|backup))\s+([^\s|]+)|\b(?:writefile\(|into (?:outfile|dumpfile) |\bcopy\b.* to )'([^']+)'`),
		regexp.MustCompile(`(?im)^\s*(?:\\ir?|\.read|\.import|source)\s+([^\s;|]+)|(?:readfile|pg_read_(?:binary_)?file|load_file)\('([^']+)'|\bcopy\b.* from '([^']+)'`),
	}
})

// SQLAside are the command lines that SQL text of a client starts, and the files it writes and reads.
func SQLAside(text string) (out [3][]string) {
	for i, re := range sqlAside() {
		for _, m := range re.FindAllStringSubmatch(text, 32) {
			out[i] = append(out[i], strings.Trim(strings.Join(m[1:], ""), "'\""))
		}
	}
	return out
}
