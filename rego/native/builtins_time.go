package native

import (
	"math"
	"strconv"
	"strings"
	"time"
)

var timeBuiltins = []own{
	{"time.parse_duration_ns", 1, func() Builtin { return onText(parseDuration) }},
	{"time.parse_rfc3339_ns", 1, func() Builtin { return onText(parseTime) }},
	{"time.date", 1, func() Builtin {
		return onTime(func(t time.Time) Value { y, m, d := t.Date(); return []Value{y, int(m), d} })
	}},
	{"time.clock", 1, func() Builtin {
		return onTime(func(t time.Time) Value { h, m, s := t.Clock(); return []Value{h, m, s} })
	}},
	{"time.weekday", 1, func() Builtin { return onTime(func(t time.Time) Value { return t.Weekday().String() }) }},
}

// parseDuration reads what Go reads, and days, weeks and years of 365 days.
func parseDuration(s string) (Value, bool, error) {
	if strings.ContainsAny(s, "dwy") {
		var ok bool
		if s, ok = inHours(s); !ok {
			return bail()
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return bail()
	}
	return int(d), true, nil
}

// inHours writes days, weeks and years as hours.
func inHours(s string) (string, bool) {
	var out strings.Builder
	if s[0] == '-' || s[0] == '+' {
		out.WriteByte(s[0])
		s = s[1:]
	}
	for s != "" {
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		unit, rest, ok := durationUnit(s[n:])
		if n == 0 || !ok {
			return "", false
		}
		if hours := map[string]float64{"d": 24, "w": 7 * 24, "y": 365 * 24}[unit]; hours > 0 {
			f, err := strconv.ParseFloat(s[:n], 64)
			if err != nil {
				return "", false
			}
			out.WriteString(strconv.FormatFloat(f*hours, 'f', -1, 64) + "h")
		} else {
			out.WriteString(s[:n] + unit)
		}
		s = rest
	}
	return out.String(), true
}

func durationUnit(s string) (unit, rest string, ok bool) {
	for _, unit := range []string{"ms", "us", "µs", "ns"} {
		if rest, ok := strings.CutPrefix(s, unit); ok {
			return unit, rest, true
		}
	}
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return "", s, false
	}
	return s[:1], s[1:], true
}

func parseTime(s string) (Value, bool, error) {
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
