package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shWrapper describes a program that starts the command in its arguments.
type shWrapper struct {
	// short and long are its options that take a value.
	short, long string
	// skip is how many operands stand before the command.
	skip int
	// sub are operands that must come first: uv run.
	sub string
	// code is an option whose value is shell code; joined is true when the
	// operands are code too.
	code   string
	joined bool
	// assigns is true when NAME=value may stand before the command.
	assigns bool
	// quiet are options with which nothing is started.
	quiet string
	// dir is an option that names the directory.
	dir string
	// privilege is true when the command gets rights of another user.
	privilege bool
}

var shWrapperTable map[string]shWrapper

func wrapperOf(name string) (w shWrapper, ok bool) {
	shFilled()
	w, ok = shWrapperTable[name]
	return w, ok
}

func fillWrap() {
	shWrapperTable = map[string]shWrapper{
		"sudo":    {short: "ughpCrtTUDRc", long: "--user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot", assigns: true, quiet: "-l -v -K -V --list --validate --version --help --remove-timestamp", dir: "-D --chdir", privilege: true},
		"doas":    {short: "uC", assigns: true, quiet: "-L", privilege: true},
		"pkexec":  {long: "--user", privilege: true},
		"gosu":    {skip: 1, privilege: true},
		"su-exec": {skip: 1, privilege: true},
		"nohup":   {}, "setsid": {}, "chronic": {}, "unbuffer": {}, "catchsegv": {}, "ltrace": {short: "eonpsaluS"}, "eatmydata": {},
		"builtin": {}, "command": {quiet: "-v -V"}, "exec": {short: "a"}, "noglob": {}, "nocorrect": {}, "-": {},
		"nice": {short: "n", long: "--adjustment"}, "ionice": {short: "cnpPu", long: "--class --classdata"},
		"timeout": {short: "ks", long: "--kill-after --signal", skip: 1}, "gtimeout": {short: "ks", skip: 1},
		"time": {short: "fo", long: "--format --output"}, "gtime": {short: "fo"}, "stdbuf": {short: "ioe", long: "--input --output --error"}, "gstdbuf": {short: "ioe"},
		"strace": {short: "eopsabIOSuEPX", long: "--trace --output"}, "dtruss": {short: "p"}, "perf": {sub: "stat record trace", short: "eoFpg"}, "valgrind": {},
		"flock": {short: "wEc", long: "--timeout --wait --conflict-exit-code --command", skip: 1, code: "-c --command"},
		"chrt":  {short: "TPD", skip: 1}, "taskset": {skip: 1}, "numactl": {short: "CNmip"}, "cgexec": {short: "g"}, "prlimit": {},
		"chroot": {long: "--userspec --groups", skip: 1}, "busybox": {}, "toybox": {}, "unshare": {short: "SG", long: "--setuid --setgid --root --wd"},
		"nsenter": {short: "tSG", long: "--target --setuid --setgid"}, "firejail": {}, "setarch": {skip: 1}, "arch": {}, "linux64": {},
		"systemd-run":     {short: "pEu", long: "--property --unit --setenv --uid --gid --slice --description --on-calendar --on-active", dir: "--working-directory"},
		"systemd-inhibit": {long: "--what --who --why --mode"}, "caffeinate": {short: "tw"}, "xvfb-run": {short: "sneflp"}, "dbus-run-session": {},
		"torsocks": {}, "torify": {}, "proxychains": {short: "f"}, "proxychains4": {short: "f"}, "rlwrap": {}, "setpriv": {}, "faketime": {skip: 1},
		"script":  {short: "cIOBETmo", long: "--command", code: "-c --command", quiet: "--help --version"},
		"watch":   {short: "nq", long: "--interval --equexit", joined: true, quiet: "-v -h --version --help"},
		"su":      {short: "csgGw", long: "--command --session-command --shell --group --supp-group", code: "-c --command --session-command", skip: -1, privilege: true},
		"runuser": {short: "csgGuw", long: "--command --session-command --shell --group --user", code: "-c --command", skip: -1, privilege: true},
		"sg":      {short: "c", code: "-c", skip: 1, joined: true}, "newgrp": {skip: 1}, "capsh": {},
		"hyperfine":    {short: "wmMrpcSLPDi", long: "--warmup --min-runs --max-runs --runs --prepare --cleanup --setup --parameter-list --parameter-scan --export-json --export-markdown --command-name --shell", joined: true},
		"concurrently": {short: "ncksp", long: "--names --prefix-colors --kill-others --success", joined: true},
		"retry":        {short: "tdm", long: "--times --delay --tries"}, "wait-for-it": {}, "dumb-init": {}, "tini": {short: "pe"}, "entr": {},
		"npx": {short: "pc", long: "--package --call", code: "-c --call"}, "bunx": {short: "p", long: "--package"}, "pnpx": {},
		"poetry": {sub: "run"}, "pipenv": {sub: "run"}, "uv": {sub: "run", long: "--with --python --project --directory --env-file --extra --group"}, "uvx": {long: "--from --with --python"}, "rye": {sub: "run"},
		"hatch": {sub: "run"}, "pdm": {sub: "run"}, "pixi": {sub: "run"}, "conda": {sub: "run", short: "np", long: "--name --prefix --cwd"}, "mamba": {sub: "run", short: "np"},
		"bundle": {sub: "exec"}, "rbenv": {sub: "exec"}, "pyenv": {sub: "exec"}, "nodenv": {sub: "exec"}, "asdf": {sub: "exec"}, "mise": {sub: "exec x"},
		"direnv": {sub: "exec", skip: 1}, "dotenv": {short: "fe", long: "--file"}, "dotenvx": {sub: "run"}, "doppler": {sub: "run"}, "infisical": {sub: "run"},
		"op": {sub: "run"}, "aws-vault": {sub: "exec", skip: 1}, "chamber": {sub: "exec", skip: 1}, "envdir": {skip: 1}, "cross-env": {assigns: true},
		"cross-env-shell": {assigns: true, joined: true}, "rustup": {sub: "run", skip: 1}, "fnm": {sub: "exec", long: "--using"}, "volta": {sub: "run"}, "nvm": {sub: "exec run", skip: 1},
		"wsl": {short: "du", long: "--distribution --user --cd"}, "tsp": {}, "gdb": {},
	}
}

