package solve

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"regexp"
	"regexp/syntax"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// signature is what a function takes and gives.
type signature struct {
	gives Kinds
	takes []Kinds
}

// signatures are the functions that are understood, by their names in Rego. Their
// results are there only where their arguments are.
var signatures = map[string]signature{
	"lower": {String, []Kinds{String}}, "upper": {String, []Kinds{String}}, "trim_space": {String, []Kinds{String}},
	"trim": {String, []Kinds{String, String}}, "trim_left": {String, []Kinds{String, String}}, "trim_right": {String, []Kinds{String, String}},
	"trim_prefix": {String, []Kinds{String, String}}, "trim_suffix": {String, []Kinds{String, String}},
	"replace": {String, []Kinds{String, String, String}}, "substring": {String, []Kinds{String, Number, Number}},
	"split": {List, []Kinds{String, String}}, "count": {Number, []Kinds{String | composite}}, "indexof": {Number, []Kinds{String, String}},
	"plus": {Number, []Kinds{Number, Number}}, "minus": {Number | SetKind, []Kinds{Number | SetKind, Number | SetKind}}, "mul": {Number, []Kinds{Number, Number}}, "rem": {Number, []Kinds{Number, Number}},
	"abs": {Number, []Kinds{Number}}, "round": {Number, []Kinds{Number}}, "floor": {Number, []Kinds{Number}}, "ceil": {Number, []Kinds{Number}}, "to_number": {Number, []Kinds{Null | Boolean | Number | String}}, "format_int": {String, []Kinds{Number, Number}},
	"join": {String, nil}, "text of": {String, nil}, "number as text": {String, nil}, "sprintf": {String, nil}, "concat": {String, []Kinds{String, List | SetKind}},
	"sum": {Number, nil}, "type_name": {String, nil}, "json.marshal": {String, nil}, "key of": {Present, nil},
	"base64.encode": {String, []Kinds{String}}, "base64.decode": {String, []Kinds{String}}, "strings.count": {Number, []Kinds{String, String}}, "time.now_ns": {Number, nil}, "time.parse_rfc3339_ns": {Number, []Kinds{String}}, "json.unmarshal": {Present, []Kinds{String}},
}

// computed is what a function may give at all.
func computed(t *Term) (domain, string) {
	sig, known := signatures[t.name]
	if !known {
		return everything, ""
	}
	out := ofKinds(sig.gives | Absent)
	is := func(l *Lang) { out.text = l }
	if of := t.args; t.name == "count" && of[0].op == isCall && of[0].name == "split" {
		if sep, ok := of[0].args[1].Text(); ok && sep != "" {
			out.num = []interval{{from: 1, to: math.Inf(1)}}
			return out, "there is one part of a text at least"
		}
	}
	switch t.name {
	case "lower":
		is(expression(`[A-Z]`).Not())
	case "upper":
		is(expression(`[a-z]`).Not())
	case "trim_space":
		is(expression(`^[ \t\r\n\v\f]|[ \t\r\n\v\f]$`).Not())
	case "count", "abs", "strings.count":
		out.num = []interval{{from: 0, to: math.Inf(1)}}
	case "rem":
		if by, ok := t.args[1].value.(float64); ok {
			out.num = []interval{{from: -math.Abs(by), to: math.Abs(by), fromOpen: true, toOpen: true}}
		}
	case "format_int":
		is(expression(`^-?[0-9a-z]+$`))
		if base, ok := t.args[1].value.(float64); ok && base <= 10 {
			is(expression(`^-?[0-9]+$`))
		}
	case "trim", "trim_left", "trim_right", "replace":
		is(without(t))
	case "indexof":
		out.num = []interval{{from: -1, to: math.Inf(1)}}
	case "type_name":
		is(Words("null", "boolean", "number", "string", "array", "object", "set"))
	case "substring":
		if n, ok := t.args[2].value.(float64); ok && n >= 0 && n < 100 {
			is(expression(`\A(?s).{0,` + strconv.Itoa(int(n)) + `}\z`))
		}
	case "join":
		is(joinOf(t.args, func(*Term) *Lang { return anyText(true) }))
	}
	return out, t.name + " gives " + strings.TrimPrefix((sig.gives).String(), "absent or ")
}

