package guard

import (
	_ "embed"
	"strings"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// shellAdvice is a finding of shell-guard: what would happen and what to do
// instead. Deny and Ask are as they are; None is the guard's on_unknown.
type shellAdvice struct {
	packs   shellPack
	verdict policy.Verdict
	// name is that of its line in advice.txt; a kind of harm has what and instead.
	name string
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
	what, instead := a.what, a.instead
	if a.name != "" {
		what, instead, _ = spell.Cut(adviceText()[a.name], "|")
	}
	what = strings.ReplaceAll(what, "%s", shown(e.Target))
	return name + " " + what + "; instead: " + strings.ReplaceAll(instead, "{user}", askUser)
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

// adviceTexts is advice.txt, packed. A line has the name of an advice, what would happen and
// what to do instead; # begins a comment.
//
//go:embed advice.txt.gz
var adviceTexts string

// adviceText are the lines of advice.txt by their names, read when a reason is first given.
var adviceText = lazy.Value(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(packed.Text(adviceTexts)) {
		if name, text, ok := spell.Cut(strings.TrimSpace(line), "|"); ok && name[0] != '#' {
			out[name] = text
		}
	}
	return out
})

// askUser is what {user} means in an advice.
const askUser = "leave this to the user, and say which command to run and why"

// named is the advice of a list that has a name, or nil.
func named(list []*shellAdvice, name string) *shellAdvice {
	for _, a := range list {
		if a.name == name {
			return a
		}
	}
	return nil
}

var (
	adviceProtected     = &shellAdvice{packs: packAll, verdict: policy.Deny, name: "protected"}
	adviceAgentSettings = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "agent-settings"}
	adviceHookc         = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "hookc"}
	adviceAgent         = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "agent"}
	adviceDeleteSystem  = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-system"}
	adviceDeleteHome    = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-home"}
	adviceDeleteOutside = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-outside"}
	adviceDeleteProject = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-project"}
	adviceDeleteGit     = &shellAdvice{packs: packCore | packGit, verdict: policy.Deny, name: "delete-git"}
	adviceDeleteTemp    = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-temp"}
	adviceDeploy        = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "deploy"}
	adviceDeleteUnset   = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-unset"}
	adviceDeleteList    = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "delete-list"}
	adviceDeleteDynamic = &shellAdvice{packs: packCore, verdict: policy.None, name: "delete-dynamic"}
	adviceLink          = &shellAdvice{packs: packCore, verdict: policy.None, name: "link"}

	adviceWriteSystem  = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "write-system"}
	adviceWriteShared  = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "write-shared"}
	adviceWriteStartup = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "write-startup"}

	adviceReadSecret    = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "read-secret"}
	adviceCopySecret    = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "copy-secret"}
	adviceSendSecret    = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "send-secret"}
	adviceSendVariable  = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "send-variable"}
	adviceReverseShell  = &shellAdvice{packs: packCore, verdict: policy.Deny, name: "reverse-shell"}
	adviceReadStore     = &shellAdvice{packs: packCore | packCloud | packDatabase, verdict: policy.Ask, name: "read-store"}
	adviceClusterSecret = &shellAdvice{packs: packCore | packKubernetes, verdict: policy.Deny, name: "cluster-secret"}

	adviceDynamicCode = &shellAdvice{packs: packCore, verdict: policy.None, name: "dynamic-code"}
	adviceDynamicName = &shellAdvice{packs: packCore, verdict: policy.None, name: "dynamic-name"}
	adviceUnread      = &shellAdvice{packs: packAll, verdict: policy.None, name: "unread"}

	adviceDevice     = &shellAdvice{packs: packCore | packDisk, verdict: policy.Deny, name: "device"}
	adviceSetuid     = &shellAdvice{packs: packCore | packPermissions, verdict: policy.Deny, name: "setuid"}
	advicePermission = &shellAdvice{packs: packPermissions, verdict: policy.Deny, name: "permissions"}
	adviceHostMount  = &shellAdvice{packs: packContainers, verdict: policy.Deny, name: "host-mount"}
	advicePrivileged = &shellAdvice{packs: packContainers, verdict: policy.Ask, name: "privileged"}
	adviceAccount    = &shellAdvice{packs: packSystem, verdict: policy.Deny, name: "account"}
	adviceAccountAsk = &shellAdvice{packs: packSystem, verdict: policy.Ask, name: "account-ask"}

	adviceServiceAsk   = &shellAdvice{packs: packSystem, verdict: policy.Ask, name: "service-ask"}
	adviceLetsIn       = &shellAdvice{packs: packCore, verdict: policy.Ask, name: "lets-in"}
	adviceRootShell    = &shellAdvice{packs: packCore | packPermissions, verdict: policy.Ask, name: "root-shell"}
	adviceCrontab      = &shellAdvice{packs: packSystem, verdict: policy.Ask, name: "crontab"}
	adviceMigrateStep  = &shellAdvice{packs: packDatabase, verdict: policy.Ask, name: "migrate-step"}
	adviceContainerAsk = &shellAdvice{packs: packContainers, verdict: policy.Ask, name: "container-ask"}
	adviceLocalCluster = &shellAdvice{packs: packKubernetes | packCloud, verdict: policy.Ask, name: "local-cluster"}
	adviceKubeObject   = &shellAdvice{packs: packKubernetes, verdict: policy.Ask, name: "kube-object"}
	adviceGitOther     = &shellAdvice{packs: packGit, verdict: policy.Deny, name: "git"}
)

