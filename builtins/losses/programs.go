package losses

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
)

// TextPrograms are programs whose arguments are text, names and files to look
// at, whatever words are among them.
var TextPrograms = Words(`which whereis whatis apropos man last lastb lastlog info tldr help type echo printf test [ expr seq basename dirname realpath readlink
	ls ll tree du df pwd whoami id groups uname hostname date cal uptime free nproc lscpu lsblk lsof lsusb lspci top htop pgrep jobs gcc g++ clang cc c++ ld ar nm rustc javac java
	tsc eslint prettier jest vitest mocha pytest ruff black mypy flake8 rubocop rspec phpunit cypress playwright webpack vite rollup esbuild storybook hookc jq yq xq tomlq dasel
	ctest coverage nyc c8 gcovr lcov kcov bats ava karma tap nextest fx comby code vim vi nvim nano emacs subl open xdg-open start say logger wall write mail sleep yes true false tput clear reset stty history fc bc dc factor cksum md5sum sha1sum sha256sum
	sha512sum b2sum shellcheck shfmt hadolint actionlint typos codespell ack ag rg ripgrep grep egrep fgrep zgrep look spell explainshell cheat howdoi notify-send pbcopy pbpaste xclip xsel wl-copy
	compgen complete command_not_found_handle set unset alias dcg opa conftest regal sg ast-grep semgrep nix-instantiate exiftool pdftk qpdf ffmpeg convert magick mogrify identify cspell vale
	wc comm csplit column figlet cowsay toilet dialog whiptail zenity tmux-send nm-online msgfmt xgettext pandoc asciidoctor sphinx-build mkdocs hugo jekyll dot plantuml mermaid mmdc
	lsattr getfacl getent getconf locale stat file nslookup dig host drill ping traceroute mtr whois tcpdump tshark wireshark`)

// Inert are programs that start nothing that is named in their arguments.
var Inert = Words(`apt apt-get aptitude yum dnf pacman apk zypper brew port snap flatpak choco scoop winget dpkg rpm emerge nix-env pip pip3 pipx gem cargo npm yarn pnpm bun
	composer go make cmake ninja meson gradle mvn ant bazel next nuxt ng vue gh glab hub svn hg fossil bzr doctl fly flyctl vercel netlify wrangler firebase supabase prisma
	drizzle-kit az aws gcloud heroku osascript tmux virsh VBoxManage vboxmanage qm pct xe xl vmrun prlctl govc`)

// valueLetters are the letters of printers and filters that take a value.
var valueLetters = lazy.Value(func() map[string]string {
	m := map[string]string{}
	for _, row := range strings.Split(`s tac,nc head,ncs tail,bhjkoOpPtTxyz# less,n more,bdfhilnsvw nl,lrHm bat batcat,efmABCdD grep egrep fgrep zgrep bzgrep xzgrep,efmABCdDgtTjMEr rg,ABCmGgp ag,ABCm ack,
		koStT sort,fsw uniq,bcfdO cut,d paste,CUILFWDxXS diff colordiff icdiff,IoWw sdiff,in cmp,aeijotv12 join,w fold,cosCEHilNnOpRrTW column,nteTsU strings,AjNSt od,efns hexdump hd,
		efFmP file,cft stat,t look expand unexpand,DhlNowW pr,wpg fmt,abClnt split,bfn csplit,fL jq,opIsf yq,fso source-highlight,lFOPSof pygmentize,sw glow,ino shuf,bFgiMoSwW ptx,fto iconv,w basenc,d numfmt,ABDdEFHiLNPRswX pv`, ",") {
		letters, names, _ := spell.Cut(strings.TrimSpace(row), " ")
		for _, name := range strings.Fields(names) {
			m[name] = letters
		}
	}
	return m
})

// ValueLetters are the letters of a printer or filter that take a value.
//
//go:noinline
func ValueLetters(name string) string { return valueLetters()[name] }

// GNU are programs that stand with a g before their name beside those of the system.
var GNU = Words("head tail tac cut nl od uniq fold fmt expand unexpand pr shuf grep egrep fgrep paste comm join split csplit tsort ptx basenc numfmt sum stat wc unlink rmdir chgrp printenv env base32 seq id ls dir mkfifo mknod timeout nice nohup")

// Sends are words of commands that send, Keeps those of commands that
// keep a secret where it belongs, or use it to get in.
var (
	Sends = Words("api upload send share publish post paste gist push transfer sync cp copy mv put mail message comment create deploy release attach import issue pr snippet report")
	Keeps = Words("secret secrets env vars variable variables login auth credential credentials keyvault vault config set unlock import-keys signin ssh-key add-key")
	// Senders are programs that talk to other machines whatever their words.
	Senders = Words(`mail mailx mutt sendmail s-nail msmtp swaks ftp lftp ncftpput tftp rclone gist pastebinit wgetpaste wormhole croc ffsend transfer dig host nslookup drill kdig
		ping ping6 traceroute slack slack-cli telegram-send ntfy notify discord xh curlie httpie getent mosquitto_pub nats redis-cli kcat kafkacat websocat wscat grpcurl busybox telnet azcopy
		0x0 ix logger termbin sprunge hastebin bashupload filebin oshi surge gh-pages ipfs`)
	// Readers are readers that see for themselves what is sent, and tools of stores of this machine, which send nothing.
	Readers = Words("curl wget wget2 aria2c nc ncat netcat socat telnet scp sftp rsync http https ssh git security keytool certutil step mkcert cfssl minisign helm helmfile sops kubeseal ansible ansible-playbook")
)

