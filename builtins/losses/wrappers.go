package losses

// Wrapper describes a program that starts the command in its arguments.
type Wrapper struct {
	// Short and Long are its options that take a value.
	Short, Long string
	// Skip is how many operands stand before the command.
	Skip int
	// Sub are operands that must come first: uv run.
	Sub string
	// Code is an option whose value is shell code; joined is true when the
	// operands are code too.
	Code   string
	Joined bool
	// Assigns is true when NAME=value may stand before the command.
	Assigns bool
	// Quiet are options with which nothing is started.
	Quiet string
	// Dir is an option that names the directory.
	Dir string
	// Privilege is true when the command gets rights of another user.
	Privilege bool
}

// Wrappers are the programs that start others, by name.
func Wrappers() map[string]Wrapper {
	return map[string]Wrapper{
		"sudo":    {Short: "ughpCrtTUDRc", Long: "--user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot", Assigns: true, Quiet: "-l -v -K -V --list --validate --version --help --remove-timestamp", Dir: "-D --chdir", Privilege: true},
		"doas":    {Short: "uC", Assigns: true, Quiet: "-L", Privilege: true},
		"pkexec":  {Long: "--user", Privilege: true},
		"gosu":    {Skip: 1, Privilege: true},
		"su-exec": {Skip: 1, Privilege: true},
		"nohup":   {}, "setsid": {}, "chronic": {}, "unbuffer": {}, "catchsegv": {}, "ltrace": {Short: "eonpsaluS"}, "eatmydata": {},
		"builtin": {}, "command": {Quiet: "-v -V"}, "exec": {Short: "a"}, "noglob": {}, "nocorrect": {}, "-": {},
		"nice": {Short: "n", Long: "--adjustment"}, "ionice": {Short: "cnpPu", Long: "--class --classdata"},
		"timeout": {Short: "ks", Long: "--kill-after --signal", Skip: 1}, "gtimeout": {Short: "ks", Skip: 1},
		"time": {Short: "fo", Long: "--format --output"}, "gtime": {Short: "fo"}, "stdbuf": {Short: "ioe", Long: "--input --output --error"}, "gstdbuf": {Short: "ioe"},
		"strace": {Short: "eopsabIOSuEPX", Long: "--trace --output"}, "dtruss": {Short: "p"}, "perf": {Sub: "stat record trace", Short: "eoFpg"}, "valgrind": {},
		"flock": {Short: "wEc", Long: "--timeout --wait --conflict-exit-code --command", Skip: 1, Code: "-c --command"},
		"chrt":  {Short: "TPD", Skip: 1}, "taskset": {Skip: 1}, "numactl": {Short: "CNmip"}, "cgexec": {Short: "g"}, "prlimit": {},
		"chroot": {Long: "--userspec --groups", Skip: 1}, "busybox": {}, "toybox": {}, "unshare": {Short: "SG", Long: "--setuid --setgid --root --wd"},
		"nsenter": {Short: "tSG", Long: "--target --setuid --setgid"}, "firejail": {}, "setarch": {Skip: 1}, "arch": {}, "linux64": {},
		"systemd-run":     {Short: "pEu", Long: "--property --unit --setenv --uid --gid --slice --description --on-calendar --on-active", Dir: "--working-directory"},
		"systemd-inhibit": {Long: "--what --who --why --mode"}, "caffeinate": {Short: "tw"}, "xvfb-run": {Short: "sneflp"}, "dbus-run-session": {},
		"torsocks": {}, "torify": {}, "proxychains": {Short: "f"}, "proxychains4": {Short: "f"}, "rlwrap": {}, "setpriv": {}, "faketime": {Skip: 1},
		"script":  {Short: "cIOBETmo", Long: "--command", Code: "-c --command", Quiet: "--help --version"},
		"watch":   {Short: "nq", Long: "--interval --equexit", Joined: true, Quiet: "-v -h --version --help"},
		"su":      {Short: "csgGw", Long: "--command --session-command --shell --group --supp-group", Code: "-c --command --session-command", Skip: -1, Privilege: true},
		"runuser": {Short: "csgGuw", Long: "--command --session-command --shell --group --user", Code: "-c --command", Skip: -1, Privilege: true},
		"sg":      {Short: "c", Code: "-c", Skip: 1, Joined: true}, "newgrp": {Skip: 1}, "capsh": {},
		"hyperfine":    {Short: "wmMrpcSLPDi", Long: "--warmup --min-runs --max-runs --runs --prepare --cleanup --setup --parameter-list --parameter-scan --export-json --export-markdown --command-name --shell", Joined: true},
		"concurrently": {Short: "ncksp", Long: "--names --prefix-colors --kill-others --success", Joined: true},
		"retry":        {Short: "tdm", Long: "--times --delay --tries"}, "wait-for-it": {}, "dumb-init": {}, "tini": {Short: "pe"}, "entr": {Short: "s", Code: "-s"},
		"npx": {Short: "pc", Long: "--package --call", Code: "-c --call"}, "bunx": {Short: "p", Long: "--package"}, "pnpx": {},
		"poetry": {Sub: "run"}, "pipenv": {Sub: "run"}, "uv": {Sub: "run", Long: "--with --python --project --directory --env-file --extra --group"}, "uvx": {Long: "--from --with --python"}, "rye": {Sub: "run"},
		"hatch": {Sub: "run"}, "pdm": {Sub: "run"}, "pixi": {Sub: "run"}, "conda": {Sub: "run", Short: "np", Long: "--name --prefix --cwd"}, "mamba": {Sub: "run", Short: "np"},
		"bundle": {Sub: "exec"}, "rbenv": {Sub: "exec"}, "pyenv": {Sub: "exec"}, "nodenv": {Sub: "exec"}, "asdf": {Sub: "exec"}, "mise": {Sub: "exec x"},
		"direnv": {Sub: "exec", Skip: 1}, "dotenv": {Short: "fe", Long: "--file"}, "dotenvx": {Sub: "run"}, "doppler": {Sub: "run"}, "infisical": {Sub: "run"},
		"op": {Sub: "run"}, "aws-vault": {Sub: "exec", Skip: 1}, "chamber": {Sub: "exec", Skip: 1}, "envdir": {Skip: 1}, "cross-env": {Assigns: true},
		"cross-env-shell": {Assigns: true, Joined: true}, "rustup": {Sub: "run", Skip: 1}, "fnm": {Sub: "exec", Long: "--using"}, "volta": {Sub: "run"}, "nvm": {Sub: "exec run", Skip: 1},
		"sail": {}, "lvm": {}, "fakeroot": {}, "proot": {Short: "rbwq"}, "schroot": {Short: "cupd", Long: "--chroot --user --directory"}, "watchexec": {Short: "weifdso", Long: "--watch --exts --ignore --filter --debounce --signal"},
		"nodemon": {Short: "xwei", Long: "--exec --watch --ext --ignore --delay", Code: "-x --exec"}, "nix-shell": {Short: "pIA", Long: "--attr --argstr --run --command", Code: "--run --command"},
		"heroku": {Sub: "run run:detached run:inside", Short: "ars", Long: "--app --remote --size"}, "railway": {Sub: "run"}, "kamal": {Sub: "app", Skip: 1, Joined: true}, "dokku": {Sub: "run enter", Skip: 1}, "lima": {}, "adb": {Sub: "shell", Short: "s"},
		"flatpak-spawn": {}, "toolbox": {Sub: "run", Short: "c"}, "distrobox": {Sub: "enter", Skip: 1}, "systemd-nspawn": {Short: "DMu"}, "runcon": {Short: "turl"}, "start-stop-daemon": {Long: "--exec --pidfile --user"},
		"ifne": {}, "onchange": {}, "gum": {Sub: "spin", Long: "--title --spinner"}, "with-contenv": {}, "s6-setuidgid": {Skip: 1}, "chpst": {Short: "u"}, "setuidgid": {Skip: 1}, "softlimit": {Short: "m"}, "lnav": {Short: "c"}, "reflex": {Short: "rRgG"}, "devbox": {Sub: "run"}, "micromamba": {Sub: "run", Short: "np"}, "guix": {Sub: "shell"}, "pdsh": {Short: "wxlt", Joined: true},
		"pssh": {Short: "hHlt"}, "parallel-ssh": {Short: "hHlt"}, "clush": {Short: "wgxl", Joined: true}, "ddev": {Sub: "exec"}, "lando": {Sub: "ssh", Short: "c", Code: "-c"}, "limactl": {Sub: "shell", Skip: 1},
		"colima": {Sub: "ssh"}, "lxc": {Sub: "exec", Short: "nw", Long: "--env --cwd --user", Skip: 1}, "incus": {Sub: "exec", Short: "nw", Long: "--env --cwd --user", Skip: 1},
		"multipass": {Sub: "exec shell", Short: "nw", Skip: 1}, "vagrant": {Sub: "ssh", Short: "c", Long: "--command", Code: "-c --command", Skip: 1}, "pipx": {Sub: "run"}, "wsl": {Short: "du", Long: "--distribution --user --cd"}, "tsp": {}, "gdb": {}, "sshpass": {Short: "pfdP"}, "psexec": {Skip: 1}, "winrs": {Joined: true}, "knife": {Sub: "ssh", Skip: 1, Short: "xiP", Joined: true}, "bolt": {Sub: "command", Skip: 1, Short: "tu", Long: "--targets --user", Joined: true},
		"man": {Short: "PpHLmMSerRCEsk", Long: "--pager", Code: "-P --pager", Skip: 1 << 10}, "journalctl": {Skip: 1 << 10},
	}
}
