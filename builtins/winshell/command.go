package winshell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// argument is one argument of a command: -name, values, or both (-name:value).
type argument struct {
	name  string
	words []word
}

var (
	redirectOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([*1-6]?)(>>?)(?:&[12])?`) })
	dashOf     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-–—]([A-Za-z_?]\w*)(:)?`) })
)

// arguments reads the arguments of a command, and where its output goes.
func (r *reader) arguments() (list []argument, suffix string) {
	for {
		r.spend()
		r.skip(false)
		c := r.here()
		if r.done() || strings.IndexByte("\n;|)}&", c) >= 0 {
			return list, suffix
		}
		if redirectOf().MatchString(r.text[r.at:]) {
			suffix += r.redirects()
			continue
		}
		from := r.at
		if m := dashOf().FindStringSubmatch(r.text[r.at:]); m != nil && (m[2] != "" || r.ends(r.at+len(m[0]))) {
			r.at += len(m[0])
			a := argument{name: "-" + m[1]}
			if m[2] != "" {
				r.skip(false)
				a.words = r.list()
			}
			list = append(list, a)
			continue
		}
		if r.has("--% ") {
			r.at += 4
			for w := range strings.FieldsSeq(r.until("\n")) {
				list = append(list, argument{words: []word{literal(strings.Trim(w, `"`))}})
			}
			continue
		}
		if c == '@' && r.at+1 < len(r.text) && strings.IndexByte("({'\"", r.text[r.at+1]) < 0 {
			r.partly = true // the values of a table as arguments
		}
		list = append(list, argument{words: r.list()})
		if r.at == from {
			r.at, r.partly = r.at+1, true
		}
	}
}

// ends reports whether an argument ends at a place.
func (r *reader) ends(at int) bool {
	return at >= len(r.text) || strings.IndexByte(" \t\n;|)}&`", r.text[at]) >= 0
}

// list reads values with commas between.
func (r *reader) list() []word {
	out := []word{r.argument()}
	if strings.HasPrefix(out[0].code, "\x00") {
		out = nil
	}
	for r.skip(false); r.here() == ','; r.skip(false) {
		r.at++
		r.skip(true)
		out = append(out, r.argument())
	}
	return out
}