// without is the texts that do not begin or end with what a function takes away, or
// do not hold it.
func without(t *Term) *Lang {
	second, ok := t.args[1].Text()
	ends := `^[` + classOf(second) + `]`
	switch {
	case !ok || second == "":
		return anyText(true)
	case t.name == "trim_left":
		return expression(ends).Not()
	case t.name == "trim_right":
		return expression(`[` + classOf(second) + `]$`).Not()
	case t.name == "trim":
		return expression(ends + `|[` + classOf(second) + `]$`).Not()
	}
	by, ok := t.args[2].Text()
	if !ok || len([]rune(second)) != 1 || strings.Contains(by, second) {
		return anyText(true)
	}
	return expression(regexp.QuoteMeta(second)).Not()
}

// expressions keeps automata of expressions.
var expressions = cache{of: map[string]*Lang{}}

// expression is Matching of what is known to be an expression of a fair size.
func expression(pattern string) *Lang {
	l, err := expressions.get(pattern)
	if err != nil {
		return anyText(true).roughly()
	}
	return l
}

// back carries what a term may be to the terms that it is made of.
func (st *state) back(c *cell, soft bool) bool {
	t := c.t
	carry := func(of *Term, d domain) bool { return of.op == isConst || st.carry(of, d, c.why, soft) }
	switch t.op {
	case isMember:
		container := Object | SetKind
		if _, number := t.value.(float64); number {
			container = List | Object | SetKind
		}
		return carry(t.args[0], ofKinds(container)) && st.partOf(c, soft) && st.backSplit(c, carry, soft)
	case isElement:
		return carry(t.args[0], ofKinds(composite)) && st.partOf(c, soft) && st.backSplit(c, carry, soft)
	case isCall:
	default:
		return true
	}
	sig, known := signatures[t.name]
	if !known {
		st.notes = append(st.notes, "the function "+t.name)
		if soft && len(t.args) > 0 { // It may leave as it is what it is given.
			carry(t.args[0], c.d)
		}
		return true
	}
	for i, k := range sig.takes {
		if i < len(t.args) && !carry(t.args[i], ofKinds(k)) {
			return false
		}
	}
	switch {
	case t.name == "split" && len(c.d.only) == 1:
		return st.backParts(c, carry, soft)
	case t.name == "join":
		return st.backJoin(c, carry, soft)
	case t.name == "count":
		return st.backCount(c, carry, soft)
	case c.d.kinds&String != 0 && c.d.text != nil:
		if l, isHard := before(t, c.d.text); l != nil && (isHard || soft) {
			return carry(t.args[0], ofTexts(l))
		}
	case c.d.kinds == Number && (c.d.num != nil || t.name == "time.parse_rfc3339_ns"):
		return st.backNumber(c, carry, soft)
	}
	if t.name == "base64.decode" && soft && c.d.text != nil {
		return carry(t.args[0], ofValue(base64.StdEncoding.EncodeToString([]byte(c.d.text.Examples(1)[0]))))
	}
	if t.name == "text of" && c.d.text != nil && st.cell(t.args[0]).d.kinds&^Absent == String {
		return carry(t.args[0], ofTexts(c.d.text))
	}
	if soft && (t.name == "text of" || t.name == "number as text" || t.name == "format_int") && c.d.text != nil {
		example := c.d.text.Examples(1)[0]
		if n, err := strconv.Atoi(example); err == nil && st.cell(t.args[0]).d.kinds&String == 0 {
			return carry(t.args[0], ofValue(float64(n)))
		}
		return carry(t.args[0], ofValue(example))
	}
	return true
}

