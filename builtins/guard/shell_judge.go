package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/harm"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// judgeEffect returns what there is to say against an effect, whatever the
// packs; nil when nothing is.
func judgeEffect(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch e.Kind {
	case shell.EffectDelete:
		if e.Domain == shell.DomainFile {
			return judgeDelete(s, e)
		}
		return judgeResource(s, e)
	case shell.EffectWrite:
		return judgeWrite(s, e)
	case shell.EffectRead:
		return judgeRead(s, e)
	case shell.EffectExec:
		switch c := commandOf(s, e); {
		case e.Op == "kill-all" && lists.Has(c.Flags, "-0"):
			return nil // asks whether a process is there
		case e.Op == "generated-code" && (generators()[shell.Versionless(e.Target)] || fedShell(*c)):
			return adviceDynamicCode // a program that the line brings prints it
		}
		return named(adviceExec, e.Op)
	case shell.EffectConnect:
		return judgeConnect(s, e)
	case shell.EffectGitHistory:
		if a := named(adviceGit, e.Op); a != nil {
			return a
		}
		return adviceGitOther
	case shell.EffectDevice:
		if e.Target == "$(losetup)" {
			return nil // a file
		}
		return adviceDevice
	case shell.EffectPrivilege:
		return judgePrivilege(s, e)
	case shell.EffectUnknown:
		return judgeUnknown(s, e)
	}
	return nil
}

// generators are interpreters: what one prints of code in the line is as unknown
// as the line made it.
var generators = losses.Words("python perl ruby node php awk gawk mawk lua deno bun git")

// disposable are folders that tools make again, wherever they lie.
var disposable = losses.Words("node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .next .nuxt .turbo .parcel-cache .svelte-kit .eslintcache .DS_Store")

func judgeDelete(s *shell.Line, e *shell.Effect) *shellAdvice {
	if strings.HasPrefix(e.Host, "image:") {
		return nil // gone with the container that it is started for
	}
	switch {
	case e.Certainty == shell.CertainIfUnset:
		if !e.Recursive || e.Place != shell.ZoneRoot && e.Place != shell.ZoneSystem && e.Place != shell.ZoneHome {
			return nil
		}
		return adviceDeleteUnset
	case e.Place == shell.ZoneUnknown:
		return judgeDeleteUnknown(s, e)
	case e.Op == "rsync-delete" && strings.HasPrefix(e.Host, "ssh:"):
		return adviceDeploy
	case e.Op == "rmdir" && e.Certainty == shell.CertainPattern:
		return nil // what is not empty stays
	case e.Op == "move" && e.Certainty == shell.CertainPattern && e.Place == shell.ZoneProjectRoot && movedInside(s, e):
		return nil
	case agentSettings(e):
		return settingsAdvice(e)
	case e.Op == "move" && e.Secret == "" && (e.Place == shell.ZoneUser || e.Place == shell.ZoneOther) && !deletedThere(s, e):
		return nil
	case (e.Place == shell.ZoneUser || e.Place == shell.ZoneOther) && disposable()[path.Base(e.Target)], runtimeFile(e.Target):
		return nil
	}
	if e.Place == shell.ZoneProject && losses.IsRepository(path.Base(e.Target)) {
		return adviceDeleteGit // found by name
	}
	switch e.Place {
	case shell.ZoneRoot, shell.ZoneSystem, shell.ZoneDevice:
		return adviceDeleteSystem
	case shell.ZoneHome:
		return adviceDeleteHome
	case shell.ZoneUser, shell.ZoneOther:
		return adviceDeleteOutside
	case shell.ZoneAbove, shell.ZoneProjectRoot:
		return adviceDeleteProject
	case shell.ZoneGit:
		return adviceDeleteGit
	case shell.ZoneTempRoot:
		return adviceDeleteTemp
	}
	return nil
}

// movedInside reports whether what a command moves stays in the project.
func movedInside(s *shell.Line, e *shell.Effect) bool {
	return shell.AnyEffect(s.Effects, func(w *shell.Effect) bool {
		return w.Kind == shell.EffectWrite && w.Op == "move" && w.Command == e.Command && w.Host == e.Host && w.Place == shell.ZoneProject
	})
}

