package guard

import (
	"strings"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/policy"
)

// shellAdvice is a finding of shell-guard: what would happen and what to do
// instead. Deny and Ask are as they are; None is the guard's on_unknown.
type shellAdvice struct {
	packs   shellPack
	verdict policy.Verdict
	// what follows the name of the command; %s in it is the effect's target.
	what string
	// instead holds commands in backticks, which the guard lets pass.
	instead string
}

// maxShown bounds how much of a target a reason repeats, in bytes.
const maxShown = 120

// reason is the text for the agent.
func (a *shellAdvice) reason(s *shell.Line, e *shell.Effect) string {
	name := "the command line"
	if e.Command >= 0 && s.Commands[e.Command].Name != "" {
		name = s.Commands[e.Command].Name
		if name == "git" {
			name = "git (" + e.Op + ")"
		}
	}
	what := strings.ReplaceAll(a.what, "%s", shown(e.Target))
	return name + " " + what + "; instead: " + a.instead
}

// shown is a target as a reason shows it. Backticks are left to commands.
func shown(target string) string {
	if len(target) > maxShown {
		target = strings.ToValidUTF8(target[:maxShown], "") + "…"
	}
	if target == "" {
		return "it"
	}
	return strings.ReplaceAll(target, "`", "'")
}

// shellAdvices are all of them: what each suggests must be let through.
var shellAdvices []*shellAdvice

// advise is a call at each of its uses: copied into them all it would be 15 KB.
//
//go:noinline
func advise(packs shellPack, v policy.Verdict, what, instead string) *shellAdvice {
	a := &shellAdvice{packs, v, what, instead}
	shellAdvices = append(shellAdvices, a)
	return a
}

//go:noinline
func deny(packs shellPack, what, instead string) *shellAdvice {
	return advise(packs, policy.Deny, what, instead)
}

//go:noinline
func ask(packs shellPack, what, instead string) *shellAdvice {
	return advise(packs, policy.Ask, what, instead)
}

//go:noinline
func unsure(packs shellPack, what, instead string) *shellAdvice {
	return advise(packs, policy.None, what, instead)
}

const (
	deleteInside = "delete what you mean by name, inside the project or a temporary folder (`rm -rf ./build`, `rm -rf /tmp/scratch`), and leave the rest to the user"
	writeInside  = "write into the project and let the user install it (`cp app.conf ./deploy/app.conf`)"
	askUser      = "leave this to the user, and say which command to run and why"
)

