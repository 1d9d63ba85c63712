package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// sqlClient reads SQL from options, operands and standard input.
func (a *analysis) sqlClient(c *shCall) shValue {
	const long = "--command --file --host --port --username --dbname --set --output --execute --database --user --socket --init-command --url --query --password --server"
	short, files, how := "cfhpUdvoPFRTLw", []string{"-f", "--file"}, 0
	switch c.name {
	case "mysql", "mariadb", "mycli", "cqlsh", "cockroach", "trino", "influx", "hive", "beeline", "spark-sql", "presto", "presto-cli":
		short, how = "eDhPuSfd", optShort
	case "sqlite3", "sqlite", "litecli", "duckdb":
		return a.sqlite(c)
	case "clickhouse-client", "clickhouse", "snowsql", "sqlcmd", "impala-shell":
		short, files = "qQhudSUPif", []string{"-i", "-f"}
	}
	o := options(c.args(), short, long, how)
	if o.exact("--help", "--version") {
		return printsText(a, c)
	}
	given := o.values("-c", "--command", "-e", "--execute", "--init-command", "-q", "-Q", "--query")
	for _, w := range o.operands {
		if strings.Contains(w.Text, " ") {
			given = append(given, w)
		}
	}
	for _, w := range o.values(files...) {
		a.scriptLoss(c, []Word{w})
		a.fileEffect(EffectRead, w, c.target("read"))
		given = append(given, a.contents(w, c.fr).word())
	}
	return a.sqlGiven(c, given, len(given) == 0)
}

// sqlGiven reads SQL that a client is given, and what comes from standard input.
func (a *analysis) sqlGiven(c *shCall, given []Word, stdin bool) shValue {
	for _, w := range given {
		a.sql(c, w.value())
	}
	if stdin && c.fr.stdin.set {
		if o := c.fr.stdin.value.origin(); o.kind == "file" {
			a.scriptLoss(c, []Word{NewWord(o.from)})
		}
		given = append(given, c.fr.stdin.value.word())
		a.sql(c, c.fr.stdin.value)
	}
	for _, w := range given {
		made := losses.MadeSQL(w.Text)
		if made == "" {
			continue
		} else if c.fr.out != nil {
			return append(shLiteral(made+" "), shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})...)
		} else if strings.Contains(w.Text, `\gexec`) {
			a.sql(c, shLiteral(made))
		}
	}
	return printsText(a, c)
}

func (a *analysis) sqlite(c *shCall) shValue {
	o := options(c.args(), "", "-cmd -init -separator -nullvalue -newline -maxsize -c -s", optDash)
	given := o.values("-cmd", "-c", "-s")
	memory := o.first(":memory:") || len(o.operands) > 1 && a.zone(c, o.operands[0]) == ZoneTemp && !losses.Holds(strings.Join(WordTexts(o.rest(1)), " "), ".shell", ".system", "attach")
	if memory {
		a.sqlAside(c, strings.Join(WordTexts(o.rest(1)), "\n"))
	}
	if len(o.operands) > 0 && !memory {
		a.fileEffect(EffectRead, o.operands[0], c.target("read"))
		given = append(given, o.rest(1)...)
	}
	return a.sqlGiven(c, given, len(o.operands) < 2 && !memory)
}

// sql adds what SQL text destroys, and runs the commands that clients let it hold.
func (a *analysis) sql(c *shCall, v shValue) {
	text := v.text()
	if len(text) > maxShellValue {
		a.unknown(c.fr, shellTooMany, c.offset)
		return
	}
	lost := losses.SQL(text)
	for _, loss := range lost[:min(len(lost), maxItems)] {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: loss.Op, Target: loss.Target})
	}
	a.sqlAside(c, text)
	if o := v.origin(); o.kind == "remote" { // a dump that was packed is data of the user's
		a.codeEffect(c, v[0])
	}
}