// runtimeFile reports whether a path is what the user's own programs keep while
// they run: /run/user/1000/app.sock.
func runtimeFile(p string) bool {
	rest, ok := spell.CutPrefix(strings.TrimPrefix(p, "/var"), "/run/user/")
	_, below, _ := spell.Cut(rest, "/")
	return ok && strings.Trim(below, "*?/") != "" || harm.Volume(p)
}

// judgeDeleteUnknown judges the deletion of what is not known: what xargs reads
// may be anything, and so may everything below an unknown folder. Of files of a list
// those are let through that come from git itself.
func judgeDeleteUnknown(s *shell.Line, e *shell.Effect) *shellAdvice {
	c := commandOf(s, e)
	switch {
	case !e.Recursive || e.Op == "move":
		return nil
	case !lists.Has(c.Via, "xargs"):
		return adviceDeleteDynamic
	case c.Name != "rm" || slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-r -R --recursive") }):
		return adviceDeleteList
	case strings.HasPrefix(e.Target, "$(git"):
		return nil
	}
	return adviceDeleteDynamic
}

// commandOf is the command that has an effect, an empty one for the whole text.
//
//go:noinline
func commandOf(s *shell.Line, e *shell.Effect) *shell.Command {
	if e.Command < 0 {
		return &shell.Command{}
	}
	return &s.Commands[e.Command]
}

func judgeResource(s *shell.Line, e *shell.Effect) *shellAdvice {
	if e.Domain == shell.DomainDatabase && e.Command >= 0 && losses.ForTests(commandWords(&s.Commands[e.Command]), e.Target) {
		return nil
	}
	switch e.Op {
	case "object-delete", "delete-key":
		return nil // easily had back, or one of many by its very nature
	case "service-stop":
		if !lifeline(e.Target) && e.Target != "*" && !strings.HasPrefix(e.Target, "$(") && !slices.ContainsFunc(losses.Tokens(e.Host), func(t string) bool { return losses.Production()[t] || shell.WordIn(t, "db database server") }) {
			return nil
		}
	case "container-prune", "container-remove-volumes":
		return adviceContainerAsk
	case "container-remove-all":
		if flags := commandOf(s, e).Flags; e.Command >= 0 && !lists.Has(flags, "-f") && !lists.Has(flags, "--force") {
			return adviceContainerAsk // running ones stay
		}
	case "migrate-step":
		return adviceMigrateStep
	case "migrate-down":
		if lists.Some(commandOf(s, e).Argv, func(w *shell.Word) bool { return w.Text == "-1" }) {
			return adviceMigrateStep
		}
	case "delete-cluster":
		if shell.WordIn(commandOf(s, e).Name, "kind k3d minikube") {
			return adviceLocalCluster
		}
	case "delete":
		kind, _, _ := spell.Cut(strings.ToLower(e.Target), " ")
		kind, _, _ = spell.Cut(kind, "/")
		switch {
		case e.Domain != shell.DomainKubernetes:
		case shell.WordIn(strings.TrimSuffix(kind, "s"), "pod po job replicaset r event ev lease"):
			return nil // made again by what owns them
		default:
			return adviceKubeObject
		}
	}
	return named(adviceResource, string(e.Domain))
}

// commandWords are the words of a command, with the variables that it is given and those
// that choose what its program works on.
func commandWords(c *shell.Command) []string {
	out := shell.WordTexts(c.Argv)
	for _, v := range c.Env {
		out = append(out, v.Name+"="+v.Value.Text)
	}
	return out
}

// lifeline reports whether the machine cannot be reached without a service.
func lifeline(service string) bool {
	return strings.Contains(service, "com.apple.") || strings.HasPrefix(service, "/System/") || slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(service), func(r rune) bool { return r == '.' || r == '/' }), func(s string) bool { return losses.Daemons()[s] })
}

