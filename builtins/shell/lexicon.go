package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// lexicon adds what the words of a command say that it destroys.
func (a *analysis) lexicon(c *shCall, domain Domain, args []Word) (v shValue) {
	o := options(args, "m", "--message --title --body --comment --name --query --search --filter --grep --pattern", 0)
	if verb := losses.Named(c.argv[0].Text, o.far); !c.argv[len(c.argv)-1].Is("=", "true", "false") && verb != "" && domain == DomainOutside && !o.dry() && rulesOf(c.name) == nil {
		a.effect(c, Effect{Kind: EffectDelete, Domain: domain, Op: verb, Target: strings.Join(WordTexts(args), " ")})
		return nil
	}
	if len(args) == 0 || o.dry() || args[len(args)-1].Is("-h", "-help") || slices.ContainsFunc(o.list, func(opt shOpt) bool { return losses.Dry()[opt.name] }) {
		return nil
	}
	a.lexOpens(c, &o, args)
	named := o
	if len(losses.Tokens(c.name)) > 1 && rulesOf(c.name) == nil { // kubectl-view-secret, Get-AccessToken
		named.operands = append([]Word{NewWord(c.name)}, o.operands...)
	}
	if prints := lexCredential(&named, rulesOf(c.name) != nil); prints && c.fr.out != nil {
		return shUnknown("$("+c.name+")", shOrigin{credential, c.name + " " + strings.Join(WordTexts(args), " ")})
	} else if prints {
		a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: strings.Join(WordTexts(args), " ")})
	}
	if verb := losses.Migration(c.name, WordTexts(o.operands[:min(len(o.operands), 4)]), o.pairs()); verb != "" {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: verb, Target: strings.Join(WordTexts(o.operands), " ")})
		return nil
	}
	if verb := lists.First(a.lexVerb(c, domain, &o), lexOption(&o)); verb != "" {
		words := lists.DeleteFunc(WordTexts(o.operands), func(w string) bool { return strings.EqualFold(w, verb) })
		a.effect(c, Effect{Kind: EffectDelete, Domain: domain, Op: verb, Target: strings.Join(words, " ")})
	}
	return nil
}

// pairs are the options with their values.
func (o *shOpts) pairs() (out [][2]string) {
	for _, opt := range o.list {
		out = append(out, [2]string{opt.name, opt.value.Text})
	}
	return out
}

// production reports whether options or operands name what serves.
func (o *shOpts) production() bool {
	names := func(w Word) bool {
		return slices.ContainsFunc(losses.Tokens(w.Text), func(t string) bool { return losses.Production()[t] })
	}
	return slices.ContainsFunc(o.operands, names) || slices.ContainsFunc(o.list, func(opt shOpt) bool { return names(opt.value) || names(NewWord(opt.name)) })
}

// far reports whether options or operands say that more than the project is meant.
func (o *shOpts) far() bool {
	return slices.ContainsFunc(o.list, lexFlag) || slices.ContainsFunc(o.operands, func(w Word) bool { return losses.Elsewhere(w.Text) || w.Text == "all" })
}

// scriptLoss adds what the name of a script says that it destroys.
func (a *analysis) scriptLoss(c *shCall, operands []Word) {
	o := options(operands[1:], "", "", 0)
	if verb := losses.Named(operands[0].Text, o.far); verb != "" && !o.dry() && !HasFlag(operands, "-h") {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainOutside, Op: verb, Target: losses.Program(operands[0].Text)})
	}
}