// Daemons are processes and services without which the machine, or the way to it, is gone.
var Daemons = Words(`cron crond ssh sshd networking network networkmanager systemd-networkd systemd-resolved firewalld ufw systemd init launchd dbus dbus-daemon dbus-broker systemd-logind systemd-udevd systemd-journald udevd
	xorg gnome-shell windowserver loginwindow kernel_task gdm gdm3 sddm lightdm kubelet dockerd containerd auditd rsyslogd wpa_supplicant dhclient
	windefend winmgmt mpssvc eventlog wuauserv dnscache sense svchost lsass csrss wininit services wscsvc winrm edr xdr falcon-sensor falcond crowdstrike apparmor clamav-daemon osqueryd wazuh-agent sentinelone fail2ban ossec mdatp auditbeat sysmon suricata termservice vss lanmanserver bfe dhcp`)

// TakesCommand are options whose value is a command that a program starts, Escapes the
// programs that are told to start one by words that begin with ! or shell.
var (
	TakesCommand = Words("--post-renderer --pager --preview --editor --extcmd --rsh-command --open-command --browser-command --hook-command --post-hook --pre-hook --deploy-hook --change-cmd --run_under --run-under --runner --exec-cmd --prepare --cleanup --setup --use-askpass --on-download-complete --on-bt-download-complete --on-download-start --on-download-error --on-download-stop")
	Escapes      = Words("less more most kak gdb lldb ranger ipython bpython vifm mc nnn lf tig mutt ftp")
)

// Packagers are package managers. The operands after one of RemoveWords, or those that go
// with one of RemoveFlags, are what is taken off the machine; with RemoveAll it is more than that,
// and with RemovesToo other commands take something away as well.
const (
	Packagers   = "apt apt-get aptitude dpkg dnf yum microdnf tdnf rpm zypper pacman yay paru apk xbps-remove emerge equery brew port pip pip3 gem snap flatpak choco scoop winget nix-env nix-channel rustup pkg pkg_delete opkg eopkg swupd rpm-ostree slackpkg removepkg urpme nala pkcon equo"
	RemoveWords = "remove purge erase autoremove autopurge del rm uninstall unmerge delete uninstall-all bundle-remove groupremove"
	RemoveFlags = "-e --erase -r -P -R --remove --purge -C --unmerge --uninstall"
	RemovesToo  = "--allow-remove-essential --clear-selections --force-remove-essential"
	RemoveAll   = "--all --nodeps --ignore-dependencies --zap --force-all --force-remove-essential --force-depends --allow-remove-essential --remove-dependencies --force-yes --delete-data --clean-deps -af"
)

// CacheQuestions are the arguments with which tools say where they keep what they can make again.
var CacheQuestions = lazy.Value(func() map[string]bool {
	return map[string]bool{"env GOCACHE": true, "env GOMODCACHE": true, "env GOTMPDIR": true, "config get cache": true, "cache dir": true, "cache path": true, "--cache": true, "store path": true}
})

// Says are options that take a text for people.
var Says = Words("-m --message -b --body -t --title -d --description --text --comment --note --notes --subject --reason --name --prompt -p --grep --pattern --query -k")

// Outputs are options whose value is a file or folder that is written.
var Outputs = Words("-o --output --out --outfile --output-file --output-dir --outdir --out-dir --dest --destination --extract-to")

// OutputsOf are more of them, by program.
var OutputsOf = lazy.Value(func() map[string]string {
	return map[string]string{
		"curl": "-D --dump-header -c --cookie-jar --stderr --trace --trace-ascii --etag-save --libcurl", "wget": "-a --append-output -o --output-file --save-cookies",
		"aria2c": "-d", "gh": "-O -D --dir", "openssl": "-out -keyout", "http": "-do", "https": "-do", "script": "-a",
	}
})

// Copies are the words with which tools of containers and clouds copy files, Copiers the tools.
const (
	Copies  = "cp copy copyto sync mv move moveto get-object"
	Copiers = "docker podman nerdctl kubectl oc aws gsutil gcloud rclone s3cmd s5cmd mc azcopy b2"
)

// Builds are build tools, whose tasks start other tools.
var Builds = Words("mvn mvnw gradle gradlew sbt ant lein")

// Runners are tools that build a program of the project and start it.
var Runners = Words("go cargo dotnet swift stack cabal zig dart lein sbt bazel bazelisk deno nx turbo lerna rush moon mise composer invoke inv nox tox")

// Deletes are programs that delete what they find in the folders they are given, with the
// options that tell them to; "" for always.
var Deletes = map[string]string{
	"fdupes": "-d --delete", "jdupes": "-d --delete", "rdfind": "-deleteduplicates", "tmpreaper": "", "tmpwatch": "", "kondo": "-a --all", "tmpclean": "", "rmlint": "--and-delete", "czkawka_cli": "-D --delete-method",
}

// Empties are the options of a program that name a folder which it empties, by
// the option or command with which it does so, "" for always.
func Empties(program string) map[string]string { return empties()[program] }

