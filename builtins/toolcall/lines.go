package toolcall

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// says are texts of calls that a program is given although commandPart has no such key, or reads
// it as a shell's: words of the tool's name or of the language that the call names, keys, and
// the program; of a cell of a notebook it is what its kernel gives to a shell.
var says = [...][3]string{
	{"", "commands cmds cmdline cmdlines commandlines clicommand rawcommand bashcommand terminalcommand bash bashscript shellscript scriptcontent", "sh -c"},
	{"terminal shell bash powershell console tmux pty ssh tty stdin interact commands", "run input text keys lines steps stdin", "sh -c"},
	{"", "sql", "psql -c"},
	{"sql query execute exec run migration migrate db database postgres mysql sqlite", "query queries statement statements", "psql -c"},
	{"python python3 py ipython jupyter pyodide interpreter", codeKeys, "python3 -c"},
	{"javascript js node nodejs typescript ts deno bun browser", codeKeys, "node -e"},
	{"ruby", codeKeys, "ruby -e"},
	{"perl", codeKeys, "perl -e"},
	{"php", codeKeys, "php -r"},
	{"", "url", "curl"},
	{"notebook jupyter ipython cell", "newsource newcode newstring content source cellsource code", ""},
}

// codeKeys name code of whatever language, languages are words that tell it.
const (
	codeKeys  = "code script"
	languages = "python python3 py ipython jupyter pyodide interpreter javascript js node nodejs typescript ts deno bun browser ruby perl php bash shell sh"
)

// languageOf is the language of code that nobody says it is in, by what its lines begin with.
func languageOf(code string) string {
	for _, line := range strings.Split(code, "\n") {
		word, rest, _ := spell.Cut(strings.TrimSpace(line), " ")
		switch {
		case losses.In(word, "const var await async") || word == "import" && strings.ContainsAny(rest, `"'`) || strings.HasPrefix(word, "require("):
			return "js"
		case word == "import" && !strings.HasPrefix(rest, "-") || word == "from" && strings.Contains(rest, " import ") || word == "def" || strings.HasPrefix(word, "print("):
			return "python"
		}
	}
	return ""
}

// slots are keys of arguments that are one command together.
var slots = [...]string{"subcommand operation action resourcetype kind", "command cmd commandline program executable file", "name names", "args arguments argv parameters", "method", "url"}

// callLines collects such lines of a call. words are those of the tool's name and of the language, code
// is what no shell reads, plain what one does.
type callLines struct {
	words, code, plain, out []string
}

// lines are the command lines of a call: the texts of commandPart, and what is one by another
// key, in two parts, by the tool's name, or in a cell of a notebook.
func lines(c *policy.Context) []string {
	tool := c.Text(policy.FieldToolName)
	input, _ := c.Get(policy.FieldToolInput)
	args, _ := input.(map[string]any)
	language, _ := args["language"].(string)
	t := callLines{words: losses.Tokens(tool[strings.LastIndexAny(strings.ReplaceAll(tool, "__", "//"), "/:.")+1:])}
	does := t.does()
	t.words = lists.Add(t.words, losses.Tokens(language))
	t.object(args, does)
	out := commandPart.texts(c)
	if KindOf(tool) != KindShell {
		out = lists.DeleteFunc(out, func(s string) bool { return lists.Has(t.code, s) && !lists.Has(t.plain, s) })
	}
	return lists.Add(out, t.out)
}

// does is the command that the tool's name is, or says: git_reset, drop-collection.
func (t *callLines) does() string {
	words := t.words[max(0, len(t.words)-3):]
	if len(words) == 0 {
		return " "
	}
	all := strings.Join(words, "-")
	for i, w := range words {
		if losses.In(w, "git docker podman kubectl helm terraform tofu pulumi aws gcloud az gh") { // uninstall_helm_chart
			return strings.Join(append([]string{w}, slices.Delete(lists.Copy(words), i, i+1)...), " ")
		}
	}
	if losses.In(strings.TrimSuffix(words[len(words)-1], "s"), "repository repo database db table collection keyspace schema namespace bucket volume project cluster instance stack queue topic tenant organization backup snapshot flushall flushdb") && !t.has("restore clean close from in to of") {
		return "mcp " + all
	}
	return " "
}

//go:noinline
func (t *callLines) has(list string) bool {
	return slices.ContainsFunc(t.words, func(w string) bool { return losses.In(w, list) })
}

//go:noinline
func (t *callLines) add(program, text string) {
	t.out = lists.Add(t.out, []string{program + " " + text})
}

// object adds what the arguments in an object say one by one, and together.
func (t *callLines) object(args map[string]any, does string) {
	var got [len(slots)]string
	for _, key := range lists.Keys(args) {
		plain := Plain(key)
		text, _ := partText(args[key])
		for i := range slots {
			if got[i] == "" && losses.In(plain, slots[i]) {
				got[i] = text
			}
		}
		if plainKeys()[plain] == commandPart && !losses.In(plain, codeKeys) {
			t.plain = append(t.plain, text)
		}
		if on, _ := args[key].(bool); on || plain == "mode" {
			does += " --" + lists.First(text, strings.Join(losses.Tokens(key), "-"))
		}
		t.value(plain, args[key])
	}
	if got[1] != "" && got[3] != "" {
		t.add(got[1], got[3])
	}
	if strings.EqualFold(got[4], "delete") {
		t.run("curl -X DELETE", got[5])
	}
	if does[0] != ' ' {
		t.add(does, strings.Join(got[:4], " "))
	}
}

// value adds what a value under a key says.
func (t *callLines) value(key string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			t.value(key, e)
		}
	case map[string]any:
		t.object(v, " ")
	case string:
		if key == "code" && !t.has(languages) {
			t.words = append(t.words, languageOf(v))
		}
		for i := range says {
			if row := &says[i]; losses.In(key, row[1]) && (row[0] == "" || t.has(row[0])) {
				if row[1] == codeKeys {
					t.code = append(t.code, v)
				}
				t.run(row[2], v)
			}
		}
	}
}

// run adds what a program is given, and of a cell of a notebook what its kernel gives to a shell.
func (t *callLines) run(program, text string) {
	if program != "" {
		t.add(program, quoting.Quote(text))
		return
	}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case i == 0 && strings.HasPrefix(line, "%%"):
			t.add("", text)
		case strings.HasPrefix(line, "!"):
			t.add("", line[1:])
		}
	}
}
