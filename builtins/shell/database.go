package shell

import (
	"strings"
)

func fillDatabase() {
	programs((*analysis).sqlClient, "psql mysql mariadb sqlite3 sqlite cockroach clickhouse-client clickhouse duckdb sqlcmd sqlplus cqlsh snowsql influx trino usql pgcli mycli litecli mssql-cli bsqldb")
	programs((*analysis).redis, "redis-cli valkey-cli keydb-cli memcached-cli")
	programs((*analysis).mongo, "mongosh mongo")
	programs((*analysis).restore, "mongorestore pg_restore")
	rulesFor(shTool{short: "hpUWuPS", long: "--host --port --username --user --password --maintenance-db --socket"}, []shRule{
		{"dropdb", "", "", "", del, DomainDatabase, "drop-database"},
		{"dropuser", "", "", "", del, DomainDatabase, "drop-user"},
		{"mysqladmin mariadb-admin", "drop", "", "", del, DomainDatabase, "drop-database"},
	})
	rulesFor(shTool{long: "--schema --config --database --db-url --url --env --environment --dir --path -n --name --connection --revision --version-table --dialect --migrations-path"}, []shRule{
		{"prisma", "migrate reset", "", "", del, DomainDatabase, "reset-database"},
		{"prisma", "db push", "--force-reset --accept-data-loss", "", del, DomainDatabase, "reset-database"},
		{"prisma", "db drop", "", "", del, DomainDatabase, "drop-database"},
		{"drizzle-kit", "push|push:pg|push:mysql|push:sqlite", "--force", "", del, DomainDatabase, "reset-database"},
		{"drizzle-kit", "drop", "", "", del, DomainDatabase, "drop-table"},
		{"supabase", "db reset", "", "", del, DomainDatabase, "reset-database"},
		{"supabase", "projects|branches delete", "", "", del, DomainPlatform, "app-delete"},
		{"alembic", "downgrade base|-*", "", "--sql", del, DomainDatabase, "migrate-down"},
		{"alembic", "downgrade", "", "--sql", del, DomainDatabase, "migrate-down"},
		{"flask", "db downgrade", "", "", del, DomainDatabase, "migrate-down"},
		{"rails rake", "db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:truncate_all*|db:schema:load*|db:structure:load*|db:seed:replant*|db:setup*", "", "", del, DomainDatabase, "reset-database"},
		{"rails rake", "db:rollback*|db:migrate:down*", "", "", wr, DomainDatabase, "migrate-step"},
		{"artisan", "migrate:fresh|migrate:reset|migrate:refresh|db:wipe", "", "--pretend", del, DomainDatabase, "reset-database"},
		{"django-admin manage.py", "flush|reset_db|clean_db", "", "", del, DomainDatabase, "reset-database"},
		{"django-admin manage.py", "migrate * zero", "", "--plan", del, DomainDatabase, "migrate-down"},
		{"sequelize sequelize-cli", "db:drop|db:migrate:undo:all", "", "", del, DomainDatabase, "reset-database"},
		{"knex", "migrate:rollback", "--all", "", del, DomainDatabase, "migrate-down"},
		{"typeorm", "schema:drop", "", "", del, DomainDatabase, "drop-schema"},
		{"mikro-orm", "schema:drop|schema:fresh|migration:fresh|database:drop", "", "", del, DomainDatabase, "drop-schema"},
		{"flyway", "clean", "", "", del, DomainDatabase, "reset-database"},
		{"liquibase", "drop-all|dropAll", "", "", del, DomainDatabase, "reset-database"},
		{"mix", "ecto.drop|ecto.reset|ash.reset|ash_postgres.drop", "", "", del, DomainDatabase, "reset-database"},
		{"console doctrine", "doctrine:database:drop|doctrine:schema:drop|orm:schema-tool:drop", "--force -f", "", del, DomainDatabase, "drop-database"},
		{"dbmate", "drop", "", "", del, DomainDatabase, "drop-database"},
		{"goose", "reset|down-to", "", "", del, DomainDatabase, "migrate-down"},
		{"goose", "* * reset", "", "", del, DomainDatabase, "migrate-down"},
		{"migrate", "drop", "", "", del, DomainDatabase, "reset-database"},
		{"migrate", "down", "-all", "", del, DomainDatabase, "migrate-down"},
		{"atlas", "schema clean", "", "", del, DomainDatabase, "reset-database"},
		{"sqlx", "database|db drop|reset", "", "", del, DomainDatabase, "reset-database"},
		{"diesel", "database|db reset|drop", "", "", del, DomainDatabase, "reset-database"},
		{"wp", "db reset|drop|clean", "", "", del, DomainDatabase, "reset-database"},
		{"wp", "site empty|delete", "", "", del, DomainDatabase, "reset-database"},
		{"drush", "sql:drop|sql-drop|site:install|si", "", "", del, DomainDatabase, "reset-database"},
		{"edgedb gel", "database|branch drop|wipe", "", "", del, DomainDatabase, "drop-database"},
		{"turso", "db destroy", "", "", del, DomainDatabase, "drop-database"},
		{"pscale", "database|branch delete", "", "", del, DomainDatabase, "drop-database"},
		{"rabbitmqctl", "reset|force_reset|delete_queue|purge_queue|delete_vhost", "", "", del, DomainDatabase, "queue-delete"},
		{"kafka-topics kafka-topics.sh", "", "--delete", "", del, DomainDatabase, "topic-delete"},
		{"curator", "delete_indices", "", "", del, DomainDatabase, "index-delete"},
	})
}