var empties = lazy.Value(func() map[string]map[string]string {
	return map[string]map[string]string{
		"pytest": {"": "--basetemp"}, "py.test": {"": "--basetemp"}, "hugo": {"--cleanDestinationDir": "-d --destination"}, "vite": {"--emptyOutDir": "--outDir"},
		"jekyll": {"build": "-d --destination"}, "mkdocs": {"build": "-d --site-dir"}, "cargo": {"clean": "--target-dir"},
	}
})

// Dangerous are the programs that are looked for in the arguments of one that
// is not known.
var Dangerous = Words("rm shred dd mkfs wipefs git sh bash zsh dash ksh sudo doas python python3 node perl ruby php find xargs chmod chown " +
	"truncate tee mv curl wget terraform kubectl docker psql mysql redis-cli shutdown reboot")

// DiskReads are options and words with which a tool of disks only looks.
var DiskReads = map[string]string{
	"wipefs": "-n --no-act", "sgdisk": "-p --print -v --verify -i --info -L -b --backup", "gdisk": "-l", "fdisk": "-l --list -s -x", "sfdisk": "-l --list -d --dump -J --json -s -V -n",
	"parted": "-l --list print help unit", "cfdisk": "", "cgdisk": "", "blkdiscard": "", "hdparm": "", "nvme": "", "badblocks": "", "lvremove": "-t --test", "vgremove": "-t --test",
	"pvremove": "-t --test", "lvreduce": "-t --test", "tune2fs": "-l", "resize2fs": "-P",
}

// DiskWrites are the words or options with which a tool of disks destroys
// something; a tool that is not here does whatever its arguments are.
var DiskWrites = map[string]string{
	"hdparm": "--security-erase --security-erase-enhanced --trim-sector-ranges --make-bad-sector --write-sector", "nvme": "format sanitize write write-zeroes delete-ns", "badblocks": "-w",
	"cryptsetup": "luksFormat luksErase erase luksKillSlot luksRemoveKey reencrypt", "zpool": "destroy labelclear remove detach split offline", "zfs": "destroy rollback -F",
	"mdadm": "--create -C --zero-superblock --stop -S --remove --fail", "btrfs": "delete dele del de d remove", "diskutil": "eraseDisk eraseVolume zeroDisk secureErase partitionDisk reformat erasedisk erasevolume randomDisk deleteContainer deleteVolume eraseContainer",
	"fastboot": "erase flash format -w flashall", "flashrom": "-w --write -E --erase", "dmsetup": "remove remove_all wipe_table", "wipefs": "-a --all -o --offset -f --force",
	"parted": "mklabel mktable rm mkpart resizepart mkpartfs set",
}

