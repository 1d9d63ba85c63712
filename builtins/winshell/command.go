package winshell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// argument is one argument of a command: -name, values, or both (-name:value).
type argument struct {
	name  string
	words []word
}

var (
	redirectOf = pattern(`^([*1-6]?)(<|>>?)(?:&[12])?`)
	dashOf     = pattern(`^[-–—]([A-Za-z_?]\w*)(:)?`)
)

// arguments reads the arguments of a command, and where its output goes.
func (r *reader) arguments() (list []argument, suffix string) {
	for {
		r.spend()
		if r.skip(false); r.done() || r.is("\n;|)}&") {
			return list, suffix
		}
		if redirectOf().MatchString(r.text[r.at:]) {
			suffix += r.redirects()
			continue
		}
		from := r.at
		switch m := dashOf().FindStringSubmatch(r.text[r.at:]); {
		case m != nil && m[2] != "":
			r.at += len(m[0])
			r.skip(false)
			list = append(list, argument{"-" + m[1], r.list()})
		case m != nil && r.ends(r.at+len(m[0])):
			r.at += len(m[0])
			list = append(list, argument{name: "-" + m[1]})
		case r.take("--% "):
			for _, w := range strings.Fields(r.until("\n")) {
				list = append(list, argument{words: []word{literal(strings.Trim(w, `"`))}})
			}
		default:
			// The values of a table as arguments are not known by their names.
			r.partly = r.partly || r.is("@") && r.at+1 < len(r.text) && strings.IndexByte("({'\"", r.text[r.at+1]) < 0
			list = append(list, argument{words: r.list()})
		}
		if r.at == from {
			r.at, r.partly = r.at+1, true
		}
	}
}

// ends reports whether an argument ends at a place.
func (r *reader) ends(at int) bool {
	return at >= len(r.text) || strings.IndexByte(" \t\n;|)}&`<>", r.text[at]) >= 0
}

// list reads values with commas between.
func (r *reader) list() []word {
	var out []word
	for {
		if r.has("@{") {
			out = append(out, r.members(r.primary())...)
		} else {
			out = append(out, r.argument())
		}
		if r.skip(false); !r.take(",") {
			return out
		}
		r.skip(true)
	}
}

// argument reads one argument: values that stand right beside each other.
func (r *reader) argument() word {
	var parts []word
	for !r.done() && !r.is(" \t\n;|)},&<>") {
		switch {
		case r.is("({") && len(parts) > 0:
			return joined(parts)
		case r.is("{"):
			return r.primary()[0]
		case r.is("$'\"("), r.has("@("), r.has("@{"), r.has("@'\n"), r.has("@\"\n"), r.is("[") && len(parts) == 0 && strings.Contains(r.text[r.at:], "]::"):
			values := r.members(r.primary())
			if len(parts) == 0 && r.ends(r.at) && len(values) > 1 {
				return word{code: codes(values), lit: text(values), known: joined(values).known}
			}
			parts = append(parts, values...)
		default:
			w := r.bare()
			parts = append(parts, w)
			if w.lit == "" {
				return joined(parts)
			}
		}
	}
	return joined(parts)
}

// bare reads text without quotes.
func (r *reader) bare() word {
	var b strings.Builder
	plain := true
	for ; !r.done() && !r.is(" \t\n;|(){},&'\"$<>") && !r.has("`\n"); r.at++ {
		if r.is("`") && r.at+1 < len(r.text) {
			r.at++
			plain = plain && !r.is("*?[]~")
		}
		b.WriteByte(r.here())
	}
	if !plain {
		return literal(b.String())
	}
	return globbed(b.String())
}

// redirects reads where output goes.
func (r *reader) redirects() string {
	out := ""
	for {
		r.skip(false)
		m := r.match(redirectOf)
		if m == nil {
			return out
		}
		if strings.Contains(m[0], "&") {
			continue
		}
		r.skip(false)
		target := r.argument()
		if target.code == "''" || strings.EqualFold(target.lit, "nul") { // $null is no value
			target.code = "/dev/null"
		}
		out += " " + strings.Replace(m[1], "*", "&", 1) + m[2] + " " + target.code
	}
}

