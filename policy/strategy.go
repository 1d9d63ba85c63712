package policy

// Strategy is how the hooks of one event combine: five parameters of one
// fold, not a code path (semantics.md §2.5).
type Strategy string

// The strategies.
const (
	Chain        Strategy = "chain"
	Decisive     Strategy = "decisive"
	First        Strategy = "first"
	Parallel     Strategy = "parallel"
	ParallelLast Strategy = "parallel-last"
	ChainAll     Strategy = "chain-all"
	Concat       Strategy = "concat"
	Tools        Strategy = "tools"
	ObserveAll   Strategy = "observe"
)

// Fold is how the verdicts of several hooks combine.
type Fold uint8

// The folds: the most restrictive verdict, the first explicit one, the last
// explicit one, or none at all.
const (
	FoldMax Fold = iota
	FoldFirst
	FoldLast
	FoldNone
)

func (f Fold) String() string { return [...]string{"max", "first", "last", "none"}[f] }

// MarshalText makes a fold its name in JSON.
func (f Fold) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// HaltKind is when the folded result of one item ends the chain.
type HaltKind uint8

// The halt rules. All but HaltNever also halt on any control.
const (
	HaltNever HaltKind = iota
	// HaltDeny halts on deny.
	HaltDeny
	// HaltAsk halts on ask or anything more restrictive.
	HaltAsk
	// HaltExplicit halts on any verdict but none.
	HaltExplicit
)

// StrategySpec is one row of the table of strategies.
type StrategySpec struct {
	Strategy Strategy
	// Snapshot puts every hook of the event into one group whose members all
	// see the context the event began with; otherwise each hook sees the
	// patches of those before it.
	Snapshot bool
	Halt     HaltKind
	Fold     Fold
	// Doc says in a line what the strategy means, for explain.
	Doc string
	// Rules are what an agent's own strategy adds.
	Rules Rules
}

var strategySpecs = []StrategySpec{
	{Strategy: Chain, Halt: HaltDeny, Fold: FoldMax, Doc: "halts on deny/skip/stop"},
	{Strategy: Decisive, Halt: HaltAsk, Fold: FoldMax, Doc: "halts on ask/defer/deny/skip/stop"},
	{Strategy: First, Halt: HaltExplicit, Fold: FoldFirst, Doc: "the first verdict decides"},
	{Strategy: Parallel, Snapshot: true, Halt: HaltNever, Fold: FoldMax, Doc: "all run on one snapshot, most restrictive wins"},
	{Strategy: ParallelLast, Snapshot: true, Halt: HaltNever, Fold: FoldLast, Doc: "all run on one snapshot, the last verdict wins"},
	{Strategy: ChainAll, Halt: HaltNever, Fold: FoldMax, Doc: "one after another, never halts"},
	{Strategy: Concat, Snapshot: true, Halt: HaltNever, Fold: FoldNone, Doc: "all run on one snapshot, texts are joined"},
	{Strategy: Tools, Snapshot: true, Halt: HaltNever, Fold: FoldNone, Doc: "all run on one snapshot, tool offers are joined"},
	{Strategy: ObserveAll, Snapshot: true, Halt: HaltNever, Fold: FoldNone, Doc: "all run on one snapshot, nothing is decided"},
}

// Spec is the strategy's row; the zero Strategy is chain.
func (s Strategy) Spec() *StrategySpec {
	for i := range strategySpecs {
		if strategySpecs[i].Strategy == s {
			return &strategySpecs[i]
		}
	}
	return &strategySpecs[0]
}

// Under is what the strategy leaves of an event's row. One that folds no
// verdict obeys none, and observe obeys nothing but texts and messages; what
// is not obeyed is masked and reported like anything outside the row
// (semantics.md §1.1, §2.5).
func (s *StrategySpec) Under(spec *EventSpec) *EventSpec {
	if s.Rules.Row != nil {
		out := *spec
		s.Rules.Row(&out)
		return &out
	}
	if s.Fold != FoldNone || s.Strategy == spec.Strategy {
		return spec
	}
	out := *spec
	out.Narrowed, out.Refused = s.Strategy, nil
	out.Powers &^= MayAllow | MayAsk | MayDefer | MayDeny
	if s.Strategy == ObserveAll {
		out.Powers, out.Writes, out.Retry, out.Feedback = 0, nil, false, false
	}
	return &out
}

// ParseStrategy finds a strategy by name.
func ParseStrategy(name string) (Strategy, bool) {
	for _, s := range strategySpecs {
		if string(s.Strategy) == name {
			return s.Strategy, true
		}
	}
	return "", false
}

// StrategyNames lists the names `strategy:` takes.
func StrategyNames() []string {
	out := make([]string, len(strategySpecs))
	for i, s := range strategySpecs {
		out[i] = string(s.Strategy)
	}
	return out
}

// Halts reports whether the folded result of an item ends the chain.
func (k HaltKind) Halts(r *Result) bool {
	if k == HaltNever {
		return false
	}
	return r.Control > Go || r.EndChain || k.HaltsOn(r.Verdict)
}

// HaltsOn reports whether verdict v alone ends the chain.
func (k HaltKind) HaltsOn(v Verdict) bool {
	switch k {
	case HaltDeny:
		return v == Deny
	case HaltAsk:
		return v >= Ask
	case HaltExplicit:
		return v != None
	}
	return false
}

// Powers is what a hook may say that ends the chain.
func (k HaltKind) Powers() Powers {
	if k == HaltNever {
		return 0
	}
	p := MaySkip | MayStop | MayHalt
	for v := Allow; v <= Deny; v++ {
		if k.HaltsOn(v) {
			p |= 1 << (v - 1)
		}
	}
	return p
}