// Disk reports whether a path is that of a disk or of a part of one.
func Disk(p string) bool {
	name, ok := spell.CutPrefix(p, "/dev/")
	return ok && slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-"}, func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// Stores are the ports that databases answer HTTP on.
var Stores = map[string]bool{"9200": true, "9201": true, "5984": true, "8086": true, "8123": true, "8529": true, "7474": true, "6333": true, "8983": true, "8500": true, "2379": true}

// IsLocal reports whether a host is this machine.
func IsLocal(host string) bool {
	return host == "localhost" || host == "::1" || host == "0.0.0.0" || strings.HasPrefix(host, "127.") || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal"
}

// SystemDirs are the directories that hold the machine's own files.
var SystemDirs = []string{
	"/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
	"/home", "/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/nix", "/snap", "/lost+found", "/dev",
}

// CacheDirs are the directories below the home whose contents are made again.
var CacheDirs = []string{
	".cache", ".cabal/packages", ".npm/_cacache", ".npm/_npx", "Library/Caches", ".gradle/caches", ".cargo/registry", "go/pkg/mod", ".m2/repository", ".nuget/packages", ".yarn/cache",
	".pnpm-store", ".local/share/pnpm/store", ".local/share/Trash", ".Trash", ".bun/install/cache", ".expo", ".android/build-cache", "Library/Developer/Xcode/DerivedData", ".cargo/git", ".ivy2/cache", ".pub-cache", ".yarn/berry/cache", ".gradle/daemon",
	"AppData/Local/npm-cache", "AppData/Local/NuGet/Cache", "AppData/Local/NuGet/v3-cache", "AppData/Local/pip/Cache", "AppData/Local/Yarn/Cache", "AppData/Local/pnpm-cache", "AppData/Local/go-build",
}

// CurlShort are the letters of curl that take a value.
const CurlShort = "AbcCdDeEFHKmoPQrtTuUwxXyYz"

// CurlLong are the long ones.
const CurlLong = "--url --output --output-dir --request --header --data --data-binary --data-raw --data-ascii --data-urlencode --json --form --form-string " +
	"--upload-file --user --user-agent --cookie --cookie-jar --referer --proxy --max-time --connect-timeout --retry --retry-delay --retry-max-time --cacert " +
	"--cert --key --config --write-out --range --resolve --interface --limit-rate --max-redirs --oauth2-bearer --dump-header --netrc-file --unix-socket " +
	"--continue-at --time-cond --ciphers --connect-to --noproxy --proxy-user --quote --speed-limit --speed-time --stderr --trace --trace-ascii --pinnedpubkey --url-query --variable --expand-data --etag-save --libcurl"

// DockerRunShort are the options of docker run that take a value.
const DockerRunShort = "aceghlmpuvw"

// DockerRunLong are the long ones.
const DockerRunLong = "--add-host --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cidfile --cpus --cpu-shares --cpuset-cpus --device --dns --entrypoint --env " +
	"--env-file --expose --gpus --group-add --health-cmd --hostname --ip --ipc --label --link --log-driver --log-opt --mac-address --memory --mount --name --network --net " +
	"--network-alias --pid --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --sysctl --tmpfs --ulimit --user --userns --uts " +
	"--volume --volumes-from --workdir --index --scale --detach-keys --arch --pod --secret --annotation"

// The names of calls of languages by what they do: start code of a shell, or a program in
// words, delete everything below, write, talk to an address, copy, link.
const (
	CallsShell = "os.system os.popen subprocess.getoutput subprocess.getstatusoutput subprocess.run subprocess.call subprocess.Popen subprocess.check_call subprocess.check_output " +
		"commands.getoutput asyncio.create_subprocess_shell pty.spawn child_process.exec child_process.execSync shelljs.exec execa.command execa.execaCommand execa.execaCommandSync execaCommand execaCommandSync zx.$ " +
		"system exec popen shell_exec passthru proc_open pcntl_exec Kernel.system Kernel.exec Kernel.spawn spawn IO.popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 " +
		"os.execute io.popen ` Bun.$ sh cmd.run runtime.exec paramiko.exec_command"
	CallsArgv = "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync child_process.fork execa execaSync execa.execa execa.execaSync os.execv os.execvp os.execve os.execl os.execlp " +
		"os.spawnv os.spawnl os.spawnlp os.spawnvp os.posix_spawn asyncio.create_subprocess_exec Deno.Command Deno.run Bun.spawn Bun.spawnSync Process.spawn System.cmd exec.Command os.exec.Command"
	CallsTree = "shutil.rmtree fs.rm fs.rmSync fs.rmdir fs.rmdirSync fs.promises.rm fs.promises.rmdir fs-extra.remove fs-extra.removeSync fs-extra.emptyDir fs-extra.emptyDirSync rimraf rimraf.sync " +
		"rimraf.rimraf rimraf.rimrafSync del del.sync FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir FileUtils.rmtree FileUtils.remove_entry FileUtils.remove_entry_secure FileUtils.rm_rf! " +
		"File.rm_rf File.rm_rf! rmtree remove_tree File.Path.rmtree File.Path.remove_tree Deno.remove Deno.removeSync shelljs.rm os.RemoveAll distutils.dir_util.remove_tree"
	CallsWrite = "fs.writeFile fs.writeFileSync fs.appendFile fs.appendFileSync fs.promises.writeFile fs.promises.appendFile fs.truncate fs.truncateSync fs.createWriteStream File.write IO.write " +
		"file_put_contents .extractall Deno.writeTextFile Deno.writeTextFileSync Deno.writeFile Bun.write fs-extra.outputFile os.truncate os.mknod"
	CallsSend = "urllib.request.urlopen urllib.request.urlretrieve urllib2.urlopen requests.get requests.post requests.put requests.patch requests.delete requests.request httpx.get httpx.post fetch axios axios.get " +
		"axios.post axios.put http.get http.request https.get https.request Net.HTTP.get Net.HTTP.post Net.HTTP.get_response URI.open open-uri.open socket.create_connection net.connect net.createConnection " +
		"TCPSocket.new TCPSocket.open fsockopen curl_init IO.Socket.INET.new LWP.Simple.get getstore http.client.HTTPSConnection smtplib.SMTP ftplib.FTP dns.lookup dns.resolve dns.resolve4 dns.resolveTxt dns.promises.resolve socket.gethostbyname socket.getaddrinfo gethostbyname dns_get_record checkdnsrr Resolv.getaddress Resolv.getaddresses LWP.Simple.getprint"
	CallsCopy = "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree fs.copyFile fs.copyFileSync fs.promises.copyFile fs.cp fs.cpSync fs.promises.cp fs-extra.copy fs-extra.copySync FileUtils.cp FileUtils.copy " +
		"FileUtils.cp_r FileUtils.copy_file FileUtils.install File.Copy.copy File.Copy.cp Deno.copyFile Deno.copyFileSync copy"
	CallsLink = "os.symlink os.link fs.symlink fs.symlinkSync fs.promises.symlink fs.link fs.linkSync fs.promises.link FileUtils.ln FileUtils.ln_s FileUtils.ln_sf FileUtils.symlink FileUtils.link File.symlink File.link " +
		"Deno.symlink Deno.symlinkSync Deno.link Deno.linkSync symlink link"
)

// CallsSQL are the last names of calls whose text is SQL, CallsPrint those that
// show what they are given.
const (
	CallsSQL   = "execute executescript executemany exec query raw run statement unprepared do sql executeRaw executeRawUnsafe queryRaw queryRawUnsafe prepare text exec_query execute_sql simple"
	CallsPrint = "print console.log puts p pp echo say printf sys.stdout.write process.stdout.write console.info console.error console.dir var_dump print_r dump dd ray IO.puts IO.inspect pprint pprint.pprint"
)

// Launches are variables whose value is a command that other programs start.
var Launches = Words("GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER AWS_PAGER BAT_PAGER DELTA_PAGER GH_PAGER " +
	"EDITOR VISUAL SUDO_EDITOR SYSTEMD_EDITOR PSQL_EDITOR KUBE_EDITOR GH_EDITOR HGEDITOR SVN_EDITOR SVN_SSH BROWSER LESSOPEN LESSCLOSE MANROFFOPT SUDO_ASKPASS RSYNC_RSH CVS_RSH FCEDIT " +
	"FZF_DEFAULT_COMMAND PROMPT_COMMAND NPM_CONFIG_EDITOR npm_config_editor CARGO_BUILD_RUSTC_WRAPPER RUSTC_WRAPPER KUBECTL_EXTERNAL_DIFF")

// Languages are programs that run code of a language that has no reader here, which stands
// after one of TakesCode, or is read from standard input.
var Languages = Words("julia R Rscript groovy scala tclsh wish guile swift erl ghc runghc jshell raku ocaml clojure clj bb racket octave kotlin kotlinc nim sbcl clisp expect rust-script jbang dotnet-script janet gforth fennel dart v zig swipl")

// TakesCode are options whose value is code.
const TakesCode = "-e --eval -eval -c --execute -E --expr --expression --code --run-code -eval-code"

// TakesLine are options whose value may be a command of the program's own.
const TakesLine = "-c -q --command --cmd --exec --run --script --query-command"

// Formats are what a program of disks is called, and told, that writes to one.
var Formats = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`format|mkfs|newfs|wipe|erase|scrub|sanit|flash|burn|resize|fsck|etch|imager|nuke|zero|luks|restore|clone|shrink|destroy|^-y$|^--(?:yes|force)$`)
})