// partOf carries what a collection is, where all of it is known, to a part of it that
// is there.
func (st *state) partOf(c *cell, soft bool) bool {
	of := st.cell(c.t.args[0])
	if len(of.d.only) != 1 || of.d.kinds&^composite != 0 {
		return true
	}
	var parts []any
	whole := Const(of.d.only[0])
	switch v := of.d.only[0].(type) {
	case []any:
		parts = v
	case Set:
		parts = v
	case map[string]any:
		for _, part := range v {
			parts = append(parts, part)
		}
	}
	if c.t.op == isMember {
		part := whole.Member(c.t.value)
		if part == nil {
			return st.carry(c.t, domain{}, of.why, soft)
		}
		parts = []any{part.value}
	}
	d := domain{num: []interval{}, only: []any{}}
	var words []string
	for _, part := range parts {
		d.kinds |= kindOf(part)
		switch part := part.(type) {
		case string:
			words = append(words, part)
		case float64:
			d.num = append(d.num, interval{from: part, to: part})
		case json.Number:
			d.num = append(d.num, interval{from: math.Inf(-1), to: math.Inf(1)})
		case []any, map[string]any, Set:
			d.only = append(d.only, part)
		}
	}
	sort.Slice(d.num, func(i, j int) bool { return d.num[i].from < d.num[j].from })
	d.text = Words(words...)
	return st.carry(c.t, d.tidy(), of.why, soft)
}

// before is the texts that a function of a text takes into a set, and whether it is
// all of them; nil where that is not known.
func before(t *Term, l *Lang) (*Lang, bool) {
	second := ""
	if len(t.args) > 1 {
		second, _ = t.args[1].Text()
	}
	switch t.name {
	case "lower":
		return l.Before(unicode.ToLower), true
	case "upper":
		return l.Before(unicode.ToUpper), true
	case "trim_space":
		blank := expression(`^\s*$`)
		return anyOf(blank).Then(l).Then(anyOf(blank)), true
	case "trim", "trim_left", "trim_right":
		if second == "" {
			return nil, false
		}
		cut := expression(`^[` + classOf(second) + `]*$`)
		return cut.Then(l).Then(cut), true
	case "trim_prefix":
		if second != "" {
			return Words(second).Then(l).Or(l.And(expression(`\A` + regexp.QuoteMeta(second)).Not())), true
		}
	case "trim_suffix":
		if second != "" {
			return l.Then(Words(second)).Or(l.And(expression(regexp.QuoteMeta(second) + `\z`).Not())), true
		}
	case "substring":
		skip, ok := t.args[1].value.(float64)
		length, also := t.args[2].value.(float64)
		if !ok || !also || skip < 0 || skip > 100 {
			return nil, false
		}
		short := l.Has("")
		l = expression(`\A(?s).{` + strconv.Itoa(int(skip)) + `}\z`).Then(l)
		if length >= 0 {
			l = l.Then(anyText(true))
		}
		if short {
			l = l.Or(expression(`\A(?s).{0,` + strconv.Itoa(int(skip)) + `}\z`))
		}
		return l, true
	case "replace":
		return l.And(expression(regexp.QuoteMeta(second)).Not()), false
	}
	return nil, false
}

// anyOf is the set without what \s leaves out: all white space of Unicode.
func anyOf(*Lang) *Lang { return expression(`\A[\s\v\x{85}\x{A0}\p{Z}]*\z`) }

func classOf(chars string) string {
	var b strings.Builder
	for _, r := range chars {
		b.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
	}
	return b.String()
}

// leftAsItIs is where a part of what changes an object, or a list of objects, is in
// what it changes, while it changes another part; nil for other terms.
func (t *Term) leftAsItIs() *Term {
	switch of := t.args[0]; {
	case of.op == isCall && len(of.args) > 0 && (strings.HasPrefix(of.name, "json.") || strings.HasPrefix(of.name, "object.")) && signatures[of.name].gives == 0:
		if last := of.args[len(of.args)-1]; of.name == "object.union" && under(last) {
			return t.below(last)
		}
		return t.below(of.args[0])
	case of.op == isMember || of.op == isElement:
		if given := of.leftAsItIs(); given != nil {
			return t.below(given)
		}
	}
	return nil
}

// below is the part of another term that t is of its own.
func (t *Term) below(of *Term) *Term {
	if t.op == isElement {
		return of.Element(t.value.(int))
	}
	return of.Member(t.value)
}

