package builtins

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "semver.order", Params: []Param{param("a"), param("b")}, Result: policy.NumberType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return versionOrder(text(args[0]), text(args[1])) },
	Doc:  "-1, 0 or 1 as version a comes before, with or after version b; a leading v and missing parts are allowed; undefined for what is no version",
	Examples: []Example{
		{Call: `semver.order("1.2.10", "1.2.9")`, Want: 1},
		{Call: `semver.order("v1.0.0-rc.1", "1.0")`, Want: -1},
	},
})

var _ = register(Func{
	Name: "semver.satisfies", Params: []Param{param("version"), param("constraint")}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return satisfies(text(args[0]), text(args[1])) },
	Doc:  "whether a version is in a range such as `>=1.2 <2 || ~3.1`; undefined for what is no version",
	Examples: []Example{
		{Call: `semver.satisfies("1.4.2", ">=1.2 <2")`, Want: true},
		{Call: `semver.satisfies("2.0.0-beta.1", "^1.9")`, Want: false},
	},
})

// maxVersion bounds a version or a range, in bytes.
const maxVersion = 256

func version(s string) (*semver.Version, error) {
	if len(s) > maxVersion {
		return nil, ErrUndefined
	}
	v, err := semver.NewVersion(s)
	if err != nil {
		return nil, ErrUndefined
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
	return x.Compare(y), nil
}

// satisfies: a range that cannot be read is the author's mistake and fails the
// rule; a version that cannot be read is the input's.
func satisfies(v, constraint string) (any, error) {
	if len(constraint) > maxVersion {
		return nil, fmt.Errorf("the range is longer than %d bytes", maxVersion)
	}
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return nil, fmt.Errorf("%q is not a range of versions: %w", constraint, err)
	}
	parsed, err := version(v)
	if err != nil {
		return nil, err
	}
	return c.Check(parsed), nil
}