// argument reads one argument: values that stand right beside each other.
func (r *reader) argument() word {
	var parts []word
	for !r.done() {
		c := r.here()
		switch {
		case strings.IndexByte(" \t\n;|)},&", c) >= 0:
			return joined(parts)
		case c == '(' && len(parts) > 0:
			return joined(parts)
		case c == '{' && len(parts) == 0:
			r.at++
			return word{code: "''", block: r.statements('}'), isBlock: true}
		case c == '$' || c == '\'' || c == '"' || c == '(' || r.has("@(") || r.has("@{") || r.has("@'\n") || r.has("@\"\n"):
			values := r.members(r.primary())
			if len(parts) == 0 && r.ends(r.at) && len(values) > 1 {
				return word{code: codes(values), lit: text(values), known: joined(values).known}
			}
			parts = append(parts, values...)
		case c == '[' && len(parts) == 0 && strings.Contains(r.text[r.at:], "]::"):
			parts = append(parts, r.members(r.primary())...)
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
	for !r.done() {
		c := r.here()
		if strings.IndexByte(" \t\n;|(){},&'\"$", c) >= 0 {
			break
		}
		if c == '`' && r.at+1 < len(r.text) {
			if r.text[r.at+1] == '\n' {
				break
			}
			r.at++
			plain = plain && strings.IndexByte("*?[]~", r.here()) < 0
		}
		b.WriteByte(r.here())
		r.at++
	}
	if !plain {
		return literal(b.String())
	}
	return globbed(b.String())
}

// redirects reads where output goes.
func (r *reader) redirects() string {
	out := ""
	for r.skip(false); ; r.skip(false) {
		m := redirectOf().FindStringSubmatch(r.text[r.at:])
		if m == nil {
			return out
		}
		r.at += len(m[0])
		if strings.HasSuffix(m[0], "&1") || strings.HasSuffix(m[0], "&2") {
			continue
		}
		r.skip(false)
		target := "/dev/null"
		if !strings.HasPrefix(strings.ToLower(r.text[r.at:]), "$null") {
			target = r.argument().code
		} else {
			r.at += len("$null")
		}
		out += " " + strings.Replace(m[1], "*", "&", 1) + m[2] + " " + target
	}
}

// command is a command with the arguments that follow. piped is nil where
// nothing comes to it.
func (r *reader) command(name word, piped *[]word) string {
	args, suffix := r.arguments()
	if name.isBlock {
		return group(name.block) + suffix
	}
	if !name.known {
		return name.code + " " + codes(flat(args)) + suffix
	}
	return r.named(name.lit, args, piped) + suffix
}

// named is a command that is known by its name.
func (r *reader) named(name string, args []argument, piped *[]word) string {
	lower := strings.TrimSuffix(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".exe")
	if to, ok := r.names[lower]; ok && to == lower {
		return lower + " " + codes(r.placed(lower, args))
	} else if ok {
		lower = to
	}
	if i := strings.LastIndexByte(lower, '\\'); i >= 0 {
		lower = lower[i+1:] // Microsoft.PowerShell.Management\Remove-Item
	}
	windows := strings.HasSuffix(strings.ToLower(name), ".exe")
	if c, ok := cmdlets()[lower]; ok && !windows && !c.other(args) {
		return r.cmdlet(c, args, piped)
	}
	if code, ok := r.control(lower, args, piped); ok {
		return code
	}
	words := flat(args)
	if code, ok := native(lower, words); ok {
		return code
	}
	if verb, noun, ok := strings.Cut(lower, "-"); ok && r.destroys(verb, noun) {
		r.partly = true
	} else if ok && harmlessVerbs[verb] {
		if piped != nil {
			return "cat"
		}
		return substituted("expr " + codes(words)).asCommand()
	}
	return quote(name) + " " + codes(words)
}

// asCommand prints a value.
func (w word) asCommand() string { return "printf '%s\\n' " + w.code }

// destroys reports whether a cmdlet that nobody listed takes something away.
func (r *reader) destroys(verb, noun string) bool {
	switch verb {
	case "remove", "clear", "reset", "uninstall", "disable", "stop", "unregister", "revoke", "format", "initialize", "dismount", "suspend", "revert", "undo", "lock", "unprotect", "restore":
		return !slices.Contains([]string{"host", "history", "variable", "module", "job", "pssession", "psbreakpoint", "alias", "typedata", "event", "formatdata",
			"transcript", "package", "pssnapin", "table", "list", "wide", "custom", "hex", "dnsclientcache", "psdrive", "breakpoint"}, noun)
	}
	return strings.Contains(noun, "wmi") || strings.Contains(noun, "cim") && verb == "invoke" || verb+noun == "addtype"
}

var harmlessVerbs = map[string]bool{"get": true, "test": true, "measure": true, "select": true, "sort": true, "group": true, "format": true, "out": true, "convertto": true,
	"convertfrom": true, "write": true, "show": true, "find": true, "compare": true, "resolve": true, "split": true, "wait": true, "tee": true, "import": true, "search": true}

// flat is arguments as words.
func flat(args []argument) []word {
	var out []word
	for _, a := range args {
		switch {
		case a.name != "" && len(a.words) > 0:
			out = append(out, joined(append([]word{globbed(a.name + ":")}, a.words...)))
		case a.name != "":
			out = append(out, globbed(a.name))
		}
		if a.name == "" {
			out = append(out, a.words...)
		}
	}
	return out
}

// placed puts the named arguments of a function of the text in their places.
func (r *reader) placed(name string, args []argument) []word {
	params := r.params[name]
	named := map[int]word{}
	var rest, out []word
	for i := 0; i < len(args); i++ {
		at := slices.IndexFunc(params, func(p string) bool {
			return args[i].name != "" && strings.HasPrefix(p, strings.ToLower(args[i].name[1:]))
		})
		switch {
		case at >= 0 && len(args[i].words) > 0:
			named[at] = joined(args[i].words)
		case at >= 0 && i+1 < len(args) && args[i+1].name == "":
			i++
			named[at] = joined(args[i].words)
		case args[i].name == "":
			rest = append(rest, args[i].words...)
		}
	}
	for i := 0; len(rest) > 0 || len(named) > 0; i++ {
		w, ok := named[i]
		switch {
		case ok:
			delete(named, i)
		case len(rest) > 0:
			w, rest = rest[0], rest[1:]
		default:
			w = literal("")
		}
		out = append(out, w)
	}
	return out
}

// control are the commands that run others.
func (r *reader) control(name string, args []argument, piped *[]word) (string, bool) {
	blocks := slices.DeleteFunc(flat(args), func(w word) bool { return !w.isBlock })
	switch name {
	case "foreach-object", "%", "foreach":
		var body strings.Builder
		for _, b := range blocks {
			body.WriteString(b.block)
		}
		if piped != nil && *piped != nil {
			return "for PSItem in " + codes(*piped) + "; do " + group(body.String()) + "; done", true
		}
		return "while read -r PSItem; do " + group(body.String()) + "; done", true
	case "where-object", "?", "where":
		var body strings.Builder
		for _, b := range blocks {
			body.WriteString(b.block)
		}
		if strings.TrimSpace(body.String()) == "" {
			return "grep x", true
		}
		return "{ PSItem=x; : $(" + body.String() + "); grep x; }", true
	case "set-alias", "sal", "new-alias", "nal":
		values := bind("+name +value scope option description -force -passthru", args)
		if to := text(values["value"]); to != "" {
			r.names[strings.ToLower(text(values["name"]))] = strings.ToLower(to)
			return ":", true
		}
		r.partly = true
		return ":", true
	case "invoke-command", "icm", "start-job", "sajb", "start-threadjob", "measure-command", "trace-command", "register-objectevent", "register-engineevent":
		values := bind("+scriptblock computername=cn cn hostname session argumentlist filepath credential name -asjob action=scriptblock expression=scriptblock", args)
		code := ":"
		for _, b := range blocks {
			code = group(b.block)
		}
		if to := values["computername"]; len(to)+len(values["hostname"])+len(values["session"]) > 0 {
			host := append(append([]word{literal("remote")}, to...), values["hostname"]...)
			return "ssh " + quote(host[len(host)-1].lit) + " " + quote(code), true
		}
		return code, true
	}
	return "", false
}

// started is a program with its arguments as a list or as one text.
func started(program, args []word) string {
	if len(args) == 1 && args[0].known {
		var parts []word
		for f := range strings.FieldsSeq(args[0].lit) {
			parts = append(parts, globbed(strings.Trim(f, `"'`)))
		}
		args = parts
	}
	if len(program) == 1 && program[0].known {
		if strings.Contains(program[0].lit, "://") {
			return ":"
		}
		inner := reader{names: map[string]string{}}
		list := make([]argument, len(args))
		for i, w := range args {
			list[i].words = []word{w}
		}
		return inner.named(program[0].lit+".exe", list, nil)
	}
	return codes(program) + " " + codes(args)
}