// command is a command with the arguments that follow; the blocks among them
// run. piped is nil where nothing comes to it.
func (r *reader) command(name word, piped *[]word) string {
	args, suffix := r.arguments()
	words := flat(args)
	blocks := blocksOf(words)
	switch {
	case name.isBlock && len(words) > 0:
		return group(name.block) + suffix + "\n: " + codes(words)
	case name.isBlock:
		return group(name.block) + suffix
	case !name.known:
		return name.code + " " + codes(words) + suffix
	}
	lower := strings.ToLower(name.lit[strings.LastIndexAny(name.lit, `/\`)+1:])
	if lower == "foreach-object" || lower == "%" || lower == "foreach" || blocks != "" && (lower == "where-object" || lower == "?" || lower == "where") {
		return forEach(lower, blocks, words, piped) + suffix
	}
	code := r.named(lower, name.lit, args, words, piped)
	if blocks != "" {
		code += suffix + "\n" + group(blocks)
	}
	return code + suffix
}

// blocksOf is the code of the script blocks among words.
//
//go:noinline
func blocksOf(words []word) (code string) {
	for _, w := range words {
		code += w.block
	}
	return code
}

// forEach runs a block, or a member by its name, for what comes from a pipe. What a
// filter lets through is some of it; of a text that is known, all of it.
//
//go:noinline
func forEach(name, block string, words []word, piped *[]word) string {
	if block == "" && len(words) > 0 && !words[0].isBlock {
		for _, w := range words {
			if member := strings.ToLower(w.lit); methods()[member] != nil {
				block = method(member, []word{variable("psitem")}, nil).command + "\n"
			}
		}
		if block == "" {
			return "cat"
		}
	}
	switch {
	case strings.HasPrefix(name, "where") || name == "?":
		some := "grep -e x"
		if piped != nil && *piped != nil {
			some = "cat"
		}
		return "{ psitem=x; : $(" + block + "); " + some + "; }"
	case piped != nil && *piped != nil:
		return "for psitem in " + each(*piped) + "; do " + group(block) + "; done"
	}
	return "while read -r psitem; do " + group(block) + "; done"
}

// named is a command that is known by its name.
func (r *reader) named(lower, name string, args []argument, words []word, piped *[]word) string {
	plain := strings.TrimSuffix(lower, ".exe")
	if c := cmdlets()[lower]; c != nil && !r.cmd && !c.other(args, words) {
		return c.cmdlet(args, piped)
	}
	if row := programs()[plain]; len(words) > 0 && words[len(words)-1].lit == "/?" {
		return ":"
	} else if row != nil {
		if code, ok := row.code(operands(words)); ok {
			return code
		}
	}
	verb, noun, dashed := spell.Cut(lower, "-")
	switch {
	case r.cmd && runnable()[lower[strings.LastIndexByte(lower, '.')+1:]]: // of the folder itself first
		if lower == strings.ToLower(name) {
			name = "./" + name
		}
	case r.cmd && strings.Contains(name, "://"): // start opens it
		return ":"
	case r.cmd || !dashed:
	case slices.ContainsFunc(args, func(a argument) bool {
		return strings.EqualFold(a.name, "-whatif") && text(a.words) != "false"
	}):
		return ":"
	case destroys(verb, noun, r.text):
		r.partly = true
	case (verb == "get" || verb == "convertfrom") && (secretNouns().MatchString(noun) || plainly().MatchString(text(words))):
		return "printenv " + strings.ToUpper(noun) + "_SECRET"
	case harmlessVerbs()[verb] && verb != "test" && secretNouns().MatchString(noun):
	case harmlessVerbs()[verb] && piped != nil:
		return "cat"
	case harmlessVerbs()[verb]:
		return "printf '%s\\n' " + opaque(words).code
	}
	return literal(name).code + " " + codes(words)
}

// destroys reports whether a cmdlet that nobody listed takes something away.
func destroys(verb, noun, text string) bool {
	return takingVerbs()[verb] && !ownNouns()[noun] || strings.Contains(noun, "wmi") && (verb != "get" || strings.ContainsAny(text, "({%")) || strings.Contains(noun, "cim") && verb == "invoke" || verb+noun == "addtype"
}

// flat is arguments as words.
func flat(args []argument) []word {
	var out []word
	for _, a := range args {
		switch {
		case a.name != "" && len(a.words) > 0:
			out = append(out, joined(append([]word{globbed(a.name + ":")}, a.words...)))
		case a.name != "":
			out = append(out, globbed(a.name))
		default:
			out = append(out, a.words...)
		}
	}
	return out
}

// operands are the words of a program of Windows by their places, with "all" for
// all of them, "rest" for those that are no switch, and each switch by its name.
func operands(words []word) map[string][]word {
	out := map[string][]word{"all": words}
	for _, w := range words {
		s := strings.ToLower(strings.Replace(w.lit, "//", "/", 1))
		name, _, _ := spell.Cut(s, ":")
		switch {
		case w.known && len(s) > 1 && (s[0] == '/' || s[0] == '-') && strings.Count(name, "/") < 2:
			for _, part := range strings.Split(strings.TrimLeft(name, "/-"), "/") {
				out["/"+part] = []word{w}
			}
		case strings.HasPrefix(s, "+"):
		default:
			out["rest"] = append(out["rest"], w)
			out[strconv.Itoa(len(out["rest"]))] = []word{w}
		}
	}
	if len(out["2"]) > 0 {
		key := out["2"][0]
		if top, rest, _ := spell.Cut(key.lit, "/"); key.known && hive(top) { // HKLM\Software is HKLM:/Software
			key = literal(top + ":/" + rest)
		} else {
			key = word{code: "HKLM:/" + key.code}
		}
		out["key"] = []word{key}
	}
	return out
}

// common are parameters that every cmdlet has.
const common = " erroraction ea=erroraction warningaction informationaction outvariable ov=outvariable errorvariable ev=errorvariable outbuffer pipelinevariable " +
	"-verbose -vb=verbose -debug -whatif -wi=whatif -confirm -cf=confirm"

// param finds a parameter by its name or the beginning of it: the name of its
// value, and whether it takes none.
func (w *row) param(name string) (as string, alone, ok bool) {
	for _, exact := range []bool{true, false} {
		for _, p := range strings.Fields(w.params + common) {
			full, as, second := spell.Cut(strings.TrimLeft(p, "+-"), "=")
			if !second {
				as = full
			}
			if full == name || !exact && strings.HasPrefix(full, name) {
				return as, p[0] == '-', true
			}
		}
	}
	return "", false, false
}

// bind gives the arguments to the parameters. Those without a name go to the
// parameters with a place that have no value yet; that with ++ takes all.
func (w *row) bind(args []argument) map[string][]word {
	out := map[string][]word{"all": flat(args)}
	var loose []argument
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.name == "" {
			loose = append(loose, a)
			continue
		}
		name, alone, ok := w.param(strings.ToLower(a.name[1:]))
		switch {
		case alone || !ok:
			if text(a.words) != "false" {
				out[name] = []word{literal("true")}
			}
		case len(a.words) == 0 && i+1 < len(args) && args[i+1].name == "":
			i++
			a = args[i]
			fallthrough
		default:
			out[name] = append(out[name], a.words...)
		}
	}
	for _, p := range strings.Fields(w.params) {
		place, _, _ := w.param(strings.Split(strings.TrimLeft(p, "+"), "=")[0])
		if p[0] != '+' || len(loose) == 0 || out[place] != nil {
			continue
		}
		for first := true; len(loose) > 0 && (first || strings.HasPrefix(p, "++")); first = false {
			out[place] = append(out[place], loose[0].words...)
			loose = loose[1:]
		}
	}
	return out
}

// other reports whether the arguments are not those of a cmdlet but of a program
// of the same name: curl -X POST, sort -u, sc.exe delete, rm -rf, rd /s /q.
func (w *row) other(args []argument, words []word) bool {
	for _, a := range args {
		switch lit := text(a.words); {
		case w.name == "remove-item" && (a.name == "-rf" || a.name == "-fr" || len(lit) == 2 && lit[0] == '/'):
			return true
		case w.name != "invoke-webrequest" && w.name != "sort-object":
		case strings.HasPrefix(lit, "--"):
			return true
		case a.name != "":
			if _, _, ok := w.param(strings.ToLower(a.name[1:])); !ok {
				return true
			}
		}
	}
	return w.name == "set-content" && len(words) > 0 && scVerbs()[strings.ToLower(words[0].lit)]
}

// cmdlet writes a command of the table. A form that begins with ^ takes the
// operand path from a pipe where there is none; one with < prints the value into it.
func (w *row) cmdlet(args []argument, piped *[]word) string {
	given := w.bind(args)
	if given["whatif"] != nil {
		return ":"
	}
	if piped != nil {
		given["piped"] = *piped
		if given["body"] == nil {
			given["body"] = []word{literal("@-")}
		}
	}
	code, _ := w.code(given)
	if form, ok := spell.CutPrefix(code, "^"); ok {
		switch code = form; {
		case piped == nil || given["path"] != nil:
		case *piped != nil:
			given["path"] = *piped
			code, _ = w.code(given)
			code = code[1:]
		default:
			code = "xargs -d '\\n' " + form
		}
	}
	if form, ok := spell.CutPrefix(code, "<"); ok {
		_, path, tee := spell.Cut(form, "tee -- ")
		switch code = form; {
		case tee && (given["value"] == nil && piped == nil || codes(given["value"]) == "''"):
			code = ": > " + path
		case given["value"] != nil:
			code = "printf '%s\\n' " + codes(given["value"]) + " | " + strings.Replace(form, "touch", "tee", 1)
		}
	}
	return code
}

// holds reports whether a condition of a clause does.
func holds(cond string, given map[string][]word) bool {
	for _, part := range strings.Split(cond, "&") {
		name, list, named := spell.Cut(part, "=")
		if named = named && !strings.ContainsAny(name, "~,"); !named {
			name, list = "all", part
		}
		of, alternatives := given[name], strings.Split(list, ",")
		ok := list == "" && of != nil || !named && slices.ContainsFunc(alternatives, func(alt string) bool { return given["/"+alt] != nil }) || slices.ContainsFunc(of, func(w word) bool {
			lit := strings.ToLower(w.lit)
			return slices.ContainsFunc(alternatives, func(alt string) bool {
				inside, part := spell.CutPrefix(alt, "~")
				return lit == alt || part && strings.Contains(lit, inside)
			})
		})
		if !ok {
			return false
		}
	}
	return true
}

// filled puts values into a form.
func filled(form string, given map[string][]word) string {
	var b strings.Builder
	for {
		before, rest, found := spell.Cut(form, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inside, after, _ := spell.Cut(rest, "}")
		form = after
		i := strings.IndexAny(inside+":", "?!:")
		values := given[inside[:i]]
		then := inside[min(i+1, len(inside)):]
		switch {
		case i == len(inside):
			b.WriteString(codes(values))
		case inside[i] == ':' && then == "/" && values != nil:
			b.WriteString(then + codes(values))
		case inside[i] == ':':
			for _, w := range values {
				b.WriteString(then + " " + w.code + " ")
			}
		case (inside[i] == '?') == (values != nil):
			b.WriteString(then)
		}
	}
}
