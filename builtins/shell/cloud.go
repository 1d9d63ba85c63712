package shell

import (
	"strings"
)

const (
	del = EffectDelete
	wr  = EffectWrite
)

func fillCloud() {
	rulesFor(shTool{how: optDash, long: "-var -var-file -target -chdir -state -lock-timeout -parallelism"}, []shRule{
		{"terraform tofu terragrunt", "destroy", "", "", del, DomainCloud, "destroy"},
		{"terraform tofu terragrunt", "apply", "-destroy --destroy", "", del, DomainCloud, "destroy"},
		{"terraform tofu terragrunt", "run-all destroy", "", "", del, DomainCloud, "destroy"},
		{"terraform tofu terragrunt", "state rm", "", "-dry-run", del, DomainCloud, "state-remove"},
		{"terraform tofu terragrunt", "workspace delete", "-force", "", del, DomainCloud, "workspace-delete"},
	})
	rulesFor(shTool{short: "scCt", long: "--stack --cwd --target --config --context --app --profile --region --stage --stack-name"}, []shRule{
		{"pulumi", "destroy|down", "", "--preview-only", del, DomainCloud, "destroy"},
		{"pulumi", "stack rm", "", "", del, DomainCloud, "stack-remove"},
		{"cdk cdktf", "destroy", "", "", del, DomainCloud, "destroy"},
		{"serverless sls sst", "remove", "", "", del, DomainCloud, "destroy"},
		{"sam copilot", "delete", "", "", del, DomainCloud, "destroy"},
		{"eksctl kops k3d kind minikube", "delete", "", "", del, DomainCloud, "delete-cluster"},
	})
	cloud := shTool{long: "--profile --region --output --query --endpoint-url --project --zone --format --account --configuration --subscription --resource-group --name --cli-input-json --filter --impersonate-service-account -n -g --bucket --key"}
	rulesFor(cloud, []shRule{
		{"aws", "s3 rb", "", "", del, DomainCloud, "bucket-delete"},
		{"aws", "s3 rm", "--recursive", "", del, DomainCloud, "objects-delete"},
		{"aws", "s3 rm", "", "", del, DomainCloud, "object-delete"},
		{"aws", "s3 sync", "--delete", "", del, DomainCloud, "objects-delete"},
		{"aws", "secretsmanager|ssm get-secret-value|get-parameter", "", "", EffectRead, DomainCloud, "read-secret"},
		{"aws", "* delete-*|terminate-*|purge-*|destroy-*|deregister-*|remove-*|revoke-*|release-address|schedule-key-deletion", "", "", del, DomainCloud, "delete"},
		{"gsutil", "rm", "-r -R", "", del, DomainCloud, "objects-delete"},
		{"gsutil", "rm", "", "", del, DomainCloud, "object-delete"},
		{"gsutil", "rb", "", "", del, DomainCloud, "bucket-delete"},
		{"gsutil", "rsync", "-d", "-n", del, DomainCloud, "objects-delete"},
		{"bq", "rm", "", "", del, DomainCloud, "delete"},
		{"s3cmd s5cmd mc", "rb|del|rm|rmdir|--recursive", "", "", del, DomainCloud, "objects-delete"},
		{"rclone", "purge|delete|deletefile|rmdir|rmdirs|sync|cleanup", "", "-n", del, DomainCloud, "objects-delete"},
		{"heroku", "apps:destroy|apps:delete|destroy|addons:destroy|pg:reset|domains:clear", "", "", del, DomainPlatform, "app-delete"},
		{"vercel now", "rm|remove", "", "", del, DomainPlatform, "app-delete"},
		{"vercel now", "project|projects rm|remove", "", "", del, DomainPlatform, "app-delete"},
		{"netlify ntl", "sites:delete", "", "", del, DomainPlatform, "app-delete"},
		{"wrangler", "delete", "", "", del, DomainPlatform, "app-delete"},
		{"wrangler", "d1|r2|kv|kv:namespace|queues *", "", "", EffectRead, DomainPlatform, "manage"},
		{"fly flyctl", "apps|app|volumes|volume|machine|machines|postgres destroy|delete", "", "", del, DomainPlatform, "app-delete"},
		{"fly flyctl", "destroy", "", "", del, DomainPlatform, "app-delete"},
		{"railway render", "delete|down", "", "", del, DomainPlatform, "app-delete"},
		{"firebase", "firestore:delete|database:remove|hosting:disable|functions:delete|projects:delete", "", "", del, DomainPlatform, "data-delete"},
		{"vault", "kv delete|destroy", "", "", del, DomainPlatform, "secret-delete"},
		{"vault", "kv metadata delete", "", "", del, DomainPlatform, "secret-delete"},
		{"vault", "delete", "", "", del, DomainPlatform, "secret-delete"},
		{"vault", "secrets|auth disable", "", "", del, DomainPlatform, "secret-delete"},
		{"vault", "operator seal", "", "", wr, DomainPlatform, "seal"},
		{"consul", "kv delete", "", "", del, DomainPlatform, "data-delete"},
		{"nomad", "job stop", "-purge", "", del, DomainPlatform, "job-purge"},
		{"nomad", "system gc", "", "", del, DomainPlatform, "job-purge"},
		{"etcdctl", "del", "", "", del, DomainDatabase, "keys-delete"},
	})
}