// Messengers are programs that publish what others listen to, or what stays here.
var Messengers = Words("dotnet redis-cli valkey-cli nats mosquitto_pub aws gcloud artisan hugo ros2 mqtt rabbitmqadmin wrangler ko")

// Opens are names of everybody, and of who has all rights; what is not in the group is other
// things as well.
var Opens = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[=:,/])(?:(public-read(?:-write)?|allUsers|AllUsers|allAuthenticatedUsers|cluster-admin|AdministratorAccess|IAMFullAccess|PowerUserAccess)|public|[aA]dministrators?|admins|owner|\[?\{Group=all\}\]?|(?:0\.0\.0\.0|::)/0)(?:$|[]}=:,/])`)
})

// Counts are options of how many there are of what serves.
var Counts = Words("desired-capacity desired-count desired-size num-nodes node-count replicas instance-count worker-count machine-count new-capacity max-instances reserved-concurrent-executions backup-retention-period keep-last retention-days retention-in-days max-keep")

// Shows reports whether a word is how a program or command that shows a file is called.
func Shows(word string) bool {
	word = strings.ToLower(word)
	return In(word, "show print read reader display pager bvi lynx w3m peek reveal render highlight preview") ||
		slices.ContainsFunc([]string{"cat", "hex", "hexyl", "dump", "view", "viewer", "less", "more", "paste"}, func(end string) bool { return strings.HasSuffix(word, end) })
}

// LongDash are programs whose options are words after a single dash.
var LongDash = Words("find java go terraform tofu openssl gcc clang javac ffmpeg convert magick mvn test [ packer vault consul nomad xcodebuild diskutil")

var (
	// plain takes out what texts inside of texts are quoted with.
	plain = strings.NewReplacer(" ", "", `"`, "", `\\`, "", "'", "", "\n", "", "\t", "")
	// bare is a text without its quotes.
	bare = strings.NewReplacer(`"`, "", `\`, "", "'", "")

	takenOff = lazy.Value(func() *Expression {
		return NewExpression(`(?:protect(?:ion)?|prevent_?destroy|recovery|versioning|encrypt(?:ion)?|audit|audit-?policy|logging|log-?file-?validation|backups?|mfa|2fa|firewall|filterfw|retention|termination|block_?public\w*|requires_?name|https[_-]?only|secret-?scanning|integrity|tde|soft-?delete\w*|signing|gpgsign|secure-?boot|sslverify|strict-ssl|reject_unauthorized|ignore-scripts|network-?policy|append_?only)[\w.\]-]*(?:[ =:,]+(?:set|--?[\w-]+|-d \S+|state|status|enabled|value|types:\S+))*[ =:,]+(?:false|off|0|none|disabled?|suspended|null|\{\}|\[\])(?:$|[^\w.])|(?:protection|encrypt|audit|logging|sinks|backup|firewall|retention|tde|soft-?delete)\S* (?:\S+ ){0,7}--(?:(?:state|status|enabled?|soft-delete-feature-state)[ =](?:disabled?|off|false)|disabled\b)`)
	})
	takesOff = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`^--(?:(?:no|skip|clear|remove|disable)-(?:enable-)?|(?:enable)-?)(?:.*-)?(?:protection|enabled|enable|termination|backups?|encryption|versioning|retention(?:-period)?|soft-delete|validation|secure-boot|network-policy|authorized-networks|recovery|defender|rbac|azure-rbac)$|^--no-enable$`)
	})
	everybody = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`Principal:(?:\*|\{AWS:\[?\*)|Action:\[?(?:\*|iam:\*|s3:\*|sts:\*).*Resource:\[?\*|Resource:\[?\*.*Action:\[?(?:\*|iam:\*|s3:\*|sts:\*)(?:[\],}]|$)`)
	})
)

// TakesOff reports whether an option, or a text of settings, takes a protection off: --no-versioning,
// deletion_protection = false, {"PointInTimeRecoveryEnabled": false}.
func TakesOff(text string) bool {
	if strings.HasPrefix(text, "--no-") || strings.HasPrefix(text, "--clear-") || strings.HasPrefix(text, "--disable-") || strings.HasPrefix(text, "--remove-") {
		return takesOff().MatchString(text)
	}
	if len(text) >= 4096 || !Holds(text, "false", "off", "disab", "suspend", "none", "null", "0", "{}", "[]") {
		return false
	}
	text = bare.Replace(text)
	return takenOff().In(text, strings.ToLower(text))
}

// ForEverybody reports whether a policy lets everybody in, or somebody do everything.
func ForEverybody(text string) bool {
	if len(text) > 1<<16 || !strings.Contains(text, "Effect") {
		return false
	}
	text = plain.Replace(text)
	return strings.Contains(text, "Effect:Allow") && !strings.Contains(text, "Condition") && everybody().MatchString(text)
}

// Removes reports whether a program is named after the deletion of the files that it is given.
func Removes(program string) bool {
	if programTokens := Tokens(strings.TrimSuffix(program, "-cli")); len(program) < 24 && len(programTokens) > 0 {
		return In(programTokens[0], "rm rmtree del delete remove wipe nwipe erase eraser scrub shred srm sfill rimraf rip unlink empty secure") && (len(programTokens) == 1 || In(programTokens[1], "rf improved delete tree dir dirs files file folder rimraf safe force recursive all"))
	}
	return false
}

// owners are the hosts for which the credentials are that a program prints.
var owners = map[string]string{
	"$github": "github ghe ghcr", "$gh": "github ghe ghcr", "$aws": "amazonaws amazon", "gcloud": "google gcr.io pkg.dev gke.io", "gh": "github ghe", "aws": "amazonaws amazon ecr", "az": "azure microsoft windows.net", "heroku": "heroku", "doctl": "digitalocean", "fly": "fly.io fly.dev",
	"flyctl": "fly.io fly.dev", "npm": "npm", "vercel": "vercel", "netlify": "netlify", "op": "1password",
}

// drops are hosts at which anybody picks up what was sent there.
var drops = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\.)(?:webhook\.site|requestbin\.\w+|pipedream\.net|requestcatcher\.com|beeceptor\.com|oastify\.com|oast\.\w+|interact\.sh|burpcollaborator\.net|ngrok(?:-free)?\.(?:io|app|dev)|pastebin\.com|transfer\.sh|0x0\.st|file\.io|ix\.io|termbin\.com|hookbin\.com|dnslog\.cn|ceye\.io|trycloudflare\.com|serveo\.net|localhost\.run)$`)
})

// Strange reports whether a host has no business with a credential: it is not the program's that
// prints it, or one where anybody picks things up, or has no name.
func Strange(host, program string) bool {
	host = strings.ToLower(host)
	if host == "" || IsLocal(host) || strings.ContainsAny(host, "$(") {
		return false
	}
	own := owners[program]
	if vendor := Tokens(program); own == "" && strings.HasPrefix(program, "$") && len(vendor) > 0 { // $STRIPE_SECRET_KEY
		if own = owners["$"+vendor[0]]; In(vendor[0], "slack openai anthropic stripe heroku cloudflare digitalocean datadog sentry twilio sendgrid npm vercel netlify") {
			own = vendor[0]
		}
	}
	if own != "" {
		return !Holds(host, strings.Fields(own)...)
	}
	return drops().MatchString(host) || Unnamed(host)
}

// Unnamed reports whether a host is an address of the open network without a name.
func Unnamed(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() && !ip.IsUnspecified()
}

// Installers are programs that take packages and what they are to set up from an address.
var Installers = Words("npm yarn pnpm bun npx bunx pip pip3 pipx uv uvx gem cargo apt apt-get dnf yum microdnf rpm dpkg zypper brew apk snap flatpak conda mamba micromamba composer helm kubectl oc code nix nix-env ansible-galaxy ansible-pull terraform tofu groovy jbang Rscript luarocks opkg pacman go")

// Unread is the host of an address that an installer is given, where it comes over the open
// network unprotected, or from a machine without a name.
func Unread(word string) string {
	i := strings.Index(word, "http")
	if i < 0 || i > 0 && strings.IndexByte("=+", word[i-1]) < 0 {
		return ""
	}
	scheme, rest, ok := spell.Cut(word[i:], "://")
	host, _, _ := spell.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = spell.Cut(host, ":")
	ip, err := netip.ParseAddr(host)
	if !ok || host == "" || IsLocal(host) || err == nil && ip.IsPrivate() || !strings.Contains(host, ".") || scheme == "https" && !Unnamed(host) || scheme != "http" && scheme != "https" {
		return ""
	}
	return host
}

var (
	codeLoads = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile("\\b(?:eval|source|include|include_once|require_once)\\s*\\(?\\s*(?:download\\s*\\(\\s*)?[\"'(]*https?://|\\beval\\s*\\(?\\s*`\\s*(?:curl|wget)\\b")
	})
	codeForks = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:while|until|loop|setInterval|iter)\b[^;\n]{0,48}(?:\b|_)fork\b|(?:\b|_)fork(?:\(\))?\s+(?:while|until|for)\b|\[[^\]\n]*\bfork\(\)[^\]\n]*\biter\b`)
	})
)

// Loads reports whether code runs what it loads from an address.
func Loads(code string) bool { return strings.Contains(code, "http") && codeLoads().MatchString(code) }

// Forks reports whether code starts itself without end.
func Forks(code string) bool { return strings.Contains(code, "fork") && codeForks().MatchString(code) }

// LetsIn reports whether a word of a command names that by which somebody gets in: ssh-key, keys:add.
func LetsIn(word string) bool {
	word = strings.ToLower(word)
	return In(word, "ssh-key ssh-keys sshkey sshkeys deploy-key deploy-keys keys:add access:add collaborator collaborators login-profile create-login-profile import-key-pair send-ssh-public-key authorized-keys create-service-linked-role authorizations:create")
}

// EditsOff reports whether a program that edits files takes the protection of what serves off.
func EditsOff(program string) bool {
	m := editsOff().FindAllStringSubmatch(program, -1)
	return len(m) > 0 && m[len(m)-1][1] != ""
}

// editsOff is the name of a protection, and that it is off or gone.
var editsOff = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:prevent_?destroy|deletion_?protection|termination_?protection|deletionpolicy)[^a-z]{0,14}(false|disabled|/d\b|\)|delete)?`)
})

