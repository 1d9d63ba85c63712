package runner

import (
	"regexp"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// record is what one attempt did, for --debug.
func (b *bash) record(env []string, out agent.Outcome, err error, took time.Duration, attempt int) DebugRecord {
	command := b.body.Command.Value
	if len(b.body.Args) > 0 {
		command = strings.Join(b.body.Args, " ")
	}
	hide := newRedactor(env)
	r := DebugRecord{
		Hook: b.hook.Name, Event: b.hook.Event, Kind: policy.KindBash, Command: hide.text(command), Exit: out.Exit,
		Stderr: hide.text(out.Stderr), Micros: took.Microseconds(), Attempt: attempt,
	}
	if err != nil {
		r.Error = hide.text(err.Error())
	}
	return r
}

var (
	secretName = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?i)TOKEN|KEY|SECRET|PASSWORD|PASSWD|CREDENTIAL`) })
	secretPair = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)((?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API[_-]?KEY|ACCESS[_-]?KEY|PRIVATE[_-]?KEY)["']?\s*[=:]\s*["']?|\bBearer\s+|\bAuthorization:\s*(?:\w+\s+)?)([^\s"'&;,|<>$]+)`)
	})
	secretText = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,})`)
	})
)

// minSecret is the shortest value of a variable that is hidden: shorter ones
// are words that occur everywhere.
const minSecret = 6

const hidden = "[redacted]"

// redactor hides the values of variables whose name says that they are
// secret, what is written after such a name (`password=…`, `Bearer …`), and
// what looks like a key of a well-known provider.
type redactor struct{ values []string }

func newRedactor(env []string) redactor {
	var r redactor
	for _, kv := range env {
		name, value, _ := spell.Cut(kv, "=")
		if len(value) >= minSecret && secretName().MatchString(name) {
			r.values = append(r.values, value)
		}
	}
	// The longest first: one value may be part of another.
	lists.Order(r.values, func(a, b string) int { return lists.First(len(b)-len(a), strings.Compare(a, b)) })
	return r
}

func (r redactor) text(s string) string {
	for _, v := range r.values {
		s = strings.ReplaceAll(s, v, hidden)
	}
	return secretText().ReplaceAllString(secretPair().ReplaceAllString(s, "${1}"+hidden), hidden)
}