// sqlAside runs the commands that clients let SQL hold, and adds the files that they write and read.
func (a *analysis) sqlAside(c *shCall, text string) {
	aside := losses.SQLAside(text)
	for _, code := range aside[0] {
		a.interpret(c, shLiteral(code), a.childShell(c), c.name)
	}
	for _, file := range aside[1] {
		a.fileEffect(EffectWrite, NewWord(file), c.target("write"))
	}
	for _, file := range aside[2] {
		a.fileEffect(EffectRead, NewWord(file), c.target("read"))
		if v, ok := a.written(NewWord(file), c.fr); ok && !lists.Has(c.fr.via, "sql script") {
			in := *c
			in.fr = c.fr.within("sql script")
			a.sql(&in, v)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		for _, escape := range []string{`\!`, ".shell ", ".system ", "system ", "!!"} {
			if code, ok := spell.CutPrefix(line, escape); ok {
				a.interpret(c, shLiteral(code), a.childShell(c), c.name)
			}
		}
	}
}

var sqlNames = losses.Words("sql psql mysql postgres pg query dbshell dbconsole")

// sqlWords adds what SQL in the words of a command does, where the word before says that it is: query, --command, -e.
func (a *analysis) sqlWords(c *shCall) {
	if c.fr.stdin.set && slices.ContainsFunc(c.args(), func(w Word) bool { return !strings.Contains(w.Text, ".") && losses.Any(sqlNames(), w.Text) }) {
		a.sql(c, c.fr.stdin.value)
	}
	for i, w := range c.args() {
		text := w.Text
		if name, value, ok := spell.Cut(text, "="); ok && strings.HasPrefix(name, "--") {
			text = value
		}
		verb, rest, ok := spell.Cut(strings.TrimLeft(text, " ("), " ")
		if !ok || rest == "" || i == 0 || !WordIn(strings.ToUpper(verb), "DROP DELETE TRUNCATE UPDATE ALTER") {
			continue
		}
		before := lists.Concat(WordTexts(c.args()[:i]), []string{strings.TrimSuffix(w.Text, text)})
		if slices.ContainsFunc(before, func(b string) bool {
			return WordIn(strings.Trim(b, "-="), "query sql command execute exec e c q eval shell statement execute-sql execute-statement pg:psql psql console run-query query-string execute dbal:run-sql doctrine:query:sql run-sql sql:query db:query")
		}) || len(losses.SQL(text)) > 0 && strings.Contains(rest, " ") && WordIn(strings.ToUpper(strings.Fields(rest)[0]), "TABLE DATABASE SCHEMA KEYSPACE FROM COLLECTION") && !(i > 0 && losses.Says()[c.args()[i-1].Text]) {
			if o := options(c.args(), "", "", 0); o.dry() {
				return
			}
			a.sql(c, shLiteral(text))
		}
	}
}

// redis reads commands from lines of standard input; those among the operands are in the table of losses.
func (a *analysis) redis(c *shCall) shValue {
	if c.fr.stdin.set {
		for _, line := range strings.Split(c.fr.stdin.value.text(), "\n") {
			o := shOpts{}
			for _, word := range strings.Fields(line) {
				o.operands = append(o.operands, NewWord(strings.Trim(word, `"'`)))
			}
			a.ruled(c, c.name, &o)
		}
	}
	return printsText(a, c)
}

// mongo reads scripts of the MongoDB shell.
func (a *analysis) mongo(c *shCall) shValue {
	o := options(c.args(), "ufp", "--eval --host --port --username --password --file --authenticationDatabase", 0)
	code := o.values("--eval")
	for _, w := range append(o.values("-f", "--file"), o.operands...) {
		if v, ok := a.written(w, c.fr); ok {
			code = append(code, v.word())
		}
	}
	if len(code) == 0 && c.fr.stdin.set {
		code = []Word{c.fr.stdin.value.word()}
	}
	return a.langs(c, tokens.JS, code)
}
