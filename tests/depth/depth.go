// Package depth says how many cases the random tests try: a part by default, so
// that `go test ./...` takes minutes, and more in .ci/run. It also says
// what `go test -short ./...` leaves out, which takes a minute ([NotShort]).
//
// [Variable] is the one switch. A test whose flag or variable gives a number of
// its own uses that number.
package depth

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Tests hold little and throw much away: with Go's own pace a third of their time
// goes into collecting it. Benchmarks keep that pace.
func init() {
	benchmarks := slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.bench") })
	if os.Getenv("GOGC") == "" && !benchmarks {
		debug.SetGCPercent(400)
	}
}

// Variable is the environment variable that .ci/run sets: to "full" for the laws, else to "wide". With "wide"
// more is tried than without it: all cases of the tables that [Tries] thins, and
// twice as many random ones.
const Variable = "HOOKC_TEST_DEPTH"

// The parts of the cases that are tried without the variable, where it is "wide",
// and with -short.
const (
	part      = 16
	widePart  = 8
	shortPart = 40
)

// Full reports whether all cases are tried.
func Full() bool { return value() == "full" }

// value is what the variable says. An unknown one is a mistake that would make a
// long run a short one: it panics.
func value() string {
	switch v := os.Getenv(Variable); v {
	case "", "wide", "full":
		return v
	default:
		panic(fmt.Sprintf("%s=%q: it is \"full\", \"wide\" or not set", Variable, v))
	}
}

// Cap makes a full run a wide one in a package whose cases take too long to be tried
// with those of all others, unless the variable with this name is set: a run of the
// package alone sets it. It is called by TestMain.
func Cap(variable string) {
	if Full() && os.Getenv(variable) == "" {
		os.Setenv(Variable, "wide")
	}
}

// Of is how many of all cases are tried in this run, and never 0. It may be
// called once flags are parsed: from a test, not for a variable of a package.
func Of[N int | int64 | uint64](all N) N {
	switch {
	case Full():
		return all
	case Short():
		return max(1, all/shortPart)
	case value() == "wide":
		return max(1, all/widePart)
	}
	return max(1, all/part)
}

// Judged is Of for a test that judges shares of what its cases came to: it takes
// no less than an eighth of them, because a few cases show no share.
func Judged[N int | int64 | uint64](all N) N {
	if Full() {
		return all
	}
	return max(1, all/widePart)
}

// Short reports whether this is a run of `go test -short`.
func Short() bool { return testing.Short() && value() == "" }

// NotShort skips a test that -short leaves out: one that needs the built hookc or
// hookgate (package programs calls it for those), or that takes seconds however
// few its cases are.
func NotShort(t testing.TB) {
	t.Helper()
	if Short() {
		t.Skip("-short leaves it out: CONTRIBUTING.md says what it tries")
	}
}

// NotDaily skips a test that .ci/run alone tries, which sets the variable: one that takes
// seconds, as to compile hookc again does.
func NotDaily(t testing.TB) {
	t.Helper()
	if value() == "" {
		t.Skipf("only %s=wide or full tries it, as .ci/run does", Variable)
	}
}

// Daily is how many of all cases are tried where all are tried without -short: it
// tries one of ten.
func Daily[N int | int64 | uint64](all N) N {
	if Short() {
		return max(1, all/10)
	}
	return all
}

// Skips reports whether -short leaves out case number i of a table whose cases are
// all tried without it: it tries one of ten.
func Skips(i int) bool { return Short() && i%10 != 0 }

// Tries reports whether case number i of a table is tried of which a daily run
// tries one of n: cases that each start processes or compile policies.
func Tries(i, n int) bool {
	switch {
	case Short():
		return i%max(n, 10) == 0
	case value() == "":
		return i%n == 0
	}
	return true
}

// Least is what a test demands where it demands at least so many of all cases:
// of a part of them half as many, because few cases are less even than many.
func Least[N int | int64 | uint64](all N) N {
	if Full() {
		return all
	}
	return Of(all) / 2
}