// lexVerb looks for a verb that destroys among the first operands; the first
// verb there is decides.
func (a *analysis) lexVerb(c *shCall, domain Domain, o *shOpts) string {
	for i, w := range o.operands[:min(len(o.operands), 5)] {
		if w.Dynamic || w.Pattern {
			continue
		}
		if name, value, ok := w.cut("="); ok && WordIn(name, "action op operation command cmd mode") {
			w = value
		}
		verb, object := losses.Verb(w.Text)
		before, after := o.operands[:i], o.operands[i+1:]
		tidies := WordIn(verb, "clean cleanup clear")
		there := !tidies && lists.Has(object, "all") || slices.ContainsFunc(object, losses.Elsewhere) || slices.ContainsFunc(before, func(w Word) bool { return losses.Elsewhere(w.Text) || a.lexElsewhere(c, w) })
		switch {
		case verb == "", losses.Halts()[verb] && !o.production():
			continue
		case losses.Halts()[verb]:
			if len(after) > 0 && losses.Makes()[after[0].Text] {
				return ""
			}
			return verb
		case losses.Makes()[verb]:
			if len(after) == 0 || !losses.NamesMany(after[0].Text) && !lexNext(verb, after, o) { // run services delete, run wipe --force, run drop_schema
				return ""
			}
			continue
		case losses.TakesBack()[verb] && len(after)+len(before) > 0: // whatever it is, others have it
			return verb
		case !(domain == DomainCloud && losses.Destroys()[verb]) && (slices.ContainsFunc(object, losses.Owned) || slices.ContainsFunc(before, lexOwned) || !(there && losses.Destroys()[verb]) && len(after) > 0 && lexOwned(after[0])):
			return ""
		case losses.Destroys()[verb]:
			if domain == DomainOutside && !there && len(after) > 0 && !slices.ContainsFunc(after, func(w Word) bool {
				return !strings.ContainsAny(w.Text, "/.") || o.exact("-f", "--filename") && strings.Contains(w.Text, ".y") || a.lexElsewhere(c, w) || !disposableZone(a.zone(c, w)) || losses.Elsewhere(w.Text) && !strings.Contains(w.Text, ".")
			}) { // files of the project, or temporary ones
				return ""
			}
			return verb
		}
		if slices.ContainsFunc(o.list, func(opt shOpt) bool { return lexFlag(opt) && !(tidies && opt.name == "--yes") }) || there || verb == "down" && o.exact("-v") || len(after) > 0 && after[0].Is("all", "everything") && !tidies || slices.ContainsFunc(after, func(w Word) bool { return a.lexElsewhere(c, w) }) {
			return verb
		}
		return ""
	}
	return ""
}

// lexCredential reports whether the words of a command say that it prints a secret: auth
// token, secrets get x, show-password, oauth-token. A tool that is in the table says
// for itself when it shows one that is called a secret or credentials.
func lexCredential(o *shOpts, listed bool) bool {
	for _, opt := range o.list { // --show-secrets, --reveal-password, --format=value(access_token)
		tokens := losses.Tokens(opt.name)
		if len(tokens) > 1 && (WordIn(tokens[0], "show reveal print include expose generate") || strings.HasPrefix(opt.name, "--with-dec")) && WordIn(tokens[len(tokens)-1], "token tokens password passwords secret secrets decryption jwt") && !(opt.set && opt.value.Is("false")) ||
			opt.set && WordIn(opt.name, "-o --output --format --query --fields --field") && losses.SecretVariable(opt.value.Text) && !strings.ContainsAny(opt.value.Text, "/ ") {
			return true
		}
	}
	shows, secret := false, false
	if !slices.ContainsFunc(o.operands, func(w Word) bool {
		return losses.Holds(w.Text, "tok", "pass", "secret", "cred", "key", "jwt", "kubeconfig", "psk", "totp", "connection", "printenv")
	}) {
		return false
	}
	for i, w := range o.operands[:min(len(o.operands), 4)] {
		tokens := losses.Tokens(w.Text)
		if shows && losses.SecretVariable(w.Text) && (!listed || len(tokens) > 1) && (!strings.ContainsAny(w.Text, "/ ") || o.operands[0].Is("kv")) {
			return true
		} else if w.Dynamic || strings.ContainsAny(w.Text, "./ ") || len(tokens) > 4 && i > 0 || w.Is("set", "put", "add", "delete", "rm", "remove", "revoke", "rotate", "update", "import", "login", "list", "ls") {
			break
		} else if w.Is("get-credentials") {
			return false
		}
		if i > 0 && w.Is("token", "password", "access-key", "api-key") && o.operands[i-1].Is("create", "issue", "mint") {
			return true
		}
		next := i+1 < len(o.operands) && o.operands[i+1].Is("create", "issue", "mint", "show", "print", "get", "read")
		for j, t := range tokens {
			last := j > 0 && j == len(tokens)-1
			shows = shows || WordIn(t, "auth print show get reveal export read view display decrypt dump getenv printenv") && !(t == "export" && listed) ||
				t == "generate" && len(tokens) > 1 && WordIn(tokens[len(tokens)-1], "token password") || i > 0 && secret && WordIn(t, "create issue mint")
			switch {
			case last && losses.Keys()[tokens[j-1]+"-"+t]:
				if secret = true; i < 2 && WordIn(tokens[0], "oauth join connection") {
					return true
				}
			case losses.Keys()[t]:
				secret = secret || t != "token" && t != "tokens" || last || next || i == len(o.operands)-1
			case WordIn(t, "credentials secret secrets apikey"):
				secret = secret || !listed
			}
		}
	}
	return secret && shows
}

