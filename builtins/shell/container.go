package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// docker reads docker, podman and nerdctl as far as they start something; the rest is in the table of losses.
func (a *analysis) docker(c *shCall) shValue {
	o := options(c.args(), "Hlcn", "--namespace --host --context --config --log-level --tlscacert --tlscert --tlskey --url --connection", optStop)
	words := o.operands
	if len(words) > 1 && words[0].Is("container") {
		words = words[1:]
	}
	if len(words) > 0 {
		switch words[0].Text {
		case "exec":
			return a.dockerExec(c, words[1:])
		case "run", "create":
			return a.dockerRun(c, words[1:])
		case "compose":
			return a.compose(c, words[1:])
		case "push", "image":
			name := words[len(words)-1].Text
			first, _, deep := spell.Cut(strings.TrimPrefix(name, "docker.io/"), "/")
			if (words[0].Is("push") || len(words) > 2 && words[1].Is("push")) && deep && !strings.ContainsAny(first, ".:$") && first != "localhost" {
				a.does(c, EffectWrite, DomainPlatform, "publish", name)
			}
		case "inspect":
			return shUnknown("$(docker)", shOrigin{kind: settings, from: strings.Join(WordTexts(words[1:]), " ")})
		}
	}
	return shUnknown("$(docker)", shOrigin{kind: "output", from: "docker"})
}

func (a *analysis) dockerExec(c *shCall, args []Word) shValue {
	o := options(args, "euw", "--env --user --workdir --env-file --detach-keys --index", optStop)
	if len(o.operands) < 2 {
		return printsText(a, c)
	}
	in := a.elsewhere(c, "container:"+o.operand(0))
	in.stdin = c.fr.stdin
	if dir, ok := o.value("-w", "--workdir"); ok {
		a.moveTo(dir, in)
	}
	return a.wrapped(c, o.operands[1:], in)
}

// dockerRun starts an image. What it does to itself is gone with it; what is mounted is not.
func (a *analysis) dockerRun(c *shCall, args []Word) shValue {
	o := options(args, losses.DockerRunShort, losses.DockerRunLong, optStop)
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	saved := a.mounts
	defer func() { a.mounts = saved }()
	for _, v := range o.values("-v", "--volume") {
		parts := strings.Split(v.Text, ":")
		if len(parts) > 1 && parts[len(parts)-1] != "ro" {
			a.mount(c, parts[0], parts[1])
		}
	}
	for _, v := range o.values("--mount") {
		from, to := losses.MountFields(v.Text)
		if from != "" && !strings.Contains(v.Text, "readonly") && !strings.Contains(v.Text, ",ro") {
			a.mount(c, from, to)
		}
	}
	a.mountedSecret(c, &o)
	if o.exact("--privileged") {
		a.does(c, EffectPrivilege, DomainContainer, "privileged-container", o.operand(0))
	}
	in := a.elsewhere(c, "image:"+o.operand(0))
	if from, ok := o.value("--volumes-from"); ok {
		in.host = "container:" + from.Text
	}
	in.st.dirs = []string{"/"}
	in.stdin = c.fr.stdin
	if dir, ok := o.value("-w", "--workdir"); ok {
		a.moveTo(dir, in)
	}
	argv := o.operands[1:]
	if entry, ok := o.value("--entrypoint"); ok && entry.Text != "" {
		argv = append([]Word{entry}, argv...)
	}
	if image := losses.ImageProgram(o.operand(0)); len(argv) > 0 && !argv[0].Dynamic {
		if verb, _ := losses.Verb(argv[0].Text); verb != "" && programOf(argv[0].Text) == nil || rulesOf(image) != nil && rulesOf(argv[0].Text) == nil && programOf(argv[0].Text) == nil {
			argv = append([]Word{NewWord(image)}, argv...)
		}
	}
	return a.wrapped(c, argv, in)
}

// mountedSecret adds what a program that sends or prints does with the secrets of this machine that its container sees.
func (a *analysis) mountedSecret(c *shCall, o *shOpts) {
	shows := slices.ContainsFunc(strings.FieldsFunc(strings.Join(WordTexts(o.operands[1:]), " "), func(r rune) bool { return strings.ContainsRune(" /;|&()", r) }), func(w string) bool {
		return WordIn(w, "curl wget nc ncat netcat socat telnet http cat base64 xxd tar head tail less more strings")
	}) || strings.Contains(o.operand(0), "curl")
	for _, v := range append(o.values("-v", "--volume"), o.values("--mount")...) {
		from, _ := losses.MountFields(v.Text)
		if from == "" {
			from, _, _ = spell.Cut(v.Text, ":")
		}
		if _, secret := a.placeIn(a.resolve(NewWord(from), c.fr).shape, c.fr); shows && secret != "" {
			a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: o.operand(0), Secret: secret})
		}
	}
}

// volumes is where volumes with a name lie.
const volumes = "/var/lib/docker/volumes/"

// mount remembers a directory of this machine that a container sees.
func (a *analysis) mount(c *shCall, from, to string) {
	if from != "" && from[0] != '/' && from[0] != '.' && from[0] != '~' && !strings.Contains(from, "$") {
		from = volumes + from
	}
	p, ok := a.resolve(NewWord(from), c.fr).known()
	if !ok || !strings.HasPrefix(to, "/") {
		return
	}
	to = posix.Absolute("/", to)
	a.mounts = append(slices.Clip(a.mounts), shMount{p, to})
	if strings.HasSuffix(p, "/docker.sock") {
		a.does(c, EffectPrivilege, DomainContainer, "privileged-container", p)
	}
	if p == "/" {
		a.does(c, EffectPrivilege, DomainContainer, "host-mount", "/")
	}
}