// adviceExec is about what is run, by its op, adviceGit about what git loses.
var adviceExec = []*shellAdvice{
	{packs: packCore, verdict: policy.Deny, name: "remote-code"},
	{packs: packCore, verdict: policy.Deny, name: "decoded-code"},
	{packs: packCore | packSystem, verdict: policy.Deny, name: "fork-bomb"},
	{packs: packCore | packSystem, verdict: policy.Deny, name: "fill-disk"},
	{packs: packCore | packSystem, verdict: policy.Deny, name: "kill-all"},
	{packs: packSystem, verdict: policy.Deny, name: "shutdown"},
}

var adviceGit = []*shellAdvice{
	{packs: packGit, verdict: policy.Deny, name: "reset-hard"},
	{packs: packGit, verdict: policy.Deny, name: "checkout-force"},
	{packs: packGit, verdict: policy.Deny, name: "switch-force"},
	{packs: packGit, verdict: policy.Deny, name: "discard-changes"},
	{packs: packGit, verdict: policy.Deny, name: "clean"},
	{packs: packGit, verdict: policy.Deny, name: "stash-drop"},
	{packs: packGit, verdict: policy.Deny, name: "stash-clear"},
	{packs: packGit, verdict: policy.Deny, name: "push-force"},
	{packs: packGit, verdict: policy.Deny, name: "push-mirror"},
	{packs: packGit, verdict: policy.Deny, name: "push-delete"},
	{packs: packGit, verdict: policy.Deny, name: "branch-delete"},
	{packs: packGit, verdict: policy.Ask, name: "branch-overwrite"},
	{packs: packGit, verdict: policy.Ask, name: "reset-branch"},
	{packs: packGit, verdict: policy.Deny, name: "worktree-remove"},
	{packs: packGit, verdict: policy.Deny, name: "rewrite-history"},
	{packs: packGit, verdict: policy.Deny, name: "reflog-expire"},
	{packs: packGit, verdict: policy.Deny, name: "prune"},
	{packs: packGit, verdict: policy.Deny, name: "ref-delete"},
	{packs: packGit, verdict: policy.Ask, name: "replace"},
	{packs: packGit, verdict: policy.Ask, name: "notes-prune"},
	{packs: packGit, verdict: policy.Ask, name: "lfs-prune"},
}

// adviceResource is about what is no file, by its domain.
var adviceResource = []*shellAdvice{
	adviceGitOther,
	{packs: packAll, verdict: policy.Ask, name: "outside"},
	{packs: packDisk, verdict: policy.Deny, name: "disk"},
	advicePermission,
	{packs: packDatabase, verdict: policy.Deny, name: "database"},
	{packs: packContainers, verdict: policy.Deny, name: "containers"},
	{packs: packKubernetes, verdict: policy.Deny, name: "kubernetes"},
	{packs: packCloud, verdict: policy.Deny, name: "cloud"},
	{packs: packCloud, verdict: policy.Deny, name: "platform"},
	{packs: packSystem, verdict: policy.Deny, name: "system"},
}

// adviceWriteResource is about what is opened, stopped or published, by its op.
var adviceWriteResource = []*shellAdvice{
	{packs: packKubernetes, verdict: policy.Ask, name: "scale-to-zero"},
	{packs: packGit, verdict: policy.Ask, name: "hooks-off"},
	{packs: packCloud, verdict: policy.Ask, name: "publish"},
	{packs: packCloud, verdict: policy.Ask, name: "public"},
	{packs: packCloud, verdict: policy.Ask, name: "repository-archive"},
}
