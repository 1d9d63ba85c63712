// Package losses holds what is known of programs and languages as data: the
// words that say that something is destroyed, what tools take away for good by
// their manuals, and what SQL does.
package losses

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Words is a list of words, made when it is first looked at.
//
//go:noinline
func Words(list string) func() map[string]bool {
	return lazy.Value(func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
		return m
	})
}

// The lexicon: what the words of a command say of a program nobody listed.
var (
	// Destroys are verbs after which a thing is gone, Takes those that
	// as often mean something of the project's own.
	Destroys = Words(`delete destroy drop purge wipe truncate terminate erase nuke obliterate flush flushall flushdb deprovision decommission teardown revoke unpublish
		expunge annihilate zap cull cleanse undeploy rollback dropdb deregister unregister droptable hard-delete yank deactivate
		dismantle demolish eradicate vaporize annul exterminate deauthorize shred deallocate factory-reset decom deprovisioned incinerate zeroize zeroise destruct selfdestruct raze bulldoze`)
	Takes = Words(`remove rm rmi rb uninstall prune reset clean cleanup clear del discard forget expire evict empty restore unset drain disable unprovision unlink detach overwrite reinit wipeout cancel down
		scrub void abort kill gc trash retire dismiss kick ban suspend shutdown poweroff unassign unbind unenroll unpair disown anonymize anonymise redact scramble obfuscate offboard sunset invalidate burn reimage reclaim nullify sever expel
		vacate clobber deplete rescind override erasure tombstone quarantine evacuate implode`)
	// Halts are verbs of what is daily work but for what serves.
	Halts = Words("stop pause close archive transfer recreate rebuild failover freeze trim halt hibernate")
	// Makes are verbs that look, make or start something: what follows one
	// is a name.
	Makes = Words(`list ls get show describe view info status inspect cat read search find help version plan preview diff validate check lint test explain log logs tail
		watch print history top stats count doctor audit outdated whoami login init new create add make generate gen scaffold g install i build compile start serve run exec up
		fetch clone checkout switch commit merge rebase open edit format fmt convert encode decode render echo sleep wait completion upgrade update bump import connect
		attach bench dev docs doc tree why which verify sign parse eval repl console shell grep note comment ask say man annotate alias rename set-default dump export ask search set makemigrations revision`)
	// Own are things that are made again, or are only names for others.
	Own = Words(`cache cached tmp temp session context alias aliases dist output coverage artifact store locals unavailable unused dangling orphan toolchain sdk plugin
		extension package pkg dep dependency dependencies module lockfile history fixture mock template theme component test spec line char whitespace comment duplicate
		metadata layer frame track bookmark todo note label breakpoint trailing header column node_modules build log cookie`)
	// Outside are things that lie elsewhere, or that others use too.
	Outside = Words(`db database schema table collection cluster volume bucket namespace server instance vm node disk host account user member topic queue stack environment env
		deployment service tenant org organization team domain dns zone record certificate cert secret token backup snapshot repository repo project app site index indices
		partition pool dataset stream role policy policies keyspace shard replica broker consumer offset resource infrastructure infra fleet machine droplet function data everything
		world range release webhook endpoint vault key group workspace generation pod realm tunnel customer subscription message document product device slot keyslot blob image folder file`)
	Production = Words("prod production prd live remote factory")
	// TakesBack are verbs that take away what others were given.
	TakesBack = Words("unpublish revoke yank terminate deprovision decommission deregister")
	// Flags are options that say that more than one named thing is meant.
	Flags = Words("--all --all-users --all-tenants --i-understand --all-data --all-namespaces --all-projects --remote --prod --production --everything --volumes --with-data --delete-data --no-preserve-root --purge-data --force --yes --confirm --no-dry-run --auto-approve --skip-confirmation --no-confirm")
	// Presses are words in the name of an option that says the same, Names those at its end
	// where its value names what lies elsewhere.
	Presses = Words("yes sure really force forced confirm confirmed approve unsafe dangerous danger permanently permanent irreversible")
	Names   = Words("id ids sid uuid guid arn ocid oid")
	// Keys are what a credential is called.
	Keys = Words("token tokens password passwords passphrase jwt kubeconfig psk totp api-keys account-keys access-keys storage-keys secret-key private-key unlock-key recovery-key connection-string connection-strings oauth-token oauth-tokens join-token access-token list-keys auth-key")
	// Dry are options and words with which a program only says what it would do.
	Dry = Words("--check --diff --simulate --test --list --print --show -dry-run --dry --explain --estimate")
)