// sqlClient reads SQL from options, operands and standard input.
func (a *analysis) sqlClient(c *shCall) shValue {
	short, long := "cfhpUdvoPFRTLw", "--command --file --host --port --username --dbname --set --output"
	code, files := []string{"-c", "--command"}, []string{"-f", "--file"}
	switch c.name {
	case "mysql", "mariadb", "mycli", "cqlsh", "cockroach", "trino", "influx":
		short, long = "eDhPuSfd", "--execute --database --host --port --user --socket --init-command --file --url"
		code, files = []string{"-e", "--execute", "--init-command"}, []string{"-f", "--file"}
	case "sqlite3", "sqlite", "litecli":
		return a.sqlite(c)
	case "clickhouse-client", "clickhouse", "snowsql", "sqlcmd":
		short, long = "qQhudSUPif", "--query --host --user --database --port --password"
		code, files = []string{"-q", "-Q", "--query"}, []string{"-i", "-f"}
	case "duckdb":
		short, long = "cs", "-c -cmd -s"
		code = []string{"-c", "-s", "-cmd"}
	}
	o := options(c.args(), short, long, 0)
	if o.exact("--help", "--version") {
		return printsText(a, c)
	}
	given := o.values(code...)
	for _, w := range given {
		a.sql(c, w.value())
	}
	for _, w := range o.values(files...) {
		a.fileEffect(EffectRead, w, c.target("read"))
		a.sql(c, a.contents(w, c.fr))
	}
	if len(given) == 0 && !o.exact(files...) && c.fr.stdin.set {
		a.sql(c, c.fr.stdin.value)
	}
	return printsText(a, c)
}

func (a *analysis) sqlite(c *shCall) shValue {
	o := options(c.args(), "", "-cmd -init -separator -nullvalue -newline -maxsize", optDash)
	for _, w := range o.values("-cmd") {
		a.sql(c, w.value())
	}
	for _, w := range o.operands[min(1, len(o.operands)):] {
		a.sql(c, w.value())
	}
	if len(o.operands) < 2 && c.fr.stdin.set {
		a.sql(c, c.fr.stdin.value)
	}
	return printsText(a, c)
}

