package shell

import (
	"strings"
	"sync"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
)

// shProgram reads what a program does from its arguments, and says what it
// prints as far as that can be known.
type shProgram func(a *analysis, c *shCall) shValue

// shFilled fills the tables of the analysis, once, when one of them is first
// read: most processes never look at a command line, and all would pay for it when
// they start.
var shFilled = sync.OnceFunc(func() { fillTables() })

// fillTables is set by init because what it refers to reads the tables.
var fillTables func()

func init() {
	fillTables = func() {
		fillPrograms()
		fillBuiltin()
		fillLosses()
		shWrapperTable = losses.Wrappers()
	}
}

// shProgramTable are the programs that are known, by name; programOf reads it.
var shProgramTable = map[string]shProgram{}

// programOf is the program of a name, nil for one that is not known.
//
//go:noinline
func programOf(name string) shProgram {
	shFilled()
	return shProgramTable[name]
}

// fillPrograms says what reads which programs.
func fillPrograms() {
	for _, row := range []struct {
		read  shProgram
		names string
	}{
		{(*analysis).goTool, "go"},
		{(*analysis).multiplexer, "tmux screen byobu"},
		{(*analysis).makeTool, "make gmake"},
		{(*analysis).npm, "npm yarn pnpm bun"},
		{(*analysis).ansible, "ansible"},
		{(*analysis).uninstalled, losses.Packagers},
		{(*analysis).docker, "docker podman nerdctl"},
		{func(a *analysis, c *shCall) shValue { return a.compose(c, c.args()) }, "docker-compose podman-compose"},
		{(*analysis).kubectl, "kubectl oc k k3s microk8s"},
		{(*analysis).sqlClient, "psql mysql mariadb sqlite3 sqlite cockroach clickhouse-client clickhouse duckdb sqlcmd sqlplus cqlsh snowsql influx trino usql pgcli mycli litecli mssql-cli bsqldb hive beeline spark-sql presto presto-cli impala-shell hbase cypher-shell ksql"},
		{(*analysis).redis, "redis-cli valkey-cli keydb-cli memcached-cli"},
		{(*analysis).mongo, "mongosh mongo"},
		{(*analysis).xargs, "xargs gxargs"},
		{(*analysis).find, "find gfind bfs"},
		{(*analysis).fd, "fd fdfind"},
		{(*analysis).parallel, "parallel sem"},
		{(*analysis).ssh, "ssh autossh mosh"},
		{(*analysis).env, "env genv"},
		{(*analysis).shellProgram, "sh bash zsh dash ksh ash mksh rbash fish ksh93 yash"},
		{(*analysis).eval, "eval"},
		{func(a *analysis, c *shCall) shValue { return a.interpretStdin(c, a.childShell(c)) }, "at batch"},
		{(*analysis).rm, "rm grm rmdir unlink srm wipe trash trash-put rimraf del remove_directory"},
		{(*analysis).shred, "shred gshred"},
		{(*analysis).tee, "tee gtee sponge"},
		{writes("edit-in-place", "pdiFBYVzrgo", "--directory --strip --input --output"), "patch gpatch rename prename file-rename perl-rename sd"},
		{func(a *analysis, c *shCall) shValue {
			if o := options(c.args(), "toLUO", "--types --options --source", 0); len(o.operands) > 1 {
				a.fileEffect(EffectWrite, o.operands[len(o.operands)-1], c.target("mount")) // something else is in its place
			}
			return printsText(a, c)
		}, "mount bindfs mount_nullfs"},
		{writes("create", "rdt", "--reference --date --time"), "touch gtouch"},
		{writes("edit-in-place", "", ""), "dos2unix unix2dos mac2unix"},
		{writes("create", "m", "--mode"), "mkdir gmkdir mkfifo mknod"},
		{(*analysis).truncate, "truncate gtruncate fallocate"},
		{(*analysis).copy, "cp gcp install ginstall"},
		{(*analysis).move, "mv gmv"},
		{(*analysis).link, "ln gln"},
		{(*analysis).dd, "dd gdd"},
		{(*analysis).chmod, "chmod gchmod chown gchown chgrp setfacl chattr"},
		{(*analysis).readers, "grep egrep fgrep zgrep rg ag ack sort gsort uniq cut paste comm diff cmp join fold column strings od hexdump " +
			"sum b2sum file stat look pr fmt expand unexpand split csplit jq yq source-highlight pygmentize glow " +
			"bzgrep xzgrep shuf ptx tsort hd iconv basenc sdiff colordiff icdiff pv numfmt envsubst"},
		{(*analysis).archive, "tar gtar bsdtar"},
		{(*analysis).zip, "zip 7z 7za 7zz 7zr rar gzip pigz bzip2 pbzip2 xz lzma lzip zstd lz4 brotli"},
		{(*analysis).unzip, "unzip unrar"},
		{(*analysis).sed, "sed gsed"},
		{(*analysis).editor, "vim vi nvim ex ed emacs"},
		{(*analysis).foreign, "pwsh powershell cmd"},
		{(*analysis).expression, "invoke-expression"},
		{(*analysis).git, "git hub yadm dotfiles dolt"},
		{(*analysis).interpreter, "python python2 python3 pypy pypy3 ipython node nodejs deno perl ruby jruby php lua luajit tsx ts-node irb"},
		{(*analysis).awk, "awk gawk mawk nawk"},
		{(*analysis).curl, "curl curlie"},
		{(*analysis).wget, "wget wget2 aria2c axel"},
		{(*analysis).netcat, "nc ncat netcat socat telnet nc.openbsd nc.traditional"},
		{(*analysis).scp, "scp sftp"},
		{(*analysis).rsync, "rsync"},
		{(*analysis).httpie, "http https xh xhs"},
		{(*analysis).echo, "echo gecho"},
		{(*analysis).ls, "ls gls dir"},
		{(*analysis).printfBuiltin, "printf gprintf"},
		{(*analysis).pwd, "pwd"},
		{(*analysis).cat, "cat gcat tac head tail less more bat batcat nl"},
		{(*analysis).base64, "base64 gbase64 base32 openssl uudecode"},
		{(*analysis).xxd, "xxd"},
		{(*analysis).rev, "rev"},
		{(*analysis).tr, "tr gtr"},
		{(*analysis).mktemp, "mktemp gmktemp"},
		{(*analysis).dirname, "dirname basename"},
		{(*analysis).realpath, "realpath readlink grealpath greadlink"},
		{(*analysis).decompress, "zcat bzcat xzcat zstdcat lz4cat unxz gunzip bunzip2 uncompress gpg gpg2 age sops"},
		{printsPlain, "seq gseq date whoami id hostname uname nproc wc md5sum sha1sum sha256sum shasum cksum uuidgen tty getconf gdate logname domainname"},
		{(*analysis).environ, "printenv"},
		{func(_ *analysis, c *shCall) shValue { return whereIs(c.args()) }, "which"},
		{(*analysis).processes, "pgrep pidof ps"},
		{func(*analysis, *shCall) shValue {
			return shUnknown("$(history)", shOrigin{kind: settings, from: "history"})
		}, "history fc"},
		{(*analysis).server, "caddy twistd http-server serve live-server miniserve dufs simple-http-server darkhttpd httpd webfsd"},
		{(*analysis).ftp, "ftp lftp ncftp tnftp"},
		{(*analysis).mkfs, "mkfs mke2fs mkswap mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat mkfs.f2fs newfs mkdosfs mkntfs"},
		{(*analysis).partition, "wipefs blkdiscard sgdisk gdisk fdisk parted sfdisk cfdisk cgdisk hdparm nvme badblocks lvremove vgremove pvremove lvreduce cryptsetup " +
			"zpool zfs mdadm btrfs diskutil fastboot flashrom dmsetup tune2fs resize2fs"},
		{(*analysis).kill, "kill pkill killall skill killall5"},
	} {
		for _, name := range strings.Fields(row.names) {
			if shProgramTable[name] != nil {
				panic("builtins: program " + name + " is known twice")
			}
			shProgramTable[name] = row.read
		}
	}
}

// programNames lists the programs that a glob in a command's name may mean.
var programNames = lazy.Value(func() []string {
	var out []string
	shFilled()
	for name := range shProgramTable {
		out = append(out, name)
	}
	for name := range shRuleTable {
		out = append(out, name)
	}
	return lists.Distinct(out)
})

// printsText is a program that prints what cannot be known.
//
//go:noinline
func printsText(a *analysis, c *shCall) shValue {
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// printsPlain is a program that prints a name or a number.
//
//go:noinline
func printsPlain(a *analysis, c *shCall) shValue {
	return shValue{{text: "$(" + c.name + ")", kind: shPlain}}
}