// startupFiles are files below the home that run or open something when the
// user logs in, or that say who may.
var startupFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xinitrc", ".xprofile", ".xsession", ".pam_environment", ".config/fish", ".config/autostart",
	".config/systemd", ".config/environment.d", ".local/share/systemd", ".local/share/applications", "Library/LaunchAgents", ".ssh",
	"usercustomize.py", "sitecustomize.py", ".config/powershell", "Documents/PowerShell", "Documents/WindowsPowerShell", "Start Menu/Programs/Startup",
	"Microsoft/Windows/CurrentVersion/Run", "Microsoft/Windows/CurrentVersion/RunOnce",
}

// sharedSoftware are system folders into which people install by hand, homes
// those in which a new folder or empty file belongs to somebody.
var (
	sharedSoftware = []string{"/usr/local", "/opt", "/var/www", "/srv"}
	homes          = []string{"/usr/local", "/opt", "/home", "/Users"}
)

func judgeWrite(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch e.Domain {
	case shell.DomainPermission:
		return judgeMode(e)
	case shell.DomainSystem:
		switch {
		case e.Op == "crontab-install":
			return adviceCrontab
		case e.Op == "service-mask":
			return adviceServiceAsk
		case e.Op == "account-change" && strings.HasPrefix(e.Host, "image:"):
			return nil // gone with the container
		}
		return named(adviceResource, string(shell.DomainSystem))
	case shell.DomainDisk:
		return named(adviceResource, string(shell.DomainDisk))
	case shell.DomainKubernetes, shell.DomainPlatform, shell.DomainGit, shell.DomainCloud:
		return named(adviceWriteResource, e.Op)
	case shell.DomainFile:
		return judgeFileWrite(s, e)
	}
	return nil
}

func judgeFileWrite(s *shell.Line, e *shell.Effect) *shellAdvice {
	inside := strings.HasPrefix(e.Host, "container:") || strings.HasPrefix(e.Host, "pod:")
	switch {
	case strings.HasPrefix(e.Host, "image:"):
		return nil
	case e.Certainty == shell.CertainIfUnset, runtimeFile(e.Target):
		return nil
	case agentSettings(e):
		return settingsAdvice(e)
	case e.Op == "mount":
		return nil
	case e.Place == shell.ZoneDevice:
		return adviceDevice
	case e.Place == shell.ZoneRoot || e.Place == shell.ZoneSystem:
		if e.Op == "create" && slices.ContainsFunc(homes, func(dir string) bool { return losses.IsUnder(dir, e.Target) }) {
			return nil
		}
		if e.Command >= 0 && harm.Installs(s, e) {
			return nil
		}
		if inside || !e.Recursive && slices.ContainsFunc(sharedSoftware, func(dir string) bool { return losses.IsUnder(dir, e.Target) && dir != e.Target }) {
			return adviceWriteShared
		}
		return adviceWriteSystem
	case e.Place == shell.ZoneUser && startupFile(e.Target):
		return adviceWriteStartup
	case e.Place == shell.ZoneGit && e.Op != "append" && gitData(e.Target):
		return adviceDeleteGit
	}
	return nil
}

// startupFile reports whether a path below some home is one of startupFiles.
func startupFile(p string) bool {
	if strings.HasPrefix(path.Base(p), "known_hosts") || strings.Contains(p, "/completions/") {
		return false
	}
	return slices.ContainsFunc(startupFiles, func(f string) bool { return strings.Contains(p+"/", "/"+f+"/") })
}

// gitData reports whether a path is what a repository keeps its history in.
func gitData(p string) bool {
	_, rel, ok := spell.Cut(p+"/", "/.git/")
	first, _, _ := spell.Cut(rel, "/")
	return ok && (first == "" || shell.WordIn(first, "HEAD index refs objects packed-refs logs"))
}

