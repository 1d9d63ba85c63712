package model

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// noon is the time of day of the tests' account.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// at is noon and so many seconds, as HTTP writes it.
func at(seconds int) string {
	return noon.Add(time.Duration(seconds) * time.Second).Format(http.TimeFormat)
}

// TestWhatTheServerAsksToWait: in seconds, in milliseconds, and as a date by
// the server's clock, which is an hour before ours where it is said.
func TestWhatTheServerAsksToWait(t *testing.T) {
	const backoff = firstBackoff
	rows := []struct {
		name            string
		after, ms, date string
		least           time.Duration
	}{
		{"seconds", "7", "", "", 7 * time.Second},
		{"part of a second", "0.5", "", "", 500 * time.Millisecond},
		{"at once", "0", "", "", 0},
		{"milliseconds before seconds", "7", "1500", "", 1500 * time.Millisecond},
		{"milliseconds alone", "", "40.5", "", 40500 * time.Microsecond},
		{"milliseconds of no use", "7", "soon", "", 7 * time.Second},
		{"a date", at(90), "", "", 90 * time.Second},
		{"a date, and another clock", at(-3510), "", at(-3600), 90 * time.Second},
		{"a date that is over", at(-5), "", "", 0},
		{"nothing", "", "", "", backoff},
		{"no number", "soon", "", "", backoff},
		{"less than nothing", "-3", "", "", backoff},
		{"no number at all", "NaN", "", "", backoff},
		{"for ever", "Inf", "", "", tooLong},
		{"more than a number holds", "1e999", "", "", tooLong},
		{"more than a duration holds", "99999999999999", "", "", tooLong},
	}
	for _, p := range providers {
		for _, row := range rows {
			for _, random := range []float64{0, 0.5, 0.999} {
				a := accountOf(protocolOf(t, p.name), from(p.env("http://localhost")))
				a.now, a.random = func() time.Time { return noon }, func() float64 { return random }
				h := http.Header{}
				for name, value := range map[string]string{"Retry-After": row.after, "Retry-After-Ms": row.ms, "Date": row.date} {
					if value != "" {
						h.Set(name, value)
					}
				}
				for _, status := range []int{429, 503} {
					var failed *policy.HookError
					require.ErrorAs(t, a.refused(&http.Response{StatusCode: status, Header: h}, 0), &failed)
					if row.least == backoff {
						assert.Equal(t, backoff-time.Duration(random*float64(backoff/4)), failed.After, row.name)
						continue
					}
					assert.Equal(t, row.least+time.Duration(random*float64(min(row.least/10, time.Second))), failed.After, row.name)
				}
				var failed *policy.HookError
				require.ErrorAs(t, a.refused(&http.Response{StatusCode: 401, Header: h}, 0), &failed)
				assert.Zero(t, failed.After, "time does not mend a key")
			}
		}
	}
}

// TestBackoff: twice as long each time, up to a bound, for any attempt.
func TestBackoff(t *testing.T) {
	a := accountOf(chatCompletions, from(nil))
	a.random = func() float64 { return 0 }
	var got []time.Duration
	for attempt := range 8 {
		got = append(got, a.backoff(attempt))
	}
	ms := time.Millisecond
	assert.Equal(t, []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 8000 * ms, 8000 * ms}, got)
	assert.Equal(t, 8000*ms, a.backoff(1<<40))
	a.random = func() float64 { return 0.5 }
	assert.Equal(t, 7000*ms, a.backoff(9))
}

// TestWaitOverTheWire: what a server says arrives, and an attempt's number
// counts.
func TestWaitOverTheWire(t *testing.T) {
	for _, p := range providers {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Team") == "" {
				w.Header().Set("Retry-After", "3")
			}
			sends(429, "")(w, r)
		}))
		_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
		var failed *policy.HookError
		require.ErrorAs(t, err, &failed)
		assert.GreaterOrEqual(t, failed.After, 3*time.Second)
		assert.LessOrEqual(t, failed.After, 3300*time.Millisecond)
		srv.Config.Handler = sends(429, "")
		_, err = open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?", Attempt: 2})
		srv.Close()
		require.ErrorAs(t, err, &failed)
		assert.Greater(t, failed.After, 750*time.Millisecond)
		assert.LessOrEqual(t, failed.After, time.Second)
	}
}
