package native

import (
	"math"
	"time"
)

var timeBuiltins = []own{
	{"time.parse_rfc3339_ns", 1, func() Builtin { return parseTime }},
	{"time.date", 1, func() Builtin {
		return onTime(func(t time.Time) Value { y, m, d := t.Date(); return []Value{y, int(m), d} })
	}},
	{"time.clock", 1, func() Builtin {
		return onTime(func(t time.Time) Value { h, m, s := t.Clock(); return []Value{h, m, s} })
	}},
	{"time.weekday", 1, func() Builtin { return onTime(func(t time.Time) Value { return t.Weekday().String() }) }},
}

func parseTime(_ *Call, args []Value) (Value, bool, error) {
	s, _ := args[0].(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return bail()
	}
	return int(t.UnixNano()), true, nil
}

// onTime makes a builtin of a time in UTC: nanoseconds, or an array of them.
// Other zones are the host's, which has their names.
func onTime(f func(t time.Time) Value) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		v := args[0]
		if list, ok := v.([]Value); ok {
			switch {
			case len(list) == 0 || len(list) > 2:
				return bail()
			case len(list) == 2 && list[1] != "" && list[1] != "UTC":
				return bail()
			}
			v = list[0]
		}
		ns, ok := position(v)
		if !ok {
			return bail()
		}
		return f(time.Unix(0, ns).UTC()), true, nil
	}
}
