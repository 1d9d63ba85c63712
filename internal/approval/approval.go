// Package approval keeps the questions that an agent could not put to its user, and
// their answers, until somebody answers and the call is made again. Each is a file in
// hookc's state folder; many processes may ask, answer and use at once.
package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
)

// State is how far a question has come.
type State string

// The states.
const (
	Pending State = "pending"
	Granted State = "granted"
	Denied  State = "denied"
	Expired State = "expired"
)

// Verdict is an answer.
type Verdict string

// The verdicts.
const (
	Grant Verdict = "grant"
	Deny  Verdict = "deny"
)

// Scope is how often a grant counts. The zero Scope is once.
type Scope struct {
	// For is how long every call that is the same goes ahead; Session is until the
	// session ends.
	For     time.Duration `json:"for,omitempty"`
	Session bool          `json:"session,omitempty"`
}

func (s Scope) String() string {
	switch {
	case s.Session:
		return "this session"
	case s.For > 0:
		return "for " + s.For.String()
	}
	return "once"
}

// Call is what is to be done, exactly.
type Call struct {
	Event policy.Event `json:"event"`
	Tool  string       `json:"tool_name"`
	Input any          `json:"tool_input"`
	Cwd   string       `json:"cwd"`
}

// Bound is what an answer holds for: nothing else goes ahead by it.
type Bound struct {
	// Digest is of the Call.
	Digest string `json:"digest"`
	// Session is the session's id, Policy the hash of the plan.
	Session string `json:"session"`
	Policy  string `json:"policy"`
	// Rules are the hooks and rules that ask, the one that decides first.
	Rules []string `json:"rules"`
	// Machine is where the call is to be made, where a fleet has the approvals.
	Machine string `json:"machine,omitempty"`
}

