package native

import (
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/hookc/hookc/rego/bounds"
)

var regexBuiltins = []own{
	{"regex.is_valid", 1, func() Builtin { return isRegex }},
	{"regex.match", 2, func() Builtin { return matchRegex }},
	{"re_match", 2, func() Builtin { return matchRegex }},
	{"regex.split", 2, func() Builtin {
		return onRegex(func(re *regexp.Regexp, s string) Value { return textValues(re.Split(s, -1)) })
	}},
	{"regex.find_n", 3, func() Builtin { return findRegex(findTexts) }},
	{"regex.find_all_string_submatch_n", 3, func() Builtin { return findRegex(findGroups) }},
	{"regex.replace", 3, func() Builtin { return replaceRegex }},
}

// compiled keeps what texts compile to, so that a pattern that is computed is
// not compiled at each call.
type compiled[K comparable, V any] struct {
	sync.RWMutex
	known map[K]V
}

// maxCompiled bounds a compiled; the host's patterns are bounded by nothing.
const maxCompiled = 256

// get is what a key compiles to. What does not compile is not kept.
func (c *compiled[K, V]) get(key K, compile func(K) (V, bool)) (V, bool) {
	c.RLock()
	v, ok := c.known[key]
	c.RUnlock()
	if ok {
		return v, true
	}
	if v, ok = compile(key); !ok {
		return v, false
	}
	c.Lock()
	defer c.Unlock()
	if c.known == nil || len(c.known) >= maxCompiled {
		c.known = make(map[K]V)
	}
	c.known[key] = v
	return v, true
}

var regexes compiled[string, *regexp.Regexp]

func regex(v Value) (*regexp.Regexp, bool) {
	pattern, ok := v.(string)
	if !ok {
		return nil, false
	}
	return regexes.get(pattern, func(pattern string) (*regexp.Regexp, bool) {
		re, err := regexp.Compile(pattern)
		return re, err == nil
	})
}

func isRegex(_ *Call, args []Value) (Value, bool, error) {
	pattern, ok := args[0].(string)
	if !ok {
		return false, true, nil
	}
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil, true, nil
}

func onRegex(f func(re *regexp.Regexp, s string) Value) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		s, ok := args[1].(string)
		if !ok {
			return bail()
		}
		re, ok := regex(args[0])
		if !ok {
			return bail()
		}
		return f(re, s), true, nil
	}
}

// matchRegex looks at a long text by pieces, between which the clock is asked, or
// counts what it looked at.
func matchRegex(c *Call, args []Value) (Value, bool, error) {
	s, ok := args[1].(string)
	if !ok {
		return bail()
	}
	re, ok := regex(args[0])
	if !ok {
		return bail()
	}
	if c == nil || c.m == nil {
		return re.MatchString(s), true, nil
	}
	if c.m.Unclocked || !bounds.LongSubject(s) {
		matched := re.MatchString(s)
		c.m.weigh(args[1])
		return matched, true, nil
	}
	matched, stopped := bounds.Match(re, s, func() bool {
		c.m.tick()
		return false
	})
	return matched && !stopped, true, nil
}

func findRegex(f func(re *regexp.Regexp, s string, n int) Value) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		s, ok1 := args[1].(string)
		n, ok2 := intArg(args[2])
		if !ok1 || !ok2 {
			return bail()
		}
		re, ok := regex(args[0])
		if !ok {
			return bail()
		}
		return f(re, s, n), true, nil
	}
}

func findTexts(re *regexp.Regexp, s string, n int) Value { return textValues(re.FindAllString(s, n)) }

func findGroups(re *regexp.Regexp, s string, n int) Value {
	found := re.FindAllStringSubmatch(s, n)
	out := make([]Value, len(found))
	for i, groups := range found {
		out[i] = textValues(groups)
	}
	return out
}

func replaceRegex(_ *Call, args []Value) (Value, bool, error) {
	s, ok1 := args[0].(string)
	by, ok2 := args[2].(string)
	if !ok1 || !ok2 {
		return bail()
	}
	re, ok := regex(args[1])
	if !ok {
		return bail()
	}
	if out := re.ReplaceAllString(s, by); out != s {
		return out, true, nil
	}
	return args[0], true, nil
}