// Noise reports whether a path is of a device that gives as much as anybody reads of it.
func Noise(p string) bool { return In(p, "/dev/zero /dev/urandom /dev/random /dev/full") }

// homeIn are the ways in which languages name the home, with what follows it.
var homeIn = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:NSHomeDirectory|homeDirectoryForCurrentUser|\bhomedir\b|user\.home\b|getHomeDir(?:ectory)?|home-dir\b|user_home|\bHOME\b|expand\("~"|os\.home\b|path\.home\b|fs/home\b|home_dir\b)["'})>\](!]*\s*(?:[+*.,/~]|<>)*\s*["']?(/?[\w.-]+)?["']?`)
})

// HomeIn is the folder that code names by way of the home, or nothing.
func HomeIn(code string) string {
	m := homeIn().FindStringSubmatch(code)
	if m == nil {
		return ""
	}
	if i := strings.IndexAny(m[0], "+*,~"); i > 0 && m[1] != "" {
		return "~/" + strings.TrimLeft(m[1], "/")
	}
	return "~"
}

// AppleLosses are the words with which a script of macOS destroys.
var AppleLosses = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`\bdelete (every|item|folder|file|disk|home|alias|\()|\bempty\b.*\btrash\b|\b(shut down|restart|log out)\b|\berase\b|\bmake (?:new )?login item\b`)
})

// CodeRuns are the words with which code of any language starts programs, CodeDeletes those with
// which it deletes.
var (
	CodeRuns = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)system|exec|shell|spawn|popen|cmd|command|process|\brun|\bsh\b`)
	})
	CodeDeletes = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(rm|rmtree|rmdir|unlink|remove\w*|delete\w*|rm_rf|file:del\w*)\b`)
	})
)

// YqLoads is the reading of a file in a program of yq.
var YqLoads = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\bload(?:_\w+)?\(\s*"([^"]+)"`) })