// lexOpens adds what is given to everybody, or to one with all rights, what takes a
// protection off, what is scaled to nothing, and what is published.
func (a *analysis) lexOpens(c *shCall, o *shOpts, args []Word) {
	says := func(list string) bool {
		return slices.ContainsFunc(o.operands, func(w Word) bool {
			return len(w.Text) < 50 && slices.ContainsFunc(losses.Tokens(w.Text), func(t string) bool { return WordIn(t, list) })
		})
	}
	op := ""
	for _, w := range o.operands[:min(2, len(o.operands))] {
		if t := losses.Tokens(w.Text); (len(t) < 4 || t[0] == "publish" && len(t) < 6) && lists.Has(t, "publish") && !lists.Has(t, "local") && c.name != "yalc" && !losses.Messengers()[c.name] && !strings.ContainsAny(w.Text, "/=") {
			op = "publish"
		}
	}
	for i, w := range args {
		option, found := strings.HasPrefix(w.Text, "--"), ""
		if file, ok := spell.CutPrefix(w.Text, "file://"); ok {
			v, _ := a.written(NewWord(file), c.fr)
			w = v.word()
		}
		if w.Text == "" || w.Dynamic && !strings.Contains(w.Text, "Effect") || !option && !losses.Holds(w.Text, "public", "all", "admin", "owner", "/0", "effect", "=0", "fullaccess") {
			continue
		}
		name, value, _ := spell.Cut(strings.TrimLeft(w.Text, "-"), "=")
		if value == "" && i+1 < len(args) {
			value = args[i+1].Text
		}
		switch m := losses.Opens().FindStringSubmatch(w.Text); {
		case m != nil && (m[1] != "" || says("put set add edit update authorize grant attach patch modify ch allow rules")),
			option && WordIn(name, "publicly-accessible allow-blob-public-access public-access") && value != "false",
			losses.TakesOff(w.Text) && strings.Contains(w.Text, "--"), losses.ForEverybody(w.Text), option && WordIn(name, "role principal principals group-names source-address-prefixes verb") && WordIn(value, "Owner * all Internet Any"),
			option && value == "inherited" && name == "public-access-prevention", option && WordIn(value, "0.0.0.0") && WordIn(name, "start-ip-address authorized-networks source-ranges"):
			found = "public"
		case option && value == "0" && losses.Counts()[name], !option && strings.HasSuffix(w.Text, "=0") && says("scale"):
			found = "scale-to-zero"
		}
		if found != "" && !says("list get describe show view search ls cat") {
			op = found
		}
	}
	if losses.TakesOff(c.name+" "+strings.Join(WordTexts(args), " ")) && !says("list get describe show view search ls cat log commit config diff") {
		op = "public"
	}
	if !strings.Contains(strings.Join(WordTexts(args), " "), "/.ssh/") && says("ssh deploy login authorized sshkey keys access collaborator collaborators") && says("add create import send upload register invite") && says("key keys profile access collaborator collaborators") && slices.ContainsFunc(o.operands, func(w Word) bool { return losses.LetsIn(w.Text) }) {
		op = "public"
	}
	if op != "" {
		a.effect(c, Effect{Kind: EffectWrite, Domain: DomainPlatform, Op: op, Target: strings.Join(WordTexts(args), " ")})
	}
}