// Tokens are the words in a name, in lower case: dropTable is drop and table.
func Tokens(text string) []string {
	if len(text) > 120 {
		return nil
	}
	var out []string
	start, lower := -1, false
	end := func(i int) {
		if start >= 0 {
			out = append(out, strings.ToLower(text[start:i]))
		}
		start = -1
	}
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end(i)
		} else if start < 0 || lower && unicode.IsUpper(r) {
			end(i)
			start = i
		}
		lower = unicode.IsLower(r)
	}
	end(len(text))
	return out
}

// Verb splits a word that may be a command into its verb and what it is about: delete-table, apps:destroy, dropTable, pkg.Service/DeleteTable.
func Verb(written string) (verb string, object []string) {
	text := strings.TrimPrefix(written, "+")
	if len(text) > 60 || strings.ContainsAny(text, " \n=@$\"'<>,") {
		return "", nil
	}
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		noun := text[:i]
		if text = text[i+1:]; Destroys()[text] && has(Outside(), noun) {
			return text, []string{noun}
		} else if text == "" || !unicode.IsUpper(rune(text[0])) || strings.HasPrefix(written, "/") || strings.HasPrefix(written, ".") {
			return "", nil // a path
		}
	}
	if known := strings.ToLower(text); Destroys()[known] || Takes()[known] || Makes()[known] || Halts()[known] {
		return known, nil
	}
	tokens := Tokens(text)
	if each, ok := spell.CutSuffix(strings.ToLower(text), "all"); ok && (Destroys()[each] || Takes()[each] && !In(each, "un rm kill")) {
		return each, []string{"all"} // eraseall
	}
	if len(tokens) == 1 && len(text) < 20 {
		for _, verb := range [...]string{"delete", "del", "drop", "destroy", "purge", "remove", "rm", "clear", "wipe", "flush"} { // delzone, userdel
			for _, rest := range [...]string{strings.TrimPrefix(tokens[0], verb), strings.TrimSuffix(tokens[0], verb)} {
				if rest != tokens[0] && has(Outside(), rest) {
					return verb, []string{rest}
				}
			}
		}
	}
	if len(tokens) < 2 || len(tokens) > 5 && !strings.Contains(text, ":") || tokens[0] == "no" || strings.Contains(text, "--") {
		return "", nil
	}
	noun, _, task := spell.Cut(text, ":") // noun:verb-more
	if i := strings.LastIndexByte(text, '.'); i > 0 && !task {
		noun = text[:i]
	}
	for _, i := range []int{0, len(tokens) - 1, min(len(Tokens(noun)), len(tokens)-1), 1} {
		if t := tokens[i]; Destroys()[t] || Takes()[t] || (i == 0 || strings.ContainsAny(text, ":.")) && Makes()[t] {
			for j, other := range tokens {
				if j != i {
					object = append(object, other)
				}
			}
			if strings.Contains(text, ".") && len(tokens) == 2 && !Elsewhere(tokens[1-min(i, 1)]) && !strings.HasSuffix(text, "ml") {
				return "", nil // a file: x.drop, drop.png
			}
			return t, object
		}
	}
	return "", nil
}

// Holds reports whether a text, in lower case, holds one of a few others.
func Holds(text string, parts ...string) bool { return HoldsAny(strings.ToLower(text), parts) }