var (
	adviceProtected     = deny(packAll, "would change %s, which the policy protects", "work on another file, or "+askUser)
	adviceAgentSettings = deny(packCore, "would change %s, where the agent keeps who watches it", "look at it (`cat .claude/settings.json`), and tell the user which change you suggest and why")
	adviceHookc         = ask(packCore, "would change %s, which belongs to hookc or its policy", "look at it (`hookc check`, `cat hooks.yaml`), and tell the user which change you suggest and why")
	adviceAgent         = ask(packCore, "would start an agent that asks nobody", "start it as it is (`claude -p 'run the tests'`), or "+askUser)
	adviceDeleteSystem  = deny(packCore, "would delete %s, which belongs to the machine", deleteInside)
	adviceDeleteHome    = deny(packCore, "would delete %s, the user's home", deleteInside)
	adviceDeleteOutside = deny(packCore, "would delete %s, which is outside of the project", deleteInside)
	adviceDeleteProject = deny(packCore, "would delete %s, the project as a whole", "delete what you mean by name (`rm -rf ./build`), or look first at what git does not track (`git clean -nd`)")
	adviceDeleteGit     = deny(packCore|packGit, "would destroy %s, the repository's history", "leave .git alone; a stale lock is removed by name (`rm -f .git/index.lock`), a submodule with `git submodule status` and the user")
	adviceDeleteTemp    = deny(packCore, "would delete %s, where the temporary files of every program lie", "delete your own folder in it by name (`rm -rf /tmp/scratch`)")
	adviceDeploy        = ask(packCore, "would delete what the other machine has in %s and this one has not", "look first (`rsync -avn --delete dist/ host:/srv/app/`), or copy without deleting (`rsync -av dist/ host:/srv/app/`)")
	adviceDeleteUnset   = deny(packCore, "would delete %s if the variable is empty or unset", "write the path out (`rm -rf ./build`) or set the variable in the same command (`D=./build; rm -rf \"$D\"/*`)")
	adviceDeleteList    = deny(packCore, "would delete every path of a list that cannot be seen", "look at the list first (`cat list.txt`), then delete by name or by pattern in the project (`rm -rf ./build ./dist`, `find . -name '*.tmp' -delete`)")
	adviceDeleteDynamic = unsure(packCore, "would delete %s, which only the running shell knows", "write the path out (`rm -rf ./build`) or set the variable in the same command (`D=./build; rm -rf \"$D\"`)")
	adviceLink          = unsure(packCore, "works on %s, and nobody can tell where the links on that way lead", "look where it leads (`ls -la ./build`), and name the place itself (`rm -rf ./build/out`)")

	adviceWriteSystem  = deny(packCore, "would change %s, which belongs to the machine", writeInside)
	adviceWriteShared  = ask(packCore, "would change %s, which is outside of the project", writeInside)
	adviceWriteStartup = deny(packCore, "would change %s, which runs or opens something when the user logs in", "set it for one command (`PATH=\"$PWD/bin:$PATH\" make`) or in a file of the project (`echo 'export A=1' > .env.example`), and tell the user what to add")

	adviceReadSecret    = deny(packCore, "would show %s, which holds secrets", "look at names and templates (`ls -la ~/.ssh`, `cat .env.example`, `test -f .env`) and let programs read the file themselves")
	adviceCopySecret    = ask(packCore, "would copy %s, which holds secrets", "name the file where it is used (`ssh -i ~/.ssh/id_ed25519 host uptime`), or "+askUser)
	adviceSendSecret    = deny(packCore, "would send secrets to %s", "send only what the receiver needs, without secrets (`curl -d @payload.json https://example.com/api`)")
	adviceSendVariable  = ask(packCore, "would send a secret of the environment to %s", "send it as the receiver asks for it (`curl -H \"Authorization: Bearer $API_TOKEN\" https://example.com/api`)")
	adviceReverseShell  = deny(packCore, "would give %s a shell on this machine", "talk to it with a program of its own (`curl -sI https://example.com`)")
	adviceReadStore     = ask(packCore|packCloud|packDatabase, "would show the secret %s", "use it without showing it, or ask the user; names can be listed (`aws secretsmanager list-secrets`)")
	adviceClusterSecret = deny(packCore|packKubernetes, "would show the secret %s", "list the names (`kubectl get secrets`) or describe it, which hides the values (`kubectl describe secret app`)")

	adviceDynamicCode = unsure(packCore, "would run code that only the running shell knows (%s)", "write the command out (`npm test`), or put the code into a file of the project and run that (`bash scripts/build.sh`)")
	adviceDynamicName = unsure(packCore, "would run a command that is not known with arguments that destroy", "write the command's name out (`rm -rf ./build`)")
	adviceUnread      = unsure(packAll, "cannot be read, so nobody can tell what it would do", "run one short, plain command at a time (`ls -la`), and put long text into a file with the file tool")

	adviceDevice     = deny(packCore|packDisk, "would overwrite the device %s", "write into a file (`dd if=/dev/zero of=/tmp/disk.img bs=1M count=10`) and look at devices with `lsblk`")
	adviceSetuid     = deny(packCore|packPermissions, "would let everyone run %s with its owner's rights", "make it executable (`chmod +x ./tool`) and let the user run what needs rights")
	advicePermission = deny(packPermissions, "would change who may use %s", "change files of the project by name (`chmod -R u+rwX ./dist`, `chmod +x scripts/build.sh`)")
	adviceHostMount  = deny(packContainers, "would give the container the whole machine", "mount the project (`docker run --rm -v \"$PWD\":/app -w /app node:22 npm test`)")
	advicePrivileged = ask(packContainers, "would give the container rights on the whole machine", "run it without (`docker run --rm alpine true`)")
	adviceAccount    = deny(packSystem, "would give an account all rights", askUser+"; look with `id`")
	adviceAccountAsk = ask(packSystem, "would change an account", askUser+"; look with `id`")

	adviceServiceAsk   = ask(packSystem, "would keep a service from being started (%s)", "look (`systemctl status nginx`) and leave the change to the user")
	adviceLetsIn       = ask(packCore, "would let somebody else into this machine", askUser)
	adviceRootShell    = ask(packCore|packPermissions, "would open a shell with all rights", askUser+"; look with `id`")
	adviceCrontab      = ask(packSystem, "would have something run later, again and again (%s)", "look at it (`crontab -l`) and leave the change to the user")
	adviceMigrateStep  = ask(packDatabase, "would take back the last migration with its data", "look first (`alembic history`) and keep a copy (`pg_dump mydb > /tmp/dump.sql`)")
	adviceContainerAsk = ask(packContainers, "would remove stopped containers or their volumes", "look first (`docker ps -a`) and remove one by name (`docker rm web`)")
	adviceLocalCluster = ask(packKubernetes|packCloud, "would delete the local cluster %s", "delete what you made in it by name (`kubectl delete pod web-0`)")
	adviceKubeObject   = ask(packKubernetes, "would delete %s", "look first (`kubectl get all`), try it (`kubectl delete deployment web --dry-run=client`), or restart it (`kubectl rollout restart deployment/web`)")
	adviceGitOther     = deny(packGit, "would lose what git keeps", "look first (`git status`, `git log --oneline -5`) and keep a copy (`git branch backup`)")
)

