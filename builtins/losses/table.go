package losses

import (
	_ "embed"
	"strings"

	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
)

// table is tools.txt, packed. It says what tools take away for good, as their manuals have it: a
// line has the names of a tool, its options that take a value or the name of a set
// of them (after ^ where its entries hold for the first words alone), the domain, and what it does, between semicolons. An entry is what that is called after @, the
// words of a command, options of which one must be there, and after ! those
// with which nothing happens. Words are as those of shRule are. The first
// letter of an entry may say that it is no deletion: + writes, % runs, ^ gives
// rights, $ prints a credential, ? does nothing. What no entry names is for the
// lexicon, but for tools with - before their domain.
//
//go:embed tools.txt.gz
var table string

// options are sets of options that take a value.
var options = map[string]string{
	"":      "--metadata --metadata-from-file --mode --retention-days --profile --region --output --query --endpoint-url --project --zone --format --account --configuration --subscription --resource-group --name --cli-input-json --filter --impersonate-service-account --bucket --key --vault-name --secret-id --namespace --context --cluster",
	"orm":   "--schema --config --database --db-url --url --env --environment --dir --path -n --name --connection --revision --version-table --dialect --migrations-path",
	"sys":   "-tpPe",
	"agent": "-cas --model --settings --setting-sources --permission-mode --approval-mode --sandbox --ask-for-approval --config",
	"mnt":   "-ot --options --types",
	"vcs":   "-m --message --username --password --file --revision",
	"pkg":   "-v --version --vers --source --registry --index --key",
	"stack": "-scCt --stack --cwd --target --config --context --app --profile --region --stage --stack-name",
	"gh":    "-XRHfFqb --method --repo --field --raw-field --header --jq --template --input --hostname --registry --tag --otp --prefix --workspace --body --title",
	"sql":   "-hpUWuPS --host --port --username --user --password --maintenance-db --socket",
	"tf":    "-var -var-file -target -chdir -state -lock-timeout -parallelism -path -database -source",
}

// Tool is what a line of the table says.
type Tool struct {
	Names []string
	// Short and Long are the options that take a value; Dash is true where words
	// follow a single dash.
	Short, Long string
	Dash        bool
	// First is true for a tool whose rules hold for its first words alone.
	First  bool
	Domain string
	// Quiet is true for a tool that the lexicon is not asked of.
	Quiet   bool
	Entries []Entry
}

// Entry is one thing a tool does. Mark is the letter before it, 0 for a deletion.
type Entry struct {
	Mark             byte
	Op, Domain       string
	Words, Need, Not []string
}

// system are packages without which a machine does not run, is not reached, or that
// hold data.
const system = "hookc|libc6*|glibc*|libc-utils|musl|apt|apk-tools|dpkg|rpm|dnf|yum|zypper|pacman|portage|bash|busybox|coreutils|util-linux|systemd*|udev|dbus|perl-base|iproute2|netplan*|libstdc++*|lvm2|cryptsetup*|initramfs-tools*|linux-firmware|e2fsprogs|kmod|procps|apparmor|auditd|libpam*|snapd|core[0-9]*|cloud-init|walinuxagent|base-devel|python3-apt|python3.[0-9]*|gcc-*-base|openrc|init|sudo|login|passwd|base|base-files|openssl|dash|alpine-base|filesystem|linux|linux-generic|linux-image*|kernel*|openssh*|" +
	"python3|python3-minimal|network-manager|NetworkManager|grub*|postgresql*|mysql|mysql-server*|mysql-community-server*|mariadb|mariadb-server*|mongodb*|redis|redis-server|clickhouse-server*|elasticsearch*|cockroachdb|cassandra|" +
	"influxdb*|rabbitmq-server|*-desktop|*-desktop-environment|gnome|gnome-shell|plasma*|@system|@world|xorg|xorg-server*|xserver-xorg*|alpine-keys|base-system|os-core"

// System reports whether the machine needs a package, which may be written with where it
// comes from and a pattern: sys-libs/glibc, mysql*.
func System(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = spell.Cut(strings.ReplaceAll(strings.Trim(name, "^$"), ".*", "*"), ":")
	some, many := spell.CutSuffix(name, "*")
	for _, alt := range strings.Split(system, "|") {
		if GlobMatch(alt, name) || many && strings.HasPrefix(alt, some) {
			return true
		}
	}
	return false
}

// Tools reads the table.
func Tools() []Tool {
	var out []Tool
	for _, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(packed.Text(table), "%sys", system)), "\n") {
		f := strings.SplitN(line, "|", 4)
		t := Tool{Names: strings.Fields(f[0])}
		t.Domain, t.Quiet = spell.CutPrefix(f[2], "-")
		spec, named := options[f[1]]
		if !named {
			spec, t.First = spell.CutPrefix(f[1], "^")
		}
		for _, o := range strings.Fields(spec) {
			switch {
			case strings.HasPrefix(o, "--"):
				t.Long += " " + o
			case f[1] == "tf":
				t.Long, t.Dash = t.Long+" "+o, true
			default:
				t.Short += o[1:]
			}
		}
		for _, text := range strings.Split(f[3], ";") {
			if text != "" {
				t.Entries = append(t.Entries, entry(text, t.Domain))
			}
		}
		out = append(out, t)
	}
	return out
}

func entry(text, domain string) Entry {
	e := Entry{Domain: domain}
	if strings.IndexByte("+%^$?", text[0]) >= 0 {
		e.Mark, text = text[0], text[1:]
	}
	for _, w := range strings.Fields(text) {
		switch {
		case w[0] == '@':
			op, other, _ := spell.Cut(w[1:], "/")
			if e.Op = op; other != "" {
				e.Domain = other
			}
		case w[0] == '!':
			e.Not = append(e.Not, w[1:])
		case w[0] == '-' && w != "-*":
			e.Need = append(e.Need, w)
		default:
			e.Words = append(e.Words, w)
		}
	}
	if e.Op == "" {
		first, _, _ := spell.Cut(strings.Join(append(e.Words, e.Need...), "-"), "|")
		if e.Op = strings.Trim(first, "-*<>"); e.Op == "" {
			e.Op = "delete"
		}
	}
	return e
}