// wrapper reads a program of the table.
func (a *analysis) wrapper(c *shCall, w shWrapper) (v shValue, read bool) {
	args := c.args()
	if c.name == "sg" && HasFlag(args, "-p", "--pattern", "-r", "--rewrite", "-l", "--lang", "scan") {
		return printsText(a, c), true // ast-grep
	}
	var sub shOpts
	if w.sub != "" {
		sub = options(args, w.short, w.long, optStop)
		if len(sub.operands) == 0 || !WordIn(sub.operands[0].Text, w.sub) {
			return printsText(a, c), false
		}
		args = sub.operands[1:]
	}
	o := options(args, w.short, w.long, optStop)
	for _, opt := range o.list {
		if c.name == "command" && opt.name == "-v" {
			return whereIs(o.operands), true
		}
		if WordIn(opt.name, w.quiet) {
			return printsText(a, c), true
		}
	}
	fr := c.fr
	if w.privilege {
		fr = a.privileged(c, &o)
	}
	if dir, ok := o.value(strings.Fields(w.dir)...); ok && w.dir != "" {
		fr = fr.subshell()
		a.moveTo(dir, fr)
	}
	return a.startWrapped(c, w, &o, fr), true
}

// privileged notes that a command gets the rights of another user.
func (a *analysis) privileged(c *shCall, o *shOpts) *shFrame {
	user := "root"
	if u, ok := o.value("-u", "--user"); ok {
		user = u.Text
	} else if c.name == "su" && len(o.operands) > 0 && !o.operands[0].Is("-") {
		user = o.operands[0].Text
	}
	a.effect(c, Effect{Kind: EffectPrivilege, Domain: DomainPermission, Op: c.name, Target: user})
	return c.fr
}