// sql adds what SQL text destroys, and runs the commands that clients let it
// hold.
func (a *analysis) sql(c *shCall, v shValue) {
	text := v.text()
	if len(text) > maxShellValue {
		a.unknown(c.fr, shellTooMany, c.offset)
		return
	}
	for i, loss := range sqlLosses(text) {
		if i >= maxItems {
			break
		}
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: loss.op, Target: loss.target})
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		for _, escape := range []string{`\!`, ".shell ", ".system ", "system ", "!!"} {
			if code, ok := strings.CutPrefix(line, escape); ok {
				a.interpret(c, shLiteral(code), a.childShell(c), c.name)
			}
		}
	}
	if o := v.origin(); o.kind == "remote" || o.kind == "decoded" {
		a.codeEffect(c, v[0])
	}
}

// redis reads commands from operands, or lines of standard input.
func (a *analysis) redis(c *shCall) shValue {
	o := options(c.args(), "hpansuriDdtX", "--user --pass --pattern --count --cacert --cert --key --eval --sni --socket --scan-count", optStop)
	if len(o.operands) > 0 {
		a.redisCommand(c, WordTexts(o.operands), o.operands)
		return printsText(a, c)
	}
	if c.fr.stdin.set {
		for line := range strings.SplitSeq(c.fr.stdin.value.text(), "\n") {
			a.redisCommand(c, strings.Fields(line), nil)
		}
	}
	return printsText(a, c)
}

func (a *analysis) redisCommand(c *shCall, words []string, operands []Word) {
	if len(words) == 0 {
		return
	}
	name := strings.ToUpper(strings.Trim(words[0], `"'`))
	second := ""
	if len(words) > 1 {
		second = strings.ToUpper(words[1])
	}
	op := ""
	switch {
	case name == "FLUSHALL" || name == "FLUSHDB":
		op = "flush"
	case name == "SHUTDOWN", name == "DEBUG" && second == "SEGFAULT":
		op = "database-stop"
	case name == "CLUSTER" && second == "RESET":
		op = "cluster-reset"
	case name == "SCRIPT" && second == "FLUSH", name == "FUNCTION" && second == "FLUSH":
		op = "script-flush"
	case name == "EVAL" && strings.Contains(strings.ToUpper(strings.Join(words, " ")), "FLUSH"):
		op = "flush"
	case (name == "DEL" || name == "UNLINK") && len(operands) > 1 && operands[1].Dynamic:
		op = "keys-delete"
	case name == "CONFIG" && second == "SET":
		a.effect(c, Effect{Kind: EffectWrite, Domain: DomainDatabase, Op: "config", Target: strings.Join(words[2:min(3, len(words))], "")})
	}
	if op != "" {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: op, Target: "redis"})
	}
}

// mongo reads scripts of the MongoDB shell.
func (a *analysis) mongo(c *shCall) shValue {
	o := options(c.args(), "ufp", "--eval --host --port --username --password --file --authenticationDatabase", 0)
	code := shValue{}
	for _, w := range o.values("--eval") {
		code = append(append(code, w.value()...), shPart{text: "\n"})
	}
	if len(code) == 0 && c.fr.stdin.set {
		code = c.fr.stdin.value
	}
	for _, call := range readLang(langJS, code.text()).calls() {
		op := ""
		switch {
		case strings.HasSuffix(call.name, ".dropDatabase"):
			op = "drop-database"
		case strings.HasSuffix(call.name, ".drop") || strings.HasSuffix(call.name, ".dropCollection"):
			op = "drop-table"
		case (strings.HasSuffix(call.name, ".deleteMany") || strings.HasSuffix(call.name, ".remove")) && call.everything():
			op = "delete-rows"
		case strings.HasSuffix(call.name, ".dropUser") || strings.HasSuffix(call.name, ".dropAllUsers"):
			op = "drop-user"
		case strings.HasSuffix(call.name, ".shutdownServer"):
			op = "database-stop"
		}
		if op != "" {
			a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: op, Target: call.name})
		}
	}
	return printsText(a, c)
}

// restore reads tools that restore a backup; with --drop or --clean over what is there.
func (a *analysis) restore(c *shCall) shValue {
	o := options(c.args(), "dhpUjnt", "--dbname --host --port --username --db --collection --uri", 0)
	if o.exact("--drop", "--clean", "-c") {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: "restore-over", Target: o.operand(0)})
	}
	return printsText(a, c)
}