func fillCloud2() {
	rulesFor(shTool{own: true}, []shRule{
		{"gcloud", "secrets versions access", "", "", EffectRead, DomainCloud, "read-secret"},
		{"az", "keyvault secret show", "", "", EffectRead, DomainCloud, "read-secret"},
	})
	rulesFor(shTool{short: "XRHfFqtb", long: "--method --repo --field --raw-field --header --jq --template --input --hostname --registry --tag --otp --prefix --workspace --body --title"}, []shRule{
		{"gh", "repo delete", "", "", del, DomainPlatform, "repository-delete"},
		{"gh", "repo archive", "", "", wr, DomainPlatform, "repository-archive"},
		{"gh", "release|secret|variable|label|ssh-key|gpg-key|codespace|cs|cache|gist|environment|ruleset|deploy-key delete|remove", "", "", del, DomainPlatform, "delete"},
		{"gh", "repo deploy-key delete", "", "", del, DomainPlatform, "delete"},
		{"gh", "issue delete", "", "", del, DomainPlatform, "delete"},
		{"gh", "auth token", "", "", EffectRead, DomainPlatform, "read-token"},
		{"gh", "api", "-X=DELETE --method=DELETE", "", del, DomainPlatform, "api-delete"},
		{"glab", "repo|project delete", "", "", del, DomainPlatform, "repository-delete"},
		{"glab", "release|variable|label|ssh-key|issue|mr|snippet delete|remove", "", "", del, DomainPlatform, "delete"},
		{"glab", "api", "-X=DELETE --method=DELETE", "", del, DomainPlatform, "api-delete"},
	})
}

func fillCloud3() {
	programs((*analysis).deleteWord, "gcloud az doctl linode-cli hcloud ibmcloud oci scw ovh exo vultr vultr-cli tccli aliyun yc govc")
	programs((*analysis).npm, "npm yarn pnpm bun")
	programs((*analysis).publisher, "cargo gem twine dotnet nuget")
	programs((*analysis).ansible, "ansible")
}

// deleteWord is a tool whose commands say what they do in one word, after the
// name of the thing: gcloud compute instances delete NAME.
func (a *analysis) deleteWord(c *shCall) shValue {
	o := options(c.args(), "nolgqus", "--project --zone --region --format --filter --account --resource-group --name --subscription --query --output --ids --type --command --instance --secret --vault-name", 0)
	if o.dry() {
		return printsText(a, c)
	}
	if rulesOf(c.name) != nil {
		for _, r := range rulesOf(c.name) {
			if rest, ok := r.matches(&o); ok {
				a.resource(c, r.kind, r.domain, r.op, rest)
				return printsText(a, c)
			}
		}
	}
	if code, ok := o.value("--command"); ok && (o.first("compute", "ssh") || o.first("ssh")) {
		in := a.elsewhere(c, "ssh:"+o.operand(len(o.operands)-1))
		return a.interpret(c, code.value(), in, c.name)
	}
	for i, w := range o.operands {
		if i >= 5 {
			break
		}
		switch t := strings.ToLower(w.Text); {
		case t == "delete", t == "destroy", t == "purge", t == "rm", t == "remove", t == "terminate", t == "rb", strings.HasPrefix(t, "delete-"), strings.HasPrefix(t, "terminate-"):
			if i == 0 {
				break
			}
			what := append(WordTexts(o.operands[:i]), WordTexts(o.operands[i+1:])...)
			a.effect(c, Effect{Kind: EffectDelete, Domain: DomainCloud, Op: "delete", Target: strings.Join(what, " ")})
			return printsText(a, c)
		}
	}
	return printsText(a, c)
}