func judgeMode(e *shell.Effect) *shellAdvice {
	if agentSettings(e) && (e.Op == "lock-mode" || hookcFiles[path.Base(e.Target)]) {
		return settingsAdvice(e)
	}
	switch e.Place {
	case shell.ZoneRoot, shell.ZoneSystem, shell.ZoneHome, shell.ZoneDevice:
		if losses.Disk(e.Target) || !strings.HasPrefix(e.Host, "image:") && (e.Recursive || e.Op == "open-mode" || e.Op == "lock-mode" || strings.Contains(e.Target, "**")) {
			return advicePermission
		}
	case shell.ZoneProjectRoot, shell.ZoneAbove:
		if e.Recursive && (e.Op == "lock-mode" || e.Op == "open-mode") {
			return advicePermission
		}
	case shell.ZoneUser:
		if e.Op == "open-mode" && e.Secret != "" {
			return advicePermission
		}
	}
	return nil
}

func judgeRead(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch {
	case e.Command >= 0 && harm.NamesOnly(s, e):
		return nil
	case e.Op == "read-secret" && e.Secret == "":
		return adviceReadStore
	case e.Secret == "":
		return nil
	case e.Secret == "cluster-secret":
		if exported(s, e) || putBack(s, e) {
			return nil
		}
		return adviceClusterSecret
	}
	switch e.Op {
	case "use":
		return nil
	case "script", "config":
		if e.Secret == "env-file" {
			return nil // used by what runs, and not shown
		}
	case "copy", "redirect", "move":
		if e.Command >= 0 && harm.Given(s, e.Command) || e.Secret == "env-file" || e.Place == shell.ZoneProject || e.Place == shell.ZoneTemp || beside(s, e) {
			return nil
		}
		return adviceCopySecret
	}
	if e.Secret == "env-file" && exported(s, e) || harm.Given(s, e.Command) {
		return nil
	}
	return adviceReadSecret
}

// beside reports whether a copy is as well known for a secret as what is copied, and in its folder.
func beside(s *shell.Line, e *shell.Effect) bool {
	return shell.AnyEffect(s.Effects, func(w *shell.Effect) bool {
		return w.Kind == shell.EffectWrite && w.Op == "copy" && w.Command == e.Command && w.Certainty == shell.CertainKnown && path.Dir(w.Target) == path.Dir(e.Target) && losses.Secret(w.Target, shell.Here("", "").Home) != ""
	})
}

// putBack reports whether what a command reads of a cluster goes into one again.
func putBack(s *shell.Line, e *shell.Effect) bool {
	return e.Command >= 0 && s.Commands[e.Command].Pipe > 0 && shell.AnyCommand(s.Commands, func(c *shell.Command) bool {
		return c.Pipe == s.Commands[e.Command].Pipe && c.Name == s.Commands[e.Command].Name && lists.Some(c.Argv, func(w *shell.Word) bool { return w.Is("apply", "create", "replace") })
	})
}

// exported reports whether what an effect reads becomes variables, which are
// not shown: export $(grep -v '^#' .env).
func exported(s *shell.Line, e *shell.Effect) bool {
	return lists.Has(commandOf(s, e).Via, "substitution") && shell.AnyCommand(s.Commands, func(c *shell.Command) bool {
		return (c.Name == "export" || c.Name == "env" && len(c.Argv) > 2) && c.Offset <= e.Offset &&
			(c.Dynamic || lists.Some(c.Argv, func(w *shell.Word) bool { return strings.HasSuffix(w.Text, "=") }))
	}) && !shell.AnyCommand(s.Commands, func(c *shell.Command) bool { return shell.WordIn(c.Name, "echo printf printenv") })
}

func judgeConnect(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch {
	case e.Op == "reverse-shell":
		return adviceReverseShell
	case e.Secret == "variable":
		return adviceSendVariable
	case e.Secret != "":
		return adviceSendSecret
	case e.Op != "socket" && e.Op != "upload" && e.Op != "listen":
		return nil
	}
	c := commandOf(s, e)
	if e.Op == "socket" && lists.Some(c.Argv, func(w *shell.Word) bool { return w.Dynamic && losses.SecretVariable(strings.Trim(w.Text, "${}")) }) {
		return adviceSendVariable
	}
	switch c.Name {
	case "env", "printenv", "set", "export":
		return adviceSendSecret // env > /dev/tcp/host/port
	case "curl", "wget", "scp", "rsync", "ssh", "sftp", "http", "https", "xh":
		return nil
	}
	if slices.ContainsFunc(s.Commands, fedShell) {
		return adviceReverseShell
	}
	return nil
}