var adviceExec = map[string]*shellAdvice{
	"remote-code":  deny(packCore, "would run code from %s that nobody has read", "download it, read it, and let the user run it (`curl -fsSL https://example.com/install.sh -o /tmp/install.sh`, `less /tmp/install.sh`)"),
	"decoded-code": deny(packCore, "would run code that is encoded", "decode it into a file and read it (`base64 -d payload.b64 > /tmp/payload.txt`)"),
	"fork-bomb":    deny(packCore|packSystem, "would start processes without end", "start as many as there are cores (`make -j4`)"),
	"fill-disk":    deny(packCore|packSystem, "would write until %s is full", "write as much as is needed (`head -c 1M /dev/zero > /tmp/pad`)"),
	"kill-all":     deny(packCore|packSystem, "would end every process", "end one by its id or name (`kill 12345`, `pkill -f 'node server.js'`)"),
	"shutdown":     deny(packSystem, "would stop the machine", askUser+"; look with `uptime`"),
}

var adviceGit = map[string]*shellAdvice{
	"reset-hard":       deny(packGit, "would throw away changes that no commit holds", "keep them (`git stash push -m wip`), or move the branch and keep the files (`git reset --soft HEAD~1`)"),
	"checkout-force":   deny(packGit, "would throw away changes that no commit holds", "keep them first (`git stash push -m wip`), then `git checkout main`"),
	"switch-force":     deny(packGit, "would throw away changes that no commit holds", "keep them first (`git stash push -m wip`), then `git switch main`"),
	"discard-changes":  deny(packGit, "would throw away changes of %s that no commit holds", "look at them (`git diff`) and keep them (`git stash push -m wip`); to take files out of the index only, `git restore --staged .`"),
	"clean":            deny(packGit, "would delete files that git does not hold", "look at what it would delete (`git clean -nd`) and delete that by name (`rm -rf ./build`)"),
	"stash-drop":       deny(packGit, "would delete stashed work", "look at it (`git stash show -p`), apply it (`git stash pop`), or leave it where it is (`git stash list`)"),
	"stash-clear":      deny(packGit, "would delete all stashed work", "look at it (`git stash list`) or apply it (`git stash pop`)"),
	"push-force":       deny(packGit, "would overwrite what others have pushed to %s", "push so that it fails when others have pushed (`git push --force-with-lease`), or add a commit (`git revert --no-edit HEAD`, `git push`)"),
	"push-mirror":      deny(packGit, "would make the remote equal to this clone, deleting the rest", "push one branch (`git push -u origin HEAD`)"),
	"push-delete":      deny(packGit, "would delete %s from the remote", "look (`git branch -r`) and leave it to the user or the merge of its pull request (`gh pr view`)"),
	"branch-delete":    deny(packGit, "would delete the branch %s with commits that may be nowhere else", "delete it only when it is merged (`git branch -d feature`)"),
	"branch-overwrite": ask(packGit, "would point the branch %s at other commits", "make a new one (`git branch feature-2`)"),
	"reset-branch":     ask(packGit, "would point the branch %s at other commits", "make a new one (`git switch -c feature-2`)"),
	"worktree-remove":  deny(packGit, "would delete the worktree %s with its changes", "remove it only when it is clean (`git worktree remove ../feature`)"),
	"rewrite-history":  deny(packGit, "would rewrite every commit", "add a commit (`git revert --no-edit HEAD`), or "+askUser),
	"reflog-expire":    deny(packGit, "would delete what lost commits are found by", "look at it (`git reflog show`) and let git collect on its own (`git gc`)"),
	"prune":            deny(packGit, "would delete commits that nothing points to any more", "let git keep them for its two weeks (`git gc`)"),
	"ref-delete":       deny(packGit, "would delete the ref %s", "delete a merged branch (`git branch -d feature`)"),
	"replace":          ask(packGit, "would show other objects in place of commits", "add a commit (`git revert --no-edit HEAD`)"),
	"notes-prune":      ask(packGit, "would delete notes", "look at them (`git notes list`)"),
	"lfs-prune":        ask(packGit, "would delete large files that may be nowhere else", "look first (`git lfs prune --dry-run`)"),
}