// backSplit carries what a part of a text is to the text.
func (st *state) backSplit(c *cell, carry func(*Term, domain) bool, soft bool) bool {
	of := c.t.args[0]
	if given := c.t.leftAsItIs(); given != nil && soft {
		return carry(given, c.d)
	}
	if l := searched(c); l != nil && soft {
		return carry(originOf(c.t).args[1], ofTexts(l))
	}
	if of.op == isCall && signatures[of.name].gives == 0 && soft {
		for _, a := range of.args {
			if a.op != isConst {
				d := c.d // It may be a part of what it is given.
				if word := st.text(c, c.d, 0); d.kinds&String != 0 && word != "" {
					d = ofTexts(expression(`(?:\A|\W)` + regexp.QuoteMeta(word) + `(?:\W|\z)`))
				}
				return carry(a, d)
			}
		}
	}
	if of.op != isCall || of.name != "split" || len(of.args) != 2 {
		return true
	}
	sep, ok := of.args[1].Text()
	if !ok || c.d.kinds != String {
		return !ok || carry(c.t, ofKinds(String))
	}
	part := c.d.text
	if part == nil {
		part = anyText(true)
	}
	some := anyText(true)
	if sep == "" {
		return carry(of.args[0], ofTexts(some.Then(part.And(expression(`\A(?s).\z`))).Then(some)))
	}
	quoted := regexp.QuoteMeta(sep)
	without := expression(quoted).Not()
	rest := Words("").Or(Words(sep).Then(some))
	l := part.And(without).Then(rest)
	switch n := c.t.value.(type) {
	case float64:
		if n < 0 || n > 20 {
			return true
		}
		for range int(n) {
			l = without.Then(Words(sep)).Then(l)
		}
	default:
		l = Words("").Or(some.Then(Words(sep))).Then(l)
	}
	return carry(of.args[0], ofTexts(l))
}

// originOf is the call that a term is a part of, or of a part; nil where it is of none.
func originOf(t *Term) *Term {
	for t.op == isMember || t.op == isElement {
		t = t.args[0]
	}
	if t.op != isCall {
		return nil
	}
	return t
}

// searched is texts in which an expression finds a text, or its group a part of one, that
// is known to be wanted; nil where c is none of what a search gives.
func searched(c *cell) *Lang {
	call := originOf(c.t)
	if call == nil || call.name != "regex.find_n" && call.name != "regex.find_all_string_submatch_n" || c.d.kinds&String == 0 {
		return nil
	}
	pattern, ok := call.args[0].Text()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if !ok || err != nil {
		return nil
	}
	group := 0
	if n, is := c.t.value.(float64); is && call.name != "regex.find_n" {
		if c.t.args[0] == call {
			return nil
		}
		group = int(n)
	}
	wanted := func(re *syntax.Regexp) *syntax.Regexp {
		l := expression(`\A(?:` + re.String() + `)\z`)
		if c.d.text != nil {
			l = l.And(c.d.text)
		}
		if l.Empty() {
			return re
		}
		return &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune(l.Examples(1)[0])}
	}
	var visit func(re *syntax.Regexp) *syntax.Regexp
	visit = func(re *syntax.Regexp) *syntax.Regexp {
		if re.Op == syntax.OpCapture && re.Cap == group {
			return wanted(re.Sub[0])
		}
		for i, sub := range re.Sub {
			re.Sub[i] = visit(sub)
		}
		return re
	}
	if group == 0 {
		return expression(wanted(tree).String())
	}
	return expression(visit(tree).String())
}

// backParts carries all parts of a text to the text.
func (st *state) backParts(c *cell, carry func(*Term, domain) bool, soft bool) bool {
	sep, ok := c.t.args[1].Text()
	list, is := c.d.only[0].([]any)
	if !ok || !is || !soft {
		return true
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i], _ = v.(string)
	}
	return carry(c.t.args[0], ofValue(strings.Join(parts, sep)))
}

// joinOf is the texts that parts one after another make.
func joinOf(parts []*Term, lang func(*Term) *Lang) *Lang {
	out := Words("")
	for _, p := range parts {
		if text, ok := p.Text(); ok {
			out = out.Then(Words(text))
		} else {
			out = out.Then(lang(p))
		}
	}
	return out
}