// fedShell reports whether a command is a shell that runs what a pipe brings.
func fedShell(c shell.Command) bool {
	return shell.Shells()[c.Name] && c.Stage > 0 && !lists.Some(c.Argv[1:], func(w *shell.Word) bool {
		return !strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "-c")
	})
}

func judgePrivilege(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch e.Op {
	case "setuid", "setcap":
		return adviceSetuid
	case "host-mount":
		return adviceHostMount
	case "privileged-container":
		return advicePrivileged
	case "agent-unguarded":
		return adviceAgent
	case "lets-in":
		return adviceLetsIn
	case "sudo", "doas", "su", "pkexec", "gosu", "root-shell":
		if e.Op == "root-shell" || e.Host == "" && opensShell(s, e) {
			return adviceRootShell
		}
	case "account-change":
		switch c := commandOf(s, e); {
		case powerful(c):
			return adviceAccount
		case joinsGroup(c):
			return nil
		}
		return adviceAccountAsk
	}
	return nil
}

// opensShell reports whether what gets the rights of another user is a shell for whoever types.
func opensShell(s *shell.Line, e *shell.Effect) bool {
	c := commandOf(s, e)
	if len(c.Argv) == 0 || e.Target != "root" || c.Stage > 0 || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, "<") }) {
		return false
	}
	operands := lists.Some(c.Argv[1:], func(w *shell.Word) bool { return !strings.HasPrefix(w.Text, "-") && w.Text != "root" })
	if e.Op == "su" && !slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-c --command") }) {
		return !operands && !slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "--help --version -h -V") })
	}
	if !operands {
		return slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-i -s --login --shell") })
	}
	return shell.AnyCommand(s.Commands[e.Command+1:], func(in *shell.Command) bool {
		if len(in.Argv) == 0 || len(in.Via) <= len(c.Via) || in.Via[len(c.Via)] != c.Name || in.Stage > 0 || slices.ContainsFunc(in.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, "<") }) {
			return false
		}
		bare := !lists.Some(in.Argv[1:], func(w *shell.Word) bool {
			return !strings.HasPrefix(w.Text, "-") || shell.WordIn(w.Text, "-c -s --version --help -n")
		})
		return (shell.Shells()[in.Name] || in.Name == "su") && bare || in.Name == "chroot" && len(in.Argv) == 2
	})
}

// joinsGroup reports whether an account is only put into a group that has no rights on the machine.
func joinsGroup(c *shell.Command) bool {
	return shell.WordIn(c.Name, "usermod adduser useradd") && lists.Has(c.Flags, "-G") && !slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-u -o -L -U -s -e -p -g") }) &&
		!lists.Some(c.Argv, func(w *shell.Word) bool { return losses.Any(groups(), w.Text) || w.Dynamic && c.Name == "usermod" })
}

// groups are those whose members can get all rights.
var groups = losses.Words("docker lxd libvirt kvm podman incus systemd x kmem video tty dialout plugdev staff adm")

// powerful reports whether a change of an account gives all rights.
func powerful(c *shell.Command) bool {
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		for _, name := range strings.Split(w.Text, ",") {
			if shell.WordIn(name, "0 root sudo wheel admin adm shadow disk") {
				return true
			}
		}
	}
	return c.Name == "visudo"
}

func judgeUnknown(s *shell.Line, e *shell.Effect) *shellAdvice {
	switch e.Op {
	case shell.DynamicCode:
		return adviceDynamicCode
	case shell.DynamicName:
		if !forceful(commandOf(s, e)) {
			return nil
		}
		return adviceDynamicName
	}
	return adviceUnread
}

// forceful reports whether the arguments of a command that is not known are
// those of one that destroys.
func forceful(c *shell.Command) bool {
	has := func(flags string) bool {
		return slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, flags) })
	}
	return has("-Recurse -r -R --recursive") && has("-Recurse -f --force --no-preserve-root") || has("--hard -delete")
}
