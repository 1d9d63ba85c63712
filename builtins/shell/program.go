package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/builtins/losses"
)

// shProgram reads what a program does from its arguments, and says what it
// prints as far as that can be known.
type shProgram func(a *analysis, c *shCall) shValue

// shFills fill the tables of the analysis, in this order. They are run when a
// table is first read: most processes never look at a command line, and all
// would pay for it when they start. They are listed by init because they refer
// to what reads the tables.
var shFills []func()

func init() {
	shFills = []func(){
		fillBuild, fillBuiltin, fillCloud, fillContainer, fillDatabase, fillFeed,
		fillFiles, fillForeign, fillGit, fillGit2, fillInterp, fillLosses, fillNet, fillOutput, fillSystem, fillWrap,
	}
}

// shFilled fills the tables, once.
var shFilled = sync.OnceFunc(func() {
	for _, fill := range shFills {
		fill()
	}
})

// shProgramTable are the programs that are known, by name; programOf reads it.
var shProgramTable = map[string]shProgram{}

// programOf is the program of a name, nil for one that is not known.
func programOf(name string) shProgram {
	shFilled()
	return shProgramTable[name]
}

// programs adds a program under its names.
func programs(f shProgram, names string) {
	for name := range strings.FieldsSeq(names) {
		if shProgramTable[name] != nil {
			panic("builtins: program " + name + " is known twice")
		}
		shProgramTable[name] = f
	}
}

// dangerous are the programs that are looked for in the arguments of one that
// is not known.
var dangerous = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("rm shred dd mkfs wipefs git sh bash zsh dash ksh sudo doas python python3 node perl ruby php find xargs chmod chown " +
		"truncate tee mv curl wget terraform kubectl docker psql mysql redis-cli shutdown reboot") {
		m[name] = true
	}
	return m
})

// textPrograms are programs whose arguments are text, names and files to look
// at, whatever words are among them.
var textPrograms = losses.Words(`which whereis whatis apropos man info tldr help type echo printf test [ expr seq basename dirname realpath readlink
	ls ll tree du df pwd whoami id groups uname hostname date cal uptime free nproc lscpu lsblk lsof lsusb lspci ps top htop pgrep jobs gcc g++ clang cc c++ ld ar nm rustc javac java
	tsc eslint prettier jest vitest mocha pytest tox nox ruff black mypy flake8 rubocop rspec phpunit cypress playwright webpack vite rollup esbuild storybook hookc jq yq xq tomlq dasel
	fx code vim vi nvim nano emacs subl open xdg-open start say logger wall write mail sleep yes true false tput clear reset stty history fc bc dc factor cksum md5sum sha1sum sha256sum
	sha512sum b2sum shellcheck shfmt hadolint actionlint typos codespell ack ag rg ripgrep grep egrep fgrep zgrep look spell jira linear notify-send pbcopy pbpaste xclip xsel wl-copy
	compgen complete command_not_found_handle set unset alias dcg opa conftest regal sg ast-grep semgrep nix-instantiate exiftool pdftk qpdf ffmpeg convert magick mogrify identify cspell vale
	wc comm csplit column figlet cowsay toilet dialog whiptail zenity gum tmux-send nm-online msgfmt xgettext pandoc asciidoctor sphinx-build mkdocs hugo jekyll dot plantuml mermaid mmdc
	lsattr getfacl getent getconf locale stat file nslookup dig host drill ping traceroute mtr whois tcpdump tshark wireshark`)

// harmless are programs that start nothing that is named in their arguments.
var harmless = losses.Words(`apt apt-get aptitude yum dnf pacman apk zypper brew port snap flatpak choco scoop winget dpkg rpm emerge nix-env pip pip3 pipx gem cargo npm yarn pnpm bun
	composer go make cmake ninja meson gradle mvn ant bazel next nuxt ng vue gh glab hub svn hg fossil bzr doctl fly flyctl vercel netlify wrangler firebase supabase prisma
	drizzle-kit az aws gcloud heroku osascript tmux`)

// programNames lists the programs that a glob in a command's name may mean.
var programNames = sync.OnceValue(func() []string {
	var out []string
	shFilled()
	for name := range shProgramTable {
		out = append(out, name)
	}
	for name := range shRuleTable {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// printsText is a program that prints what cannot be known.
func printsText(a *analysis, c *shCall) shValue {
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// printsPlain is a program that prints a name or a number.
func printsPlain(a *analysis, c *shCall) shValue {
	return shValue{{text: "$(" + c.name + ")", kind: shPlain}}
}