// backJoin carries what a text is to its parts.
func (st *state) backJoin(c *cell, carry func(*Term, domain) bool, soft bool) bool {
	lang := func(p *Term) *Lang {
		if d := st.cell(p).d; d.text != nil && d.kinds == String {
			return d.text
		}
		return anyText(true)
	}
	var open []*Term
	prefix, suffix := "", ""
	for _, p := range c.t.args {
		text, ok := p.Text()
		switch {
		case !ok:
			open = append(open, p)
		case len(open) == 0:
			prefix += text
		default:
			suffix += text
		}
	}
	if c.d.text == nil || len(open) == 0 {
		return true
	}
	if len(open) == 1 {
		return carry(open[0], ofTexts(c.d.text.After(prefix, suffix)))
	}
	whole := joinOf(c.t.args, lang).And(c.d.text)
	if whole.Empty() {
		return carry(open[0], domain{})
	}
	if !soft {
		return true
	}
	for i, part := range cut(whole.Examples(1)[0], c.t.args, lang) {
		carry(c.t.args[i], ofValue(part))
	}
	return true
}

// cut splits a text into what parts of it may be.
func cut(text string, parts []*Term, lang func(*Term) *Lang) []string {
	if len(parts) == 0 {
		if text == "" {
			return []string{}
		}
		return nil
	}
	for n := 0; n <= len(text); n++ {
		if fixed, ok := parts[0].Text(); ok && text[:n] != fixed || !ok && !lang(parts[0]).Has(text[:n]) {
			continue
		}
		if rest := cut(text[n:], parts[1:], lang); rest != nil {
			return append([]string{text[:n]}, rest...)
		}
	}
	return nil
}

// longest is the longest text that is made for its length.
const longest = 300

// backCount carries how many there are to what is counted.
func (st *state) backCount(c *cell, carry func(*Term, domain) bool, soft bool) bool {
	of := c.t.args[0]
	if len(c.d.num) == 0 || of.op == isConst {
		return true
	}
	if only := st.cell(of).d; len(only.only) == 1 && only.kinds&^composite == 0 {
		var n int
		switch v := only.only[0].(type) {
		case []any:
			n = len(v)
		case map[string]any:
			n = len(v)
		case Set:
			return true // It may hold an element twice.
		}
		return st.carry(c.t, ofValue(float64(n)), st.cell(of).why, soft)
	}
	least := int(math.Ceil(math.Max(0, c.d.num[0].from)))
	if c.d.num[0].fromOpen && float64(least) == c.d.num[0].from {
		least++
	}
	most := c.d.num[len(c.d.num)-1].to
	if c.d.num[len(c.d.num)-1].toOpen {
		most = math.Ceil(most) - 1
	}
	if float64(least) > most {
		return carry(of, domain{})
	}
	if of.op == isCall && of.name == "split" && least > 1 && least < 30 {
		if sep, ok := of.args[1].Text(); ok && sep != "" {
			l := anyText(true)
			for range least - 1 {
				l = l.Then(Words(sep)).Then(anyText(true))
			}
			return carry(of.args[0], ofTexts(l))
		}
	}
	if st.cell(of).d.kinds&^Absent != String {
		if soft && carry(of, ofKinds(composite)) {
			st.long[of.id] = least
		}
		return true
	}
	if least > longest && !soft {
		return true
	}
	pattern := `\A(?s).{` + strconv.Itoa(min(least, longest)) + `,}\z`
	if most <= longest {
		pattern = `\A(?s).{` + strconv.Itoa(min(least, longest)) + `,` + strconv.Itoa(int(most)) + `}\z`
	}
	if least > longest {
		st.long[of.id] = least
	}
	return carry(of, ofTexts(expression(pattern)))
}

// rounding is more than a part of a number that is lost where two are added.
const rounding = 1e-15

// isWhole reports whether a term is a small whole number.
func (s *search) isWhole(t *Term) bool {
	return t.op == isCall && (t.name == "count" || t.name == "indexof" || t.name == "strings.count")
}