// resource adds what happens to a thing that is no file.
func (a *analysis) resource(c *shCall, kind EffectKind, d Domain, op string, names []Word) {
	if len(names) == 0 {
		a.effect(c, Effect{Kind: kind, Domain: d, Op: op})
		return
	}
	for _, w := range names[:min(len(names), maxItems)] {
		e := Effect{Kind: kind, Domain: d, Op: op, Target: w.Text}
		if w.Dynamic {
			e.Certainty = CertainDynamic
		}
		a.effect(c, e)
	}
}

// compose is docker compose.
func (a *analysis) compose(c *shCall, args []Word) shValue {
	o := options(args, "fp", "--file --project-name --profile --env-file --project-directory --ansi --progress --parallel", optStop)
	switch {
	case o.first("exec"):
		return a.dockerExec(c, o.operands[1:])
	case o.first("run"):
		return a.dockerRun(c, o.operands[1:])
	case o.first("config"):
		return shUnknown("$(docker)", shOrigin{kind: settings})
	}
	if !o.dry() {
		a.applyRules(c, "compose", o.operands)
	}
	return printsText(a, c)
}

// kubectl reads what happens to a cluster.
func (a *analysis) kubectl(c *shCall) shValue {
	args := c.args()
	if (c.name == "k3s" || c.name == "microk8s") && len(args) > 0 && args[0].Is("kubectl") {
		args = args[1:]
	}
	t := toolOf("kubectl")
	o := options(args, t.short, t.long, 0)
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	if v, ok := o.value("--dry-run"); o.exact("--dry-run") && (!ok || !v.Is("none", "false")) || o.exact("--help", "-h") {
		return printsText(a, c)
	}
	names := o.operands[1:]
	switch o.operands[0].Text {
	case "exec", "rsh":
		return a.kubeExec(c, args)
	case "apply", "create", "run":
		if text := strings.Join(WordTexts(args), " ") + c.fr.stdin.value.text(); strings.Contains(spaceless.Replace(text), "rivileged:true") || strings.Contains(text, "--privileged") || strings.Contains(text, "--verb=* ") || strings.Contains(spaceless.Replace(text), "hostPID:true") {
			a.does(c, EffectPrivilege, DomainContainer, "privileged-container", o.operand(1))
		}
		fallthrough
	case "debug":
		if i := separatorAt(args); i >= 0 {
			return a.wrapped(c, args[i+1:], a.elsewhere(c, "image:pod"))
		}
	case "delete":
		a.kubeDelete(c, &o, names)
	case "patch", "edit":
		if text := spaceless.Replace(strings.Join(WordTexts(args), "")); strings.Contains(text, "finalizers:null") || strings.Contains(text, "finalizers:[]") || strings.Contains(text, "replicas:0") || strings.Contains(text, "suspend:true") || strings.Contains(text, "eclaimPolicy:Delete") { // what waits to be deleted is gone then
			a.kubeDelete(c, &o, names)
		}
	case "get":
		if format, ok := o.value("-o", "--output"); (ok && !format.Is("name", "wide") || o.exact("--template")) && len(names) > 0 && strings.Contains(","+names[0].Text, ",secret") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainKubernetes, Op: "read-secret", Target: names[len(names)-1].Text, Secret: "cluster-secret"})
		}
	case "config":
		if len(names) > 0 && names[0].Is("view") && o.exact("--raw") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainKubernetes, Op: "read-secret", Target: "kubeconfig", Secret: "cluster-secret"})
		}
	}
	return printsText(a, c)
}

var spaceless = strings.NewReplacer(" ", "", `"`, "")

//go:noinline
func separatorAt(args []Word) int {
	return slices.IndexFunc(args, func(w Word) bool { return w.Is("--") })
}

func (a *analysis) kubeExec(c *shCall, args []Word) shValue {
	i := separatorAt(args)
	head, argv := args, []Word(nil)
	if i >= 0 {
		head, argv = args[:i], args[i+1:]
	}
	t := toolOf("kubectl")
	o := options(head, t.short, t.long, 0)
	if i < 0 { // what follows the pod is the command's, but for what kubectl knows
		first := options(args, t.short, t.long, optStop)
		pod := options(first.rest(1), t.short, t.long, optStop)
		line := options(pod.rest(1), t.short, t.long, optStop)
		argv = line.operands
	}
	in := a.elsewhere(c, "pod:"+o.operand(1))
	in.stdin = c.fr.stdin
	return a.wrapped(c, argv, in)
}

// kubeDelete names what is deleted: namespace, pvc, all of a kind, or one thing.
func (a *analysis) kubeDelete(c *shCall, o *shOpts, names []Word) {
	op := "delete"
	if len(names) > 0 {
		kind, _, _ := spell.Cut(names[0].Text, "/")
		for _, k := range strings.Split(strings.ToLower(kind), ",") {
			op = lists.First(losses.KubeLosses[strings.TrimSuffix(strings.SplitN(k, ".", 2)[0], "s")], op)
		}
	}
	if op == "delete" && o.exact("--all", "-A", "--all-namespaces") {
		op = "delete-all"
	}
	if len(names) == 2 && op == "delete" && !names[1].Dynamic && strings.ToLower(names[1].Text) != names[1].Text && !strings.Contains(names[0].Text, "role") {
		return // no object is called so: APPNAME
	}
	a.does(c, EffectDelete, DomainKubernetes, op, strings.Join(WordTexts(names), " "))
}
