package builtins

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "semver.order", Params: []Param{{Name: "a", Type: str}, {Name: "b", Type: str}}, Result: policy.NumberType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return versionOrder(text(args[0]), text(args[1])) },
	Doc:  "-1, 0 or 1 as version a comes before, with or after version b; a leading v and missing parts are allowed; undefined for what is no version",
	Examples: []Example{
		{Call: `semver.order("1.2.10", "1.2.9")`, Want: 1},
		{Call: `semver.order("v1.0.0-rc.1", "1.0")`, Want: -1},
	},
})

var _ = register(Func{
	Name: "semver.satisfies", Params: []Param{{Name: "version", Type: str}, {Name: "constraint", Type: str}}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return satisfies(text(args[0]), text(args[1])) },
	Doc:  "whether a version is in a range such as `>=1.2 <2 || ~3.1`; undefined for what is no version",
	Examples: []Example{
		{Call: `semver.satisfies("1.4.2", ">=1.2 <2")`, Want: true},
		{Call: `semver.satisfies("2.0.0-beta.1", "^1.9")`, Want: false},
	},
})

// maxVersion bounds a version or a range, in bytes.
const maxVersion = 256

// release is a version: three numbers, and what makes it a release before the
// release. Metadata of a build say nothing about order and are not kept.
type release struct {
	numbers [3]uint64
	pre     string
}

// parseRelease reads a version. A leading v and missing numbers are allowed,
// and so are zeros before a number.
func parseRelease(s string) (v release, ok bool) {
	numbers, pre, ok := splitRelease(s)
	if !ok {
		return v, false
	}
	parts := strings.Split(numbers, ".")
	if len(parts) > len(v.numbers) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || part[0] == '+' {
			return v, false
		}
		v.numbers[i] = n
	}
	v.pre = pre
	return v, true
}

// splitRelease splits a version into its numbers and what follows the hyphen,
// which it holds to the grammar of semver.org, with that of the metadata.
func splitRelease(s string) (numbers, pre string, ok bool) {
	s, metadata, hasMetadata := spell.Cut(strings.TrimPrefix(s, "v"), "+")
	numbers, pre, hasPre := spell.Cut(s, "-")
	return numbers, pre, (!hasPre || identifiers(pre, false)) && (!hasMetadata || identifiers(metadata, true))
}

// identifiers tells whether s is words with dots between them. A number begins
// with a zero only where zeros are allowed.
func identifiers(s string, zeros bool) bool {
	for _, word := range strings.Split(s, ".") {
		if word == "" || strings.Trim(word, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return false
		}
		if !zeros && len(word) > 1 && word[0] == '0' && isNumber(word) {
			return false
		}
	}
	return true
}

//go:noinline
func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// order is that of semver.org: a version before the release comes before it.
func (v release) order(w release) int {
	for i, n := range v.numbers {
		if c := cmp.Compare(n, w.numbers[i]); c != 0 {
			return c
		}
	}
	if v.pre == "" || w.pre == "" {
		return cmp.Compare(len(w.pre), len(v.pre))
	}
	a, b := strings.Split(v.pre, "."), strings.Split(w.pre, ".")
	for i := range min(len(a), len(b)) {
		if c := orderWords(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// orderWords puts numbers before words, and numbers in the order of numbers.
func orderWords(a, b string) int {
	x, y := isNumber(a), isNumber(b)
	switch {
	case x && y:
		return lists.First(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return strings.Compare(a, b)
}

func version(s string) (release, error) {
	if len(s) > maxVersion {
		return release{}, ErrUndefined
	}
	v, ok := parseRelease(s)
	if !ok {
		return release{}, ErrUndefined
	}
	return v, nil
}

func versionOrder(a, b string) (any, error) {
	x, err := version(a)
	if err != nil {
		return nil, err
	}
	y, err := version(b)
	if err != nil {
		return nil, err
	}
	return x.order(y), nil
}

// satisfies: a range that cannot be read is the author's mistake and fails the
// rule; a version that cannot be read is the input's.
func satisfies(v, constraint string) (any, error) {
	if len(constraint) > maxVersion {
		return nil, fault.Errorf("the range is longer than %d bytes", maxVersion)
	}
	groups, err := parseRange(constraint)
	if err != nil {
		return nil, fault.Errorf("%q is not a range of versions: %w", constraint, err)
	}
	parsed, err := version(v)
	if err != nil {
		return nil, err
	}
	return inRange(parsed, groups), nil
}