// takenOff adds that a program that edits files takes a protection off.
func (a *analysis) takenOff(c *shCall, programs []Word) {
	for _, w := range programs {
		if losses.EditsOff(w.Text) {
			a.effect(c, Effect{Kind: EffectWrite, Domain: DomainPlatform, Op: "public", Target: w.Text})
		}
	}
}

func lexOwned(w Word) bool { return losses.Owned(w.Text) }

// lexNext reports whether what follows a verb that makes or starts something is what it is
// done to: run wipe --force, run drop_schema.
func lexNext(verb string, after []Word, o *shOpts) bool {
	next, object := losses.Verb(after[0].Text)
	if !losses.Destroys()[next] {
		return false
	}
	if len(object) == 0 {
		return WordIn(verb, "run build index version plan view import export dump release stack query log logs") && len(after)+len(o.list) > 1
	}
	return WordIn(verb, "run exec start") && slices.ContainsFunc(object, losses.Elsewhere)
}

// lexFlag reports whether an option says that no question is asked, that much is meant, or
// what lies elsewhere.
func lexFlag(opt shOpt) bool {
	if losses.Flags()[opt.name] {
		return true
	}
	tokens := losses.Tokens(opt.name)
	return len(opt.name) > 3 && len(tokens) > 0 && (slices.ContainsFunc(tokens, func(t string) bool { return losses.Presses()[t] }) || losses.Names()[tokens[len(tokens)-1]]) ||
		slices.ContainsFunc(losses.Tokens(opt.name+" "+opt.value.Text), func(t string) bool { return losses.Production()[t] })
}

//go:noinline
func disposableZone(z Zone) bool { return z == ZoneProject || z == ZoneTemp || z == ZoneCache }

func (a *analysis) zone(c *shCall, w Word) Zone {
	z, _ := a.placeIn(a.resolve(w, c.fr).shape, c.fr)
	return z
}

// lexElsewhere reports whether a word names something that is not the
// project's own.
func (a *analysis) lexElsewhere(c *shCall, w Word) bool {
	text := w.Text
	switch {
	case strings.Contains(text, "://") || remotePath(w) && !strings.HasSuffix(text, ":"):
		return !strings.HasPrefix(text, "file:")
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		z := a.zone(c, w)
		return !disposableZone(z) && z != ZoneProjectRoot && z != ZoneUnknown
	case strings.ContainsAny(text, "/."):
		return losses.DomainLike(text) && !strings.Contains(text, "/")
	}
	return losses.Elsewhere(text)
}

// lexOption looks for an option that destroys: --delete-all, --purge.
func lexOption(o *shOpts) string {
	for _, opt := range o.list {
		tokens := losses.Tokens(opt.name)
		if verb, _ := losses.Verb(opt.value.Text); losses.Destroys()[verb] && WordIn(opt.name, "--action --op --operation --mode --command --task") {
			return verb
		}
		if !strings.HasPrefix(opt.name, "-") || len(opt.name) < 6 || len(tokens) == 0 || opt.set && opt.value.Is("false", "no", "0", "never") {
			continue
		}
		verb, rest := tokens[0], tokens[1:]
		if each, object := losses.Verb(tokens[0]); len(rest) == 0 && len(object) > 0 { // --eraseall
			verb, rest = each, object
		}
		if verb == "force" && len(rest) > 0 {
			verb, rest = rest[0], rest[1:]
		}
		takes := losses.Takes()[verb] && (len(rest) > 0 || o.production())
		if len(rest) == 1 && WordIn(rest[0], "missing existing extra extraneous unmatched stale old removed") && o.production() {
			rest = nil
		}
		if !losses.Destroys()[verb] && !takes || slices.ContainsFunc(rest, losses.Owned) {
			continue
		}
		if len(rest) == 0 || slices.ContainsFunc(rest, func(t string) bool { return losses.Elsewhere(t) || t == "all" && !takes }) {
			return verb
		}
	}
	return ""
}