// Vote is one person's answer.
type Vote struct {
	By      string    `json:"by"`
	Verdict Verdict   `json:"verdict"`
	Scope   Scope     `json:"scope,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
}

// Approval is a question and what became of it.
type Approval struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	Bound
	Call    Call           `json:"call"`
	Agent   string         `json:"agent,omitempty"`
	Reasons []string       `json:"reasons,omitempty"`
	Terms   approval.Terms `json:"terms"`
	Created time.Time      `json:"created"`
	// Until is when the question, or the grant, ends; a denial holds so long too.
	Until time.Time `json:"until"`
	// TTL is how long an unused grant may be used.
	TTL time.Duration `json:"ttl"`
	// Votes are the answers; Scope is that of the grant.
	Votes []Vote `json:"votes,omitempty"`
	Scope Scope  `json:"scope,omitzero"`
	// Used counts the calls that went ahead; Last is when anything was written last.
	Used int       `json:"used,omitempty"`
	Last time.Time `json:"last"`
}

// By are the people who answered as it was decided.
//
//go:noinline
func (a *Approval) By() []string {
	var out []string
	for _, v := range a.Votes {
		if a.State == Denied == (v.Verdict == Deny) {
			out = append(out, v.By)
		}
	}
	return out
}

// Why is what the last who answered gave as reason.
func (a *Approval) Why() string {
	if n := len(a.Votes); n > 0 {
		return a.Votes[n-1].Reason
	}
	return ""
}

// Spent reports whether a grant has been used up.
//
//go:noinline
func (a *Approval) Spent() bool { return a.State == Granted && a.Scope == Scope{} && a.Used > 0 }

// clockSlack is how far the clock may go back before nothing that was granted counts.
const clockSlack = time.Minute

// settle makes a question that has not been answered in time, and a grant that has run
// out, expired. So is what was written later than it is now: the clock was set back, and
// nobody knows for how long it would count.
func (a *Approval) settle(now time.Time) {
	if a.State == Denied || a.State == Expired || a.Spent() {
		return
	}
	if !now.Before(a.Until) || now.Add(clockSlack).Before(a.Last) {
		a.State = Expired
	}
}

// Digest is the SHA-256 of the call as RFC 8785 writes it. That writes every number as
// the nearest that a float64 holds; numbers that are no such number count as they are
// written and where, too.
func (c *Call) Digest() (string, error) {
	text, err := policy.EncodeJSON(c)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, n := range inexact(c.Input, "", nil) {
		fmt.Fprintf(sum, "%s\n", n)
	}
	text, err = jcs.Transform(text)
	if err != nil {
		return "", err
	}
	sum.Write(text)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// inexact are the numbers in v that a float64 does not hold, in order, each with its place
// below at.
func inexact(v any, at string, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range lists.Keys(v) {
			out = inexact(v[k], fmt.Sprintf("%s%q:", at, k), out)
		}
	case []any:
		for i, e := range v {
			out = inexact(e, fmt.Sprintf("%s%d:", at, i), out)
		}
	default:
		text, err := policy.EncodeJSON(v)
		if err != nil || len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
			return out
		}
		var f float64
		if json.Unmarshal(text, &f) != nil {
			return append(out, at+string(text))
		}
		if len(text) < 16 && math.Abs(f) >= 0x1p-1022 {
			return out // fifteen digits are exact, but next to 0
		}
		if again, err := policy.EncodeJSON(f); err != nil || string(again) != string(text) {
			out = append(out, at+string(text))
		}
	}
	return out
}

// slot is the name that approvals of one Bound begin with.
func (b *Bound) slot() string {
	text, err := json.Marshal(b)
	if err != nil {
		panic("approval: " + err.Error()) // it is made of texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

func (b *Bound) same(o *Bound) bool {
	return b.Digest == o.Digest && b.Session == o.Session && b.Policy == o.Policy && b.Machine == o.Machine && lists.Equal(b.Rules, o.Rules)
}

// Judge evaluates Rego that refuses answers: the texts of its deny. Package hookc sets
// it.
var Judge func(ctx context.Context, source string, a *Approval, v Vote, groups []string) ([]string, error)

// may says why a person's answer does not count.
func (a *Approval) may(ctx context.Context, v Vote) error {
	same := func(p string) bool { return person(p) == person(v.By) }
	t := &a.Terms
	switch {
	case person(v.By) == "":
		return errors.New("nobody is named who answers")
	case !t.Anyone && !slices.ContainsFunc(t.Approvers, same):
		return fault.Errorf("%s may not answer it: approvers are %s", v.By, orNobody(t.Approvers))
	case v.Verdict == Deny:
	case v.Scope.For < 0 || v.Scope.For > 0 && v.Scope.Session:
		return errors.New("a grant is for a time or for this session")
	case v.Scope.Session && a.Session == "":
		return errors.New("the call is of no session: grant it once, or for a time")
	case v.Scope != Scope{} && t.Longest == 0:
		return errors.New("the policy lets a grant count once only (approval.longest)")
	case v.Scope.For > t.Longest:
		return fault.Errorf("the policy lets a grant count for %s at most (approval.longest)", t.Longest)
	}
	if i := slices.IndexFunc(a.Votes, func(o Vote) bool { return same(o.By) }); i >= 0 && v.Verdict == Grant {
		return fault.Errorf("%s has answered already (%s): it takes %d people", v.By, a.Votes[i].Verdict, t.Quorum)
	}
	for _, source := range t.Sources {
		if Judge == nil {
			return errors.New("nothing here evaluates the Rego of approval.source")
		}
		denials, err := Judge(ctx, source, a, v, t.GroupsOf(v.By))
		if err != nil {
			return fault.Errorf("approval.source cannot be evaluated: %w", err)
		}
		if len(denials) > 0 {
			return fault.Errorf("approval.source refuses: %s", strings.Join(denials, "; "))
		}
	}
	return nil
}

func orNobody(people []string) string {
	if len(people) == 0 {
		return "nobody, as no one is named by all that apply"
	}
	return strings.Join(people, ", ")
}

// person is a name as it is compared: one person spelled in two ways is one.
func person(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// vote adds an answer that counts.
func (a *Approval) vote(v Vote) {
	a.Votes = append(a.Votes, v)
	if v.Verdict == Deny {
		a.State, a.Until = Denied, v.At.Add(a.TTL)
		return
	}
	if a.granted() < a.Terms.Quorum {
		return
	}
	scope := v.Scope
	for _, o := range a.Votes {
		if o.Verdict == Grant {
			scope = narrower(scope, o.Scope)
		}
	}
	a.State, a.Scope, a.Until = Granted, scope, v.At.Add(a.TTL)
	switch {
	case scope.Session:
		a.Until = v.At.Add(a.Terms.Longest)
	case scope.For > 0:
		a.Until = v.At.Add(scope.For)
	}
}

// granted counts the answers that grant.
func (a *Approval) granted() (n int) {
	for _, v := range a.Votes {
		if v.Verdict == Grant {
			n++
		}
	}
	return n
}

// narrower is the scope of two people who want one each.
func narrower(a, b Scope) Scope {
	switch {
	case a == Scope{} || b == Scope{}:
		return Scope{}
	case a.Session:
		return b
	case b.Session:
		return a
	}
	return Scope{For: min(a.For, b.For)}
}
