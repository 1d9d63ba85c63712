// Package approval holds what `approval:` of a policy says: who may answer a
// question that the agent cannot put to its user, how many must, and for how long an
// answer counts.
package approval

import (
	"encoding/json"
	"path"
	"slices"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// What holds where nothing is written.
const (
	DefaultTTL     = time.Hour
	DefaultLongest = 24 * time.Hour
)

// Block is `approval:` of one policy file. A value that is not written is zero.
type Block struct {
	// Tier is that of the file: the lower, the more it is trusted.
	Tier uint8 `json:"tier"`
	// Always is true where questions become approvals also when the agent can ask.
	Always bool `json:"always,omitempty"`
	// Wait is how long a call waits for its answer, negative for not at all, TTL how long
	// a question may be answered and an unused grant be used.
	Wait time.Duration `json:"wait,omitempty"`
	TTL  time.Duration `json:"ttl,omitempty"`
	// Longest bounds a grant that counts more than once; negative is none such.
	Longest time.Duration `json:"longest,omitempty"`
	Rule
	Rules []Rule `json:"rules,omitempty"`
	// Groups are people by the name of their group.
	Groups map[string][]string `json:"groups,omitempty"`
	// Source is Rego that refuses answers, "" if there is none; At is where it is written, with
	// no text where the policy was not read from its source.
	Source  string    `json:"source,omitempty"`
	At      diag.Text `json:"-"`
	Webhook *Webhook  `json:"webhook,omitempty"`
}

// Rule says who answers for the hooks whose name the glob Hook matches.
type Rule struct {
	Hook      string   `json:"hook,omitempty"`
	Approvers []string `json:"approvers,omitempty"`
	Quorum    int      `json:"quorum,omitempty"`
}

// Webhook is where new questions are posted.
type Webhook struct {
	URL string `json:"url"`
	// Format is json or slack.
	Format string `json:"format"`
}

// Blocks are those of a policy, the most trusted first.
type Blocks []Block

// Add puts a block in its place.
func (b *Blocks) Add(n Block) {
	i := slices.IndexFunc(*b, func(o Block) bool { return o.Tier > n.Tier || o.Tier == n.Tier && o.key() > n.key() })
	if i < 0 {
		i = len(*b)
	}
	*b = lists.Insert(*b, i, n)
}

func (b *Block) key() string {
	text, err := json.Marshal(b)
	if err != nil {
		panic("approval: " + err.Error()) // it is made of texts and numbers
	}
	return string(text)
}

// Key is a text that is equal for equal Blocks, "" if there is none.
func (b Blocks) Key() string {
	out := ""
	for i := range b {
		out += b[i].key() + "\n"
	}
	return out
}

// Asker is a hook that asks.
type Asker struct {
	Name string
	Tier uint8
}

// Terms are what holds for one question.
type Terms struct {
	// Anyone is true where no approvers are named; else only Approvers may answer.
	Anyone    bool     `json:"anyone,omitempty"`
	Approvers []string `json:"approvers,omitempty"`
	Quorum    int      `json:"quorum"`
	// Longest is 0 where a grant counts once only.
	Longest time.Duration       `json:"longest,omitempty"`
	Groups  map[string][]string `json:"groups,omitempty"`
	Sources []string            `json:"sources,omitempty"`

	Wait     time.Duration `json:"-"`
	TTL      time.Duration `json:"-"`
	Always   bool          `json:"-"`
	Webhooks []Webhook     `json:"-"`
}

// For is what holds for a question of some hooks: the strictest of all that is
// written. false means that some hook's question becomes no approval, as only a file
// that is trusted no less than the hook may make it one.
func (b Blocks) For(askers []Asker) (t Terms, ok bool) {
	for _, a := range askers {
		if !slices.ContainsFunc(b, func(o Block) bool { return o.Tier <= a.Tier }) {
			return t, false
		}
	}
	t = Terms{Anyone: true, Quorum: 1, Groups: map[string][]string{}}
	for i := range b {
		for name, people := range b[i].Groups {
			if _, taken := t.Groups[name]; !taken {
				t.Groups[name] = people
			}
		}
	}
	for i := range b {
		t.tighten(&b[i], askers)
	}
	t.Wait = max(t.Wait, 0)
	t.TTL, t.Longest = lists.First(t.TTL, DefaultTTL), max(lists.First(t.Longest, DefaultLongest), 0)
	return t, len(askers) > 0
}

func (t *Terms) tighten(b *Block, askers []Asker) {
	t.Always = t.Always || b.Always
	for _, d := range []struct {
		to *time.Duration
		is time.Duration
	}{{&t.Wait, b.Wait}, {&t.TTL, b.TTL}, {&t.Longest, b.Longest}} {
		if d.is != 0 && (*d.to == 0 || d.is < *d.to) {
			*d.to = d.is
		}
	}
	t.require(b.Rule)
	for _, r := range b.Rules {
		if slices.ContainsFunc(askers, func(a Asker) bool { ok, _ := path.Match(r.Hook, a.Name); return ok }) {
			t.require(r)
		}
	}
	if b.Source != "" {
		t.Sources = append(t.Sources, b.Source)
	}
	if b.Webhook != nil {
		t.Webhooks = append(t.Webhooks, *b.Webhook)
	}
}

// require adds the approvers and the quorum of one rule.
func (t *Terms) require(r Rule) {
	t.Quorum = max(t.Quorum, r.Quorum)
	if r.Approvers == nil {
		return
	}
	var people []string
	for _, name := range r.Approvers {
		if group, ok := t.Groups[name]; ok {
			people = append(people, group...)
		} else {
			people = append(people, name)
		}
	}
	lists.Sort(people)
	people = lists.Compact(people)
	if t.Anyone {
		t.Anyone, t.Approvers = false, people
		return
	}
	t.Approvers = lists.DeleteFunc(lists.Copy(t.Approvers), func(p string) bool { return !lists.Has(people, p) })
}

// GroupsOf are the groups that a person is in, sorted.
func (t *Terms) GroupsOf(person string) []string {
	out := []string{}
	for name, people := range t.Groups {
		if lists.Has(people, person) {
			out = append(out, name)
		}
	}
	lists.Sort(out)
	return out
}

// Grant is what an action that was asked about goes ahead by.
type Grant struct {
	// ID is that of the approval, By who granted it, Use which use of it this is.
	ID     string   `json:"id"`
	By     []string `json:"by"`
	Scope  string   `json:"scope"`
	Use    int      `json:"use"`
	Reason string   `json:"reason,omitempty"`
}