// npm is a package manager: it runs programs of packages, and publishes.
func (a *analysis) npm(c *shCall) shValue {
	o := options(c.args(), "CwFc", "--prefix --workspace --filter --cwd --dir --registry --tag --otp --call -c", optStop)
	if o.dry() || len(o.operands) == 0 {
		return printsText(a, c)
	}
	rest := o.operands[1:]
	switch sub := o.operands[0].Text; sub {
	case "unpublish":
		if !HasFlag(rest, "--dry-run") {
			a.resource(c, EffectDelete, DomainPlatform, "unpublish", rest)
		}
	case "exec", "x", "dlx":
		if code, ok := o.value("-c", "--call"); ok {
			return a.interpret(c, code.value(), a.childShell(c), c.name)
		}
		inner := options(rest, "pcwF", "--package --call --filter", optStop)
		if code, ok := inner.value("-c", "--call"); ok {
			return a.interpret(c, code.value(), a.childShell(c), c.name)
		}
		return a.wrapped(c, inner.operands, c.fr)
	case "owner", "access", "token":
		a.resource(c, EffectWrite, DomainPlatform, "account", rest)
	case "config":
		if len(rest) > 0 && rest[0].Is("get", "list") && strings.Contains(strings.Join(WordTexts(rest), " "), "_auth") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainPlatform, Op: "read-token", Target: "npm", Secret: "token"})
		}
	case "run", "run-script":
		if c.name == "bun" && len(rest) > 0 && programOf(rest[0].Text) != nil {
			return a.wrapped(c, rest, c.fr)
		}
	case "-e", "--eval":
		return a.interpreter(c)
	default:
		if c.name != "npm" && (programOf(sub) != nil || rulesOf(sub) != nil) && !packageCommands[sub] {
			return a.wrapped(c, o.operands, c.fr)
		}
	}
	if c.name == "bun" && HasFlag(c.args(), "-e", "--eval", "-p") {
		return a.interpreter(c)
	}
	return printsText(a, c)
}

// packageCommands are commands of package managers that are programs as well.
var packageCommands = map[string]bool{
	"link": true, "unlink": true, "rm": true, "test": true, "install": true, "pack": true, "set": true, "env": true, "why": true, "patch": true, "rebuild": true, "dedupe": true,
}

func HasFlag(args []Word, flags ...string) bool {
	for _, w := range args {
		if w.Is(flags...) {
			return true
		}
	}
	return false
}

// publisher takes back what was published.
func (a *analysis) publisher(c *shCall) shValue {
	o := options(c.args(), "v", "--version --vers --registry --source", 0)
	switch {
	case o.exact("--dry-run", "--help"):
	case o.first("yank") && !o.exact("--undo"), o.first("nuget", "delete"), o.first("delete"):
		a.resource(c, EffectDelete, DomainPlatform, "unpublish", o.operands[1:])
	}
	return printsText(a, c)
}

// ansible runs a module on other machines; shell and command take code.
func (a *analysis) ansible(c *shCall) shValue {
	o := options(c.args(), "imaeuflt", "--inventory --module-name --args --extra-vars --user --limit", 0)
	if code, ok := o.value("-a", "--args"); ok && !o.exact("-C", "--check") {
		in := a.elsewhere(c, "ssh:"+o.operand(0))
		return a.interpret(c, code.value(), in, c.name)
	}
	return printsText(a, c)
}