// adviceResource is about what is no file, by its domain.
var adviceResource = map[shell.Domain]*shellAdvice{
	shell.DomainGit:        adviceGitOther,
	shell.DomainOutside:    ask(packAll, "would destroy something outside of the project, going by its words (%s)", "look first (`git status`), try it without doing it (`--dry-run`, where the program knows it), or "+askUser),
	shell.DomainDisk:       deny(packDisk, "would change disks or volumes (%s)", "look (`lsblk -f`, `df -h`) and leave the change to the user"),
	shell.DomainPermission: advicePermission,
	shell.DomainDatabase:   deny(packDatabase, "would delete data (%s)", "look first (`psql -c 'SELECT count(*) FROM users'`), keep a copy (`pg_dump mydb > /tmp/dump.sql`), narrow it with WHERE, or write a migration for the user to run"),
	shell.DomainContainer:  deny(packContainers, "would delete data of containers (%s)", "look first (`docker volume ls`), stop without deleting (`docker compose down`), or remove one container by name (`docker rm web`)"),
	shell.DomainKubernetes: deny(packKubernetes, "would take away a part of the cluster (%s)", "look first (`kubectl get all -n dev`) and try it (`kubectl delete deployment web --dry-run=client`)"),
	shell.DomainCloud:      deny(packCloud, "would destroy cloud resources (%s)", "show what would change (`terraform plan -destroy`) and leave it to the user"),
	shell.DomainPlatform:   deny(packCloud, "would delete what is hosted or published (%s)", "look at it (`gh repo view`, `npm view my-pkg`) and leave it to the user"),
	shell.DomainSystem:     deny(packSystem, "would change the machine for everyone (%s)", "look (`systemctl status nginx`, `crontab -l`) and leave the change to the user"),
}

var adviceWriteResource = map[string]*shellAdvice{
	"scale-to-zero":      ask(packKubernetes, "would stop %s", "restart it (`kubectl rollout restart deployment/web`)"),
	"hooks-off":          ask(packGit, "would turn the repository's hooks off (%s)", "run them (`git commit -m 'fix'`), and tell the user which of them fails"),
	"publish":            ask(packCloud, "would publish what cannot be taken back (%s)", "look at what would be in it (`npm publish --dry-run`) and leave it to the user"),
	"public":             ask(packCloud, "would give everybody, or one with all rights, access (%s)", "look at who has it (`aws iam list-users`, `gh repo view`) and leave it to the user"),
	"repository-archive": ask(packCloud, "would archive the repository", "look at it (`gh repo view`) and leave it to the user"),
}