func (a *analysis) startWrapped(c *shCall, w shWrapper, o *shOpts, fr *shFrame) shValue {
	if w.code != "" {
		if code, ok := suCode(o, w.code); ok {
			in := a.childShell(&shCall{fr: fr, env: c.env})
			return a.interpret(c, code.value(), in, c.name)
		}
	}
	argv := o.operands
	switch {
	case w.skip < 0: // su, runuser: a user, and then arguments of its shell
		if c.name == "runuser" && o.exact("-u", "--user") {
			break
		}
		if fr.stdin.set {
			return a.interpretStdin(c, a.childShell(&shCall{fr: fr, env: c.env}))
		}
		return nil
	case w.skip > 0:
		argv = argv[min(w.skip, len(argv)):]
	}
	if w.assigns {
		argv, c.env = leadingAssigns(argv, c.env)
	}
	if len(argv) > 0 && argv[0].Is("--", "-") {
		argv = argv[1:]
	}
	if w.joined {
		return a.joinedCode(c, argv, fr)
	}
	if len(argv) == 0 && w.privilege && (fr.stdin.set || o.exact("-s", "-i", "--shell", "--login")) {
		return a.interpretStdin(c, a.childShell(&shCall{fr: fr, env: c.env}))
	}
	if c.name == "flock" && len(argv) > 1 && argv[0].Is("-c") {
		return a.interpret(c, argv[1].value(), a.childShell(&shCall{fr: fr, env: c.env}), c.name)
	}
	if c.name == "command" || c.name == "builtin" || c.name == "exec" {
		return a.shellWrapped(c, argv, fr)
	}
	return a.wrapped(c, argv, fr)
}

// suCode is the value of the option that holds code. su takes it after the
// user as well.
func suCode(o *shOpts, names string) (Word, bool) {
	if v, ok := o.value(strings.Fields(names)...); ok {
		return v, true
	}
	if !strings.Contains(names, "-c") {
		return Word{}, false
	}
	for i, w := range o.operands {
		if i > 0 && (w.Is("-c", "--command")) && i+1 < len(o.operands) {
			return o.operands[i+1], true
		}
		if name, v, ok := w.cut("="); ok && name == "--command" {
			return v, true
		}
	}
	return Word{}, false
}

// shellWrapped is what command, builtin and exec run: a program or a builtin
// of this shell, but no function and no alias.
func (a *analysis) shellWrapped(c *shCall, argv []Word, fr *shFrame) shValue {
	if len(argv) == 0 {
		return nil
	}
	in := fr.within(c.name)
	if b := builtinOf(argv[0].Text); b != nil && !argv[0].Dynamic && c.name != "exec" {
		inner := &shCall{argv: argv, env: c.env, fr: in, offset: c.offset, name: argv[0].Text}
		a.list(inner)
		return b(a, inner)
	}
	return a.wrapped(c, argv, fr)
}

// joinedCode reads words as code: all of them as one, or each on its own when
// they are quoted command lines.
func (a *analysis) joinedCode(c *shCall, argv []Word, fr *shFrame) shValue {
	if len(argv) == 0 {
		return nil
	}
	in := a.childShell(&shCall{fr: fr, env: c.env})
	if c.name != "hyperfine" && c.name != "concurrently" {
		return a.interpret(c, joinWords(argv), in, c.name)
	}
	for _, w := range argv {
		a.interpret(c, w.value(), in.subshell(), c.name)
	}
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// leadingAssigns takes NAME=value words off the start of a command.
func leadingAssigns(argv []Word, env []Assign) ([]Word, []Assign) {
	for len(argv) > 0 {
		name, value, ok := argv[0].cut("=")
		if !ok || !syntax.ValidName(name) {
			break
		}
		env = append(env[:len(env):len(env)], Assign{name, value})
		argv = argv[1:]
	}
	return argv, env
}

// env is the program env: options, assignments, and a command.
func (a *analysis) env(c *shCall) shValue {
	o := options(c.args(), "uCS", "--unset --chdir --split-string", optStop)
	fr := c.fr
	if dir, ok := o.value("-C", "--chdir"); ok {
		fr = fr.subshell()
		a.moveTo(dir, fr)
	}
	if code, ok := o.value("-S", "--split-string"); ok {
		v := append(code.value()[:len(code.value()):len(code.value())], shPart{text: " "})
		return a.interpret(c, append(v, quoteWords(o.operands)...), a.childShell(c), c.name)
	}
	argv, env := leadingAssigns(o.operands, c.env)
	c.env = env
	if len(argv) == 0 {
		return shUnknown("$(env)", shOrigin{"environment", "env"})
	}
	return a.wrapped(c, argv, fr)
}
