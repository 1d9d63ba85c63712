package native

import (
	"regexp"
	"sync"

	"github.com/hookc/hookc/rego/bounds"
)

var regexBuiltins = []own{
	{"regex.match", 2, func() Builtin { return matchRegex }},
	{"re_match", 2, func() Builtin { return matchRegex }},
	{"regex.split", 2, func() Builtin { return splitRegex }},
	{"regex.find_n", 3, func() Builtin { return findRegex }},
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

func splitRegex(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[1].(string)
	if !ok {
		return bail()
	}
	re, ok := regex(args[0])
	if !ok {
		return bail()
	}
	return textValues(re.Split(s, -1)), true, nil
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

func findRegex(_ *Call, args []Value) (Value, bool, error) {
	s, ok1 := args[1].(string)
	n, ok2 := intArg(args[2])
	if !ok1 || !ok2 {
		return bail()
	}
	re, ok := regex(args[0])
	if !ok {
		return bail()
	}
	return textValues(re.FindAllString(s, n)), true, nil
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