// HoldsAny reports whether a text holds one of some.
//
//go:noinline
func HoldsAny(text string, some []string) bool {
	for _, part := range some {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// Any reports whether a name, or a word in it, is one of a list.
func Any(list map[string]bool, name string) bool {
	return list[name] || !strings.ContainsAny(name, "./") && slices.ContainsFunc(Tokens(name), func(t string) bool { return list[t] })
}

// Owned reports whether a name is of what is made again.
func Owned(name string) bool {
	return slices.ContainsFunc(Tokens(name), func(t string) bool { return has(Own(), t) })
}

// Elsewhere reports whether a name is of what lies elsewhere.
func Elsewhere(name string) bool {
	return slices.ContainsFunc(Tokens(name), func(t string) bool { return has(Outside(), t) || Production()[t] })
}

// has reports whether a list has a noun, or what it is one of.
func has(list map[string]bool, noun string) bool {
	return list[noun] || list[strings.TrimSuffix(noun, "s")]
}

// Named is the verb that destroys in the name of a program or script: trash-empty,
// drop-database.sh; one that is the whole name of a script counts where far says that it is
// about more than the project: nuke.sh, teardown.sh prod.
func Named(program string, far func() bool) string {
	name, extension, script := spell.Cut(program[strings.LastIndexAny(program, `/\`)+1:], ".")
	script = script && In(extension, "sql sh bash zsh py js ts mjs rb pl php ps1 bat cmd exs") || strings.Contains(program, "/") && program[0] != '/'
	tokens := Tokens(name)
	if short, ok := spell.CutSuffix(name, "delete"); ok && len(tokens) == 1 && len(short) > 2 { // ldapdelete
		return "delete"
	}
	if len(tokens) == 0 || Owned(name) {
		return ""
	}
	first, last := tokens[0], tokens[len(tokens)-1]
	switch {
	case len(tokens) == 1:
		if verb, object := Verb(first); In("all", strings.Join(object, " ")) && Destroys()[verb] { // deleteall
			return verb
		}
		if script && Destroys()[first] && (In(first, "destroy nuke wipe obliterate decommission dropdb") || far()) {
			return first
		}
	case Destroys()[last] || In(last, "uninstall empty nuke"):
		return last
	case (Destroys()[first] || In(first, "reset remove wipe empty")) && (Elsewhere(name) || Destroys()[first] && far() || script && (lists.Has(tokens, "all") || lists.Has(tokens, "everything"))):
		return first
	}
	return ""
}

// Migration is what a tool of migrations, whichever it is, takes back of a database as a
// whole: migrate:fresh, db-migrate reset, sqitch revert --to @ROOT.
func Migration(program string, operands []string, options [][2]string) string {
	about, verb, many := false, "", false
	if !slices.ContainsFunc(operands, func(w string) bool { return Holds(w, "res", "wipe", "down", "undo", "back", "revert", "redo") }) {
		return ""
	}
	for i, w := range append([]string{program}, operands...) {
		if i > 0 && strings.ContainsAny(w, "/. $") {
			continue
		}
		for _, t := range Tokens(w) {
			about = about || strings.Contains(t, "migrat") || In(t, "mongock sqitch sqlx diesel umzug ragtime prisma sequelize knex typeorm db database")
			switch {
			case i > 0 && In(t, "reset fresh refresh wipe"):
				verb, many = t, true
			case i > 0 && In(t, "down revert undo downgrade backwards redo rollback"):
				verb = "migrate-step"
			}
		}
		n, err := strconv.Atoi(w)
		many = many || err == nil && n != 1 || In(w, "all first base zero to @ROOT")
	}
	for _, opt := range options {
		many = many || opt[0] == "--all" || In(opt[0], "--to --to-version --target-version --step --last --version -n -t -d -M") && opt[1] != "" && opt[1] != "1"
	}
	if !about || !many {
		return ""
	}
	return verb
}

// Family is the name of a variable without what makes it one of many: GIT_CONFIG_VALUE_0 is
// GIT_CONFIG_VALUE, TF_CLI_ARGS_apply is TF_CLI_ARGS.
func Family(name string) string {
	name = strings.TrimRight(name, "0123456789_")
	if strings.HasPrefix(name, "TF_CLI_ARGS") {
		return "TF_CLI_ARGS"
	}
	return strings.ToUpper(name)
}

// Program is the base name of a program, without .exe.
func Program(program string) string {
	name := program[strings.LastIndexByte(program, '/')+1:]
	if i := strings.LastIndexByte(name, '\\'); i >= 0 && strings.Contains(name, ":\\") {
		name = name[i+1:]
	}
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name
}

// NamesMany reports whether a word names things of a kind that lie elsewhere.
func NamesMany(text string) bool {
	return strings.HasSuffix(text, "s") && Outside()[text[:len(text)-1]]
}
