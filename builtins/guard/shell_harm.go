package guard

import (
	"github.com/hookc/hookc/builtins/harm"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/policy"
)

// adviceHarm is what there is to say of a class of harm.
var adviceHarm = map[string]*shellAdvice{
	"source":  ask(packCore|packGit, "would delete, empty or throw away source of the project (%s)", "look first (`git status`), delete what you mean by name (`rm src/old.py`), or keep a copy (`git stash push -m wip`)"),
	"lost":    ask(packCore, "would delete what cannot be made again (%s)", "look first (`ls -la`) and delete that by name, or "+askUser),
	"live":    ask(packCloud|packDatabase|packKubernetes|packSystem, "would change what serves others (%s)", "show what would change (`terraform plan`, `kubectl diff -f k8s/`) and leave it to the user"),
	"spend":   ask(packCloud, "would spend money (%s)", askUser),
	"tell":    ask(packCloud, "would speak to others in the user's name (%s)", "write the text into a file (`cat draft.md`) and let the user send it"),
	"foreign": ask(packCore, "would run code of somebody whom no registry names (%s)", "take it from the registry (`npm install lodash`, `pip install requests`), or "+askUser),
	"reveal":  ask(packCore, "would show or send what may hold secrets (%s)", "look at names only (`terraform output`, `git log --name-only`), or ask the user"),
	"stay":    ask(packCore, "would leave something behind that runs or counts later (%s)", "set it for this project or one command (`git config --local user.name x`), and tell the user what to add"),
	"door":    ask(packCore, "would let others in from outside (%s)", "listen on this machine only (`python3 -m http.server --bind 127.0.0.1 8000`)"),
	"guard":   ask(packCore|packGit|packCloud, "would take a safeguard off (%s)", "leave it on, and tell the user which check fails and why"),
	"blind":   unsure(packCore, "would run code that nobody can read here (%s)", "run one short, plain command at a time (`ls -la`)"),
	"mass":    ask(packCore|packSystem, "would use up this machine, or another (%s)", "keep to this machine, and small (`hey -n 100 http://localhost:8080/`)"),
	"flash":   ask(packDisk|packSystem, "would change what a board or a machine keeps for good (%s)", "read it first (`esptool.py flash_id`) and leave the change to the user"),
}

// harms adds the classes of harm that effects do not name.
func (g *shellGuard) harms(says *guardSays, s *shell.Line, in *policy.Context) {
	if says.verdict != policy.None {
		return
	}
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	for _, f := range harm.Find(s, at) {
		e := &shell.Effect{Kind: shell.EffectDelete, Op: f.Kind, Target: f.Target, Command: f.Command}
		g.finds(says, s, e, g.counts(adviceHarm[f.Kind], s, e, at))
	}
}