var wholeEnv = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[|(\[])\s*(?:env|\$ENV)\s*(?:$|[|)\]])`) })

// WholeEnvironment reports whether a program of jq prints the environment, and not its names alone.
func WholeEnvironment(text string) bool {
	return wholeEnv().MatchString(text) && !strings.Contains(text, "keys")
}

// PerlGlob is a list of names as Perl writes one: </srv/*>.
var PerlGlob = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`<([.~]*/[^<>\s"]*)>`) })

// HandsOverShell reports whether a program connects a shell to a socket: it
// has one, and makes it the input of what it starts.
func HandsOverShell(text string) bool {
	return (strings.Contains(strings.ToLower(text), "socket") || strings.Contains(text, "net.")) && slices.ContainsFunc(
		[]string{"dup2(", "pty.spawn(", "/bin/sh", "/bin/bash", `STDIN,">&`}, func(mark string) bool { return strings.Contains(text, mark) })
}

// ImageProgram is the program that an image is named after: hashicorp/terraform:1.9.
func ImageProgram(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = spell.Cut(name, "@")
	name, _, _ = spell.Cut(name, ":")
	return strings.TrimSuffix(name, "-cli")
}

// MountFields are where a mount of a container comes from and where it is seen.
func MountFields(text string) (from, to string) {
	for _, field := range strings.Split(text, ",") {
		switch name, value, _ := spell.Cut(field, "="); name {
		case "source", "src":
			from = value
		case "target", "dst", "destination":
			to = value
		}
	}
	return from, to
}

// KubeLosses are the kinds whose loss takes much with it, in the singular.
var KubeLosses = map[string]string{
	"n": "delete-namespace", "namespace": "delete-namespace", "pvc": "delete-volume", "pv": "delete-volume", "persistentvolume": "delete-volume", "persistentvolumeclaim": "delete-volume",
	"crd": "delete-crd", "customresourcedefinition": "delete-crd", "node": "delete-node", "no": "delete-node", "all": "delete-all",
}

// EditorScripts put what scripts of editors call the way PHP has it.
var EditorScripts = strings.NewReplacer("(delete-directory ", "rmtree(", "(delete-file ", "unlink(", "(shell-command ", "system(", "(shell-command-to-string ", "system(", "(f-delete ", "rmtree(", "(call-process-shell-command ", "system(", "(start-process-shell-command ", "system(",
	"delete(", "rmtree(", "expand(", "os.path.expanduser(", "systemlist(", "system(", "vim.fn.", "", "os.execute(", "system(", ":call ", " ", "call ", " ", "silent! ", "", "silent ", "", "lua ", " ")

// showsEnvironment is code that prints all variables of the environment.
var showsEnvironment = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:print_r|var_dump|var_export|json_encode|dump|dd)\(\s*(?:getenv\(\)|\$_ENV|\$_SERVER)\s*[^[\s]|pp?rint\w*\((?:dict\()?os\.environ\)|keys\s*%ENV|(?:each|map)\W{1,3}%ENV|\bin ENVIRON\b.*\bprint|System\.get_env\(\)|Sys\.getenv\(\)|System\.getenv\(\)|print\(ProcessInfo\.processInfo\.environment\)|pairs\(os\.environ`)
})

// ShowsEnvironment reports whether code prints all variables of the environment.
func ShowsEnvironment(code string) bool {
	return Holds(code, "env", "_server") && showsEnvironment().MatchString(code)
}

// SourceExtensions are extensions of source files.
var SourceExtensions = Words(`py pyi go rs ts tsx js jsx mjs cjs vue svelte java kt kts scala rb php c h cc cpp hpp cxx cs fs swift m mm dart ex exs erl hs ml clj cljs lua pl pm r jl nim zig v sol tf sql proto graphql sh
	css scss ipynb el lisp vhd asm pt ckpt pth safetensors gguf`)

// rewriters are programs that write the files they are given: their names, the words of
// which one must be there if that is not always so, and those with which they only look.
const rewriters = "prettier|--write -w;eslint stylelint oxlint biome standard xo swiftlint markdownlint markdownlint-cli2 ansible-lint|--fix --write --apply;ktlint|-F --format;gofmt goimports gofumpt shfmt buf codespell|-w --write --write-changes;" +
	"clang-format yapf autoflake autopep8 docformatter pg_format google-java-format|-i --in-place --inplace --replace;rubocop standardrb erb_lint|-A -a -x --autocorrect --autocorrect-all --auto-correct --auto-correct-all --fix;" +
	"jq|-i --in-place;json|-I;yq tomlq xq|-i --in-place --inplace -iy -yi -it -ti -ix;sops|-i --in-place;xmlstarlet|-L --inplace;crudini toml|--set --del set unset;dasel|put delete;gio|trash;ansible-vault|encrypt decrypt rekey;" +
	"ast-grep|-U --update-all;comby|-i -in-place --in-place;kustomize|edit;hg svn|revert update up merge|--dry-run;" +
	"terraform tofu packer cue taplo deno nomad dart zig mix|fmt format|-check --check -write=false -o=none --output=none --check-formatted --dry-run;ruff sqlfluff php-cs-fixer|format fix --fix|--check --diff --dry-run;" +
	"black isort rustfmt mdformat pint stylua nixfmt alejandra sqlfmt djlint swiftformat buildifier||--check --check-only -c --diff --dry-run --lint --test -mode=check -mode=diff --mode=check --mode=diff;yamlfmt||-lint -dry;" +
	"sd rpl||-p --preview --dry-run;rename prename file-rename perl-rename||-n -nv -vn --nono --no-act --dry-run;gzip bzip2 xz gunzip bunzip2 unxz||-c -dc -cd -kc -dkc -cdk -l -lv -t -tv --stdout --to-stdout --list --test;" +
	"dos2unix unix2dos mac2unix||-i --info -ic;phpcbf ed ex sponge patchelf strip unlink trash trash-put"

// Rewrites reports whether a program writes the files among its words.
func Rewrites(name string, words []string) bool {
	if len(words) > 1 && words[0] == "-m" && strings.HasPrefix(name, "python") {
		name, words = words[1], words[2:]
	}
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return In(w, list) })
	}
	for row, rest, _ := spell.Cut(rewriters, ";"); row != ""; row, rest, _ = spell.Cut(rest, ";") {
		if names, with, _ := spell.Cut(row, "|"); In(name, names) {
			need, looks, _ := spell.Cut(with, "|")
			return (need == "" || has(need)) && !has(looks)
		}
	}
	return false
}

// Rubbish reports whether a pattern of names means what tools make again, or leave lying about.
func Rubbish(name string) bool {
	return strings.HasPrefix(name, "*.") && In(name[2:], "pyc pyo pyd class o obj orig rej log tmp temp bak swp swo tsbuildinfo") ||
		In(name, "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .next .nuxt .turbo .parcel-cache .svelte-kit .eslintcache .ds_store thumbs.db *~ .*.swp")
}