// backNumber carries a number to what it is computed of.
func (st *state) backNumber(c *cell, carry func(*Term, domain) bool, soft bool) bool {
	t := c.t
	shift := func(of *Term, by float64, negated bool) bool {
		var out []interval
		for _, i := range c.d.num {
			if !soft && !st.s.isWhole(of) { // A sum is rounded.
				i.from -= rounding * (math.Abs(i.from) + math.Abs(by))
				i.to += rounding * (math.Abs(i.to) + math.Abs(by))
			}
			i.from, i.to = i.from+by, i.to+by
			if negated {
				i = interval{from: 2*by - i.to, to: 2*by - i.from, fromOpen: i.toOpen, toOpen: i.fromOpen}
				out = append([]interval{i}, out...)
				continue
			}
			out = append(out, i)
		}
		return carry(of, ofNumbers(out...))
	}
	number := func(i int) (float64, bool) {
		n, ok := t.args[i].value.(float64)
		return n, ok && t.args[i].op == isConst
	}
	switch t.name {
	case "plus":
		for i := range 2 {
			if by, ok := number(i); ok {
				return shift(t.args[1-i], -by, false)
			}
		}
		if n := pick(st.cell(t.args[1]).d.num, 0); soft {
			return carry(t.args[1], ofValue(n)) && shift(t.args[0], -n, false)
		}
	case "minus":
		if by, ok := number(1); ok {
			return shift(t.args[0], by, false)
		}
		if from, ok := number(0); ok {
			return shift(t.args[1], from, true)
		}
	case "sum", "max", "min":
		if soft {
			return carry(t.args[0], ofValue([]any{pick(c.d.num, 0)}))
		}
	case "strings.count":
		if text, ok := t.args[1].Text(); ok && soft {
			return carry(t.args[0], ofValue(strings.Repeat(text, int(min(pick(c.d.num, 0), longest)))))
		}
	case "indexof":
		sub, ok := t.args[1].Text()
		if !ok {
			return true
		}
		if n := c.d.num[0]; len(c.d.num) == 1 && n.from == 0 && n.to == 0 {
			return carry(t.args[0], ofTexts(Prefix(sub)))
		}
		has := expression(regexp.QuoteMeta(sub))
		if n := c.d.num; n[0].from >= 0 || n[0].from == -1 && n[0].fromOpen {
			return carry(t.args[0], ofTexts(has))
		} else if last := n[len(n)-1]; last.to < 0 || last.to == 0 && last.toOpen {
			return carry(t.args[0], ofTexts(has.Not()))
		}
	case "time.parse_rfc3339_ns":
		if soft {
			return carry(t.args[0], ofTexts(Words("2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z")))
		}
	case "round", "floor", "ceil":
		less, more := map[string]float64{"round": 0.5, "ceil": 1}[t.name], map[string]float64{"round": 0.5, "floor": 1}[t.name]
		var out []interval
		for _, i := range c.d.num {
			out = append(out, interval{from: i.from - less, to: i.to + more, fromOpen: t.name == "ceil", toOpen: t.name == "floor"})
		}
		return carry(t.args[0], ofNumbers(out...))
	case "rem":
		by, ok := number(1)
		if !ok || !soft {
			return true
		}
		n := st.cell(t.args[0]).d.num
		for v := range int(min(math.Abs(by), longest)) {
			if x := pick(n, 0) + float64(v); c.d.and(ofValue(math.Mod(x, by))).kinds != 0 && (n == nil || !ofNumbers(n...).and(ofValue(x)).empty()) {
				return carry(t.args[0], ofValue(x))
			}
		}
	case "to_number", "abs":
		if text := ofTexts(expression(`[0-9]|(?i)inf|nan`)); t.name == "to_number" && !soft {
			text.kinds |= Null | Boolean | Number
			return carry(t.args[0], text)
		}
		if soft {
			n := pick(c.d.num, 0)
			if st.cell(t.args[0]).d.kinds&String != 0 && t.name == "to_number" {
				return carry(t.args[0], ofValue(strconv.FormatFloat(n, 'f', -1, 64)))
			}
			return carry(t.args[0], ofValue(n))
		}
	}
	return true
}

// pick is a number of some intervals, a whole one where there is one.
func pick(of []interval, nth int) float64 {
	if len(of) == 0 {
		return 1
	}
	i := of[nth%len(of)]
	switch {
	case math.IsInf(i.from, -1) && math.IsInf(i.to, 1):
		return 1
	case math.IsInf(i.from, -1):
		return math.Ceil(i.to) - 1
	case !i.fromOpen && (math.Ceil(i.from) > i.to || math.Ceil(i.from) == i.to && i.toOpen):
		return i.from
	case !i.fromOpen:
		return math.Ceil(i.from)
	case math.Floor(i.from)+1 < i.to || !i.toOpen && math.Floor(i.from)+1 == i.to:
		return math.Floor(i.from) + 1
	}
	return (i.from + i.to) / 2
}
