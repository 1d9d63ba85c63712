package winshell

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
)

// row is what a cmdlet, a method or a program of Windows is in the POSIX shell.
type row struct {
	name string
	// params are the parameters of a cmdlet: + stands before those that also take
	// a value by their place, - before those that take none, and a=b is a second name.
	params string
	// clauses are forms with conditions before them, the first that holds counts.
	clauses []clause
}

// clause is a form: {x} is the value of a parameter, {x?text} text where it
// is given, {x!text} where it is not, {x:text} text and the value where it is
// given; = leaves the command as it is. Its condition, between question marks, has
// words of which one must be there, or name= and the values of which it must have one;
// ~ stands before what must be in a word, & between two conditions.
type clause struct{ cond, form string }

// table is table.txt, packed.
//
//go:embed table.txt.gz
var table string

var tables = lazy.Value(func() map[string]string { return packed.Parts(table) })

// rows reads a part of the table: a line has names, parameters and clauses with ;; between, or
// after = the name of a text and the text that lines have in place of %name.
//
//go:noinline
func rows(heading string) func() map[string]*row {
	return lazy.Value(func() map[string]*row {
		out := map[string]*row{}
		text := tables()[heading]
		for line := range strings.Lines(text) {
			if name, long, ok := spell.Cut(strings.TrimSpace(line), " "); ok && name[0] == '=' {
				text = strings.ReplaceAll(text, "%"+name[1:], long)
			}
		}
		for line := range strings.Lines(text) {
			part := strings.SplitN(strings.TrimSpace(line), "|", 3)
			if len(part) < 3 {
				continue
			}
			names := strings.Fields(part[0])
			w := &row{name: names[0], params: part[1]}
			for _, text := range strings.Split(part[2], ";;") {
				c := clause{form: strings.TrimSpace(text)}
				if rest, ok := spell.CutPrefix(c.form, "?"); ok {
					c.cond, c.form, _ = spell.Cut(rest, "? ")
				}
				w.clauses = append(w.clauses, c)
			}
			for _, name := range names {
				out[name] = w
			}
		}
		return out
	})
}

// code is what the row says of values; false where it leaves the command as it is.
// What no clause is about does nothing.
func (w *row) code(given map[string][]word) (string, bool) {
	for _, c := range w.clauses {
		if c.cond == "" || holds(c.cond, given) {
			return filled(c.form, given), c.form != "="
		}
	}
	return ":", true
}

var cmdlets = rows("cmdlets")

// programs are those of Windows, and the commands of cmd itself.
var programs = rows("programs")

// methods are what methods do, with {0} for what they are of and {1} and on for
// their arguments; owner is the type they are of where it says what they do.
var methods = rows("methods")

// takingVerbs are those of cmdlets that take something away, ownNouns what is made
// again, harmlessVerbs those that look.
var (
	takingVerbs = losses.Words("remove clear reset uninstall disable stop unregister revoke format initialize dismount suspend revert undo lock unprotect restore")
	ownNouns    = losses.Words("host history variable module job pssession psbreakpoint typedata event formatdata transcript package pssnapin table list wide custom hex dnsclientcache psdrive breakpoint alias diskimage")

	harmlessVerbs = losses.Words("get test measure select sort group format out convertto convertfrom write show find compare resolve split wait tee import search")
	secretNouns   = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(secret|token|password|(account|access|storage|api|master|private)key|secretvalue|storedcredential|publishingprofile)s?$`)
	})
	plainly  = pattern(`(?i)-(?:asplaintext|withdecryption)\b`)
	runnable = losses.Words("bat cmd com exe msi ps1 vbs msix appinstaller")
	scVerbs  = losses.Words("delete stop config create query start failure")
)
