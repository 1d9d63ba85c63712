package ui

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/cmd/hookc/logs"
	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/impact"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	terms "github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/tests/depth"
)

// browser is a client that has opened the page.
type browser struct {
	*testing.T
	http.Client
	link, base, home string
	stop             func()
}

// opened runs `hookc ui`, and opens what it prints.
func opened(t *testing.T, args ...string) *browser {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home, err := state.Home()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	cmd := command("ann")
	cmd.SetArgs(append([]string{"--as=ann"}, args...))
	out, printed := io.Pipe()
	cmd.SetOut(printed)
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		printed.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	var link [200]byte
	n, err := out.Read(link[:])
	require.NoError(t, err)
	b := &browser{T: t, link: strings.TrimSpace(string(link[:n])), home: home, stop: stop}
	b.base, _, _ = strings.Cut(b.link, "/?token=")
	b.Jar, err = cookiejar.New(nil)
	require.NoError(t, err)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

func command(string) *cobra.Command {
	h := &logs.Host{Path: func(_ context.Context, p string) string { return p }}
	cmd := New(h, func() *cobra.Command {
		root := &cobra.Command{Use: "hookc", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{Use: "doctor", RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(cmd.OutOrStdout(), `{"checks":[{"check":%q,"status":%[1]q,"text":%[1]q,"hint":%[1]q}]}`, "<script>alert(1)</script>")
			return fmt.Errorf("findings")
		}, DisableFlagParsing: true})
		bad := "<script>alert(1)</script>"
		for name, v := range map[string]any{
			"impact":  impact.Report{Calls: 2, Changed: 1, Notes: []string{bad}, Hooks: []*impact.Hook{{Name: bad, State: bad, Blocked: 3, Asked: 1, Days: map[string]int{bad: 1, "2026-01-01": 3}, Samples: []impact.Sample{{ID: bad, Tool: bad, Call: bad}}}}},
			"explain": map[string]any{"rules": []witness.Rule{{Hook: bad, Event: "stop", Status: witness.Status(bad), Place: "hooks.yaml:1:1", Why: []string{bad}, Witness: map[string]any{"tool_name": "Bash", "cwd": bad}}}},
		} {
			root.AddCommand(&cobra.Command{Use: name, DisableFlagParsing: true, RunE: func(cmd *cobra.Command, _ []string) error {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}})
		}
		return root
	})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd
}

func (b *browser) ask(r *http.Request) (status int, header http.Header, text string) {
	b.Helper()
	answer, err := b.Do(r)
	require.NoError(b, err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	return answer.StatusCode, answer.Header, string(all)
}

func (b *browser) request(method, path string, body io.Reader) *http.Request {
	r, err := http.NewRequest(method, b.base+path, body)
	require.NoError(b, err)
	return r
}

func (b *browser) get(path string) string {
	b.Helper()
	status, _, text := b.ask(b.request("GET", path, nil))
	require.Equal(b, http.StatusOK, status, "%s: %s", path, text)
	return text
}

// enter follows the printed link.
func (b *browser) enter() *browser {
	b.Helper()
	_, token, _ := strings.Cut(b.link, "?")
	status, header, _ := b.ask(b.request("GET", "/?"+token, nil))
	require.Equal(b, http.StatusSeeOther, status)
	require.Equal(b, "/", header.Get("Location"))
	return b
}

// anyone may answer, within an hour.
var anyone = terms.Terms{Anyone: true, Quorum: 1, TTL: time.Hour}

var everywhere = []string{"/", "/decision?id=000000000000000000000001", "/hooks", "/approvals", "/agents", "/impact", "/hooks?rules=all", "/agents?examine=claude", "/chain.svg?event=stop", "/style.css", "/script.js", "/none"}

// TestOnlyWhoHasTheToken: nothing is told to anybody else, and everything that is told
// forbids the browser to load or run anything else.
func TestOnlyWhoHasTheToken(t *testing.T) {
	b := opened(t)
	for _, path := range append([]string{"/?token=", "/?token=" + strings.Repeat("0", 64), "/?token=%00", "/hooks?token=x"}, everywhere...) {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
			status, header, text := b.ask(b.request(method, path, nil))
			assert.Equal(t, http.StatusForbidden, status, "%s %s", method, path)
			assert.Empty(t, header["Set-Cookie"])
			assert.NotContains(t, text, "<")
		}
	}
	_, token, _ := strings.Cut(b.link, "?")
	_, header, _ := b.ask(b.request("GET", "/?"+token, nil))
	require.Len(t, header["Set-Cookie"], 1)
	assert.Contains(t, header.Get("Set-Cookie"), "; Path=/; HttpOnly; SameSite=Strict")
	assert.NotContains(t, header.Get("Set-Cookie"), strings.TrimPrefix(token, "token="))
	for _, path := range everywhere {
		_, header, _ := b.ask(b.request("GET", path, nil))
		got := header.Get("Content-Security-Policy")
		assert.True(t, strings.HasPrefix(got, "default-src 'none'; "), path)
		if path != "/chain.svg?event=stop" {
			assert.NotContains(t, got, "unsafe", path)
		}
		assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		assert.Equal(t, "no-store", header.Get("Cache-Control"))
		assert.Equal(t, "same-origin", header.Get("Referrer-Policy"))
	}
}

// TestOtherNamesAndSites: with the cookie too, a request by another name for this host,
// or from another site's page, is refused.
func TestOtherNamesAndSites(t *testing.T) {
	b := opened(t).enter()
	at, err := url.Parse(b.base)
	require.NoError(t, err)
	for host, want := range map[string]int{
		at.Host: 200, "localhost:" + at.Port(): 200, "evil.example:" + at.Port(): 403, "127.0.0.1.evil.example:" + at.Port(): 403,
		"127.0.0.1": 403, "127.0.0.1:1": 403, "192.0.2.1:" + at.Port(): 403, "evil.example": 403,
	} {
		r := b.request("GET", "/hooks", nil)
		r.Host = host
		r.AddCookie(b.Jar.Cookies(at)[0]) // whatever the name
		status, _, _ := b.ask(r)
		assert.Equal(t, want, status, host)
	}
	for site, want := range map[string]int{"same-origin": 200, "none": 200, "cross-site": 403, "same-site": 403} {
		r := b.request("GET", "/hooks", nil)
		r.Header.Set("Sec-Fetch-Site", site)
		status, _, _ := b.ask(r)
		assert.Equal(t, want, status, site)
	}
}

func TestAddresses(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:0", "localhost:0", "127.0.0.1", "[::]:0"} {
		cmd := command("")
		cmd.SetArgs([]string{"--addr=" + address})
		cmd.SetOut(io.Discard)
		assert.Error(t, cmd.ExecuteContext(t.Context()), address)
	}
}

// A link that a browser is started with works once.
func TestOnce(t *testing.T) {
	s := &server{token: "a"}
	once := "b"
	s.once.Store(&once)
	assert.Equal(t, http.StatusSeeOther, s.enter("b").Status)
	assert.Equal(t, http.StatusForbidden, s.enter("b").Status)
	assert.Equal(t, http.StatusSeeOther, s.enter("a").Status)
}

// hostile are texts that would be more than text in HTML, attributes, addresses, SVG or
// JSON.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `</title></svg><script>alert(1)</script>`,
	`{{.Form}}`, `&lt;script&gt;`, "a\nb\rc\x00d\u202ee", `?token=x&id=<b>#"`, `--><script>`, `]]>`, `</pre></textarea><iframe src=//evil.example>`, "`${alert(1)}`", `<!--`,
}

// written logs decisions in which every text is hostile.
func (b *browser) written() {
	w, err := decisionlog.Open(decisionlog.Folder(b.home), decisionlog.Options{})
	require.NoError(b, err)
	for i, s := range hostile {
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, s).Set(policy.FieldSessionID, s).Set(policy.FieldToolInput, map[string]any{"command": s, s: s})
		d := &policy.Decision{Event: policy.PreToolExecution, Action: policy.Block, Verdict: policy.Deny, Control: policy.Go, By: s, Reasons: []string{s}, Feedback: []string{s},
			Failed: []policy.Failure{{Hook: s, Error: s, Kind: policy.ErrKind(s)}}, Patch: map[string]any{"tool_input": map[string]any{"command": s + "\nmore", s: s + "."}},
			Hooks: []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: s}, Status: policy.StatusRan, Verdict: policy.Deny, Micros: int64(1 + i)},
				{TracedHook: &policy.TracedHook{Name: s + "2"}, Status: policy.StatusFailed}}}
		entry := decisionlog.Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Agent: s, Decision: d}
		if i%5 == 4 {
			entry.Err, entry.Decision = s, nil
		}
		require.NoError(b, w.Add(b.Context(), entry))
	}
	require.NoError(b, w.Close())
}

// both renders every view by html/template as well, and finds the same texts and the
// same markup.
type both struct {
	*testing.T
	ours interface {
		ExecuteTemplate(w io.Writer, name string, data any) error
	}
	theirs *template.Template
	views  map[string]int
}

func (b *both) ExecuteTemplate(w io.Writer, name string, data any) error {
	var ours, theirs bytes.Buffer
	assert.NoError(b, b.ours.ExecuteTemplate(&ours, name, data))
	assert.NoError(b, b.theirs.ExecuteTemplate(&theirs, name, data))
	for _, mark := range []string{"<", ">", `"`, "'", "`"} {
		if mark == "`" {
			continue // html/template escapes it for browsers that nobody has
		}
		assert.Equal(b, strings.Count(theirs.String(), mark), strings.Count(ours.String(), mark), "%s: %s", name, mark)
	}
	assert.Equal(b, readable(theirs.String()), readable(ours.String()), name)
	b.views[name]++
	_, err := w.Write(ours.Bytes())
	return err
}

// readable is what a page says, without what spell spells out.
func readable(page string) string {
	lines := strings.Split(html.UnescapeString(page), "\n")
	for i, l := range lines {
		lines[i] = spell.Line(l)
	}
	return regexp.MustCompile(`\\[nr]|\\u000[aAdD0]|\s+|\x{fffd}`).ReplaceAllString(strings.Join(lines, ""), "")
}

// TestHostileTexts: whatever the log and the approvals hold stays text, on every page.
func TestHostileTexts(t *testing.T) {
	theirs, err := template.New("").Funcs(template.FuncMap{"lines": func(v any) any { return v }}).Parse(assets()[0])
	require.NoError(t, err)
	ours := views
	check := &both{t, ours(), theirs, map[string]int{}}
	views = func() viewer { return check }
	defer func() { views = ours }()
	b := opened(t).enter()
	b.written()
	store := approval.Open(b.home)
	for _, s := range hostile {
		_, _, _, err := store.Ask(t.Context(), &approval.Question{Call: approval.Call{Event: policy.PreToolExecution, Tool: s, Input: map[string]any{"command": s}, Cwd: s},
			Session: s, Policy: "p", Rules: []string{s}, Reasons: []string{s}, Agent: s, Terms: anyone})
		require.NoError(t, err)
	}
	first := b.get("/")
	ids := regexp.MustCompile(`decision\?id=([0-9a-f]{24})`).FindAllStringSubmatch(first, -1)
	require.Len(t, ids, len(hostile))
	for _, id := range ids {
		page := b.get("/decision?id=" + id[1])
		assert.NotRegexp(t, `(?i)<(script>|img src=x|iframe|b>)|="javascript`, page)
		assert.NotContains(t, page, "\u202e")
	}
	for _, s := range hostile {
		for _, name := range []string{"agent", "event", "tool", "action", "hook", "text", "before"} {
			assert.NotRegexp(t, `(?i)<(script>|img|iframe|b>)`, b.get("/?"+url.Values{name: {s}}.Encode()))
		}
		for _, path := range []string{"/decision?" + url.Values{"id": {s}}.Encode(), "/agents?" + url.Values{"examine": {s}}.Encode(), "/" + url.PathEscape(s), "/chain.svg?" + url.Values{"event": {s}, "tool": {s}}.Encode()} {
			_, header, text := b.ask(b.request("GET", path, nil))
			if strings.HasPrefix(header.Get("Content-Type"), "text/html") {
				assert.NotRegexp(t, `(?i)<(script>|img|iframe|b>)`, text)
			}
		}
	}
	for _, path := range []string{"/hooks", "/hooks?rules=all", "/impact", "/impact?policy=x&since=" + url.QueryEscape(hostile[0]), "/approvals", "/agents", "/agents?examine=claude"} {
		assert.NotRegexp(t, `(?i)<(script>|img|iframe|b>)|="javascript`, b.get(path))
	}
	rules := b.get("/hooks?rules=all")
	assert.Contains(t, rules, "hooks.yaml:1:1")
	assert.Contains(t, rules, `&#34;,&#34;tool_name&#34;:&#34;Bash&#34;}`, "an event is one line")
	for _, name := range []string{"decisions", "decision", "hooks", "approvals", "agents", "impact", "message"} {
		assert.NotZero(t, check.views[name], name)
	}
}

// TestMarkupIsPlain: values stand where an escaped text is nothing but text.
func TestMarkupIsPlain(t *testing.T) {
	assert.NotRegexp(t, `(?i)<style|style=|<script>| on[a-z]+=|=\s*\{\{|='`, assets()[0])
}

// many logs n decisions, one a millisecond.
func (b *browser) many(n int, began time.Time) {
	w, err := decisionlog.Open(decisionlog.Folder(b.home), decisionlog.Options{Buffer: n + 1})
	require.NoError(b, err)
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"}).Frozen(policy.PreToolExecution)
	for i := range n {
		d := &policy.Decision{Event: policy.PreToolExecution, Action: policy.Proceed, Control: policy.Go}
		if i%1000 == 0 {
			d.Action, d.By = policy.Block, "rare"
		}
		require.NoError(b, w.Add(b.Context(), decisionlog.Decided{At: began.Add(time.Duration(i) * time.Millisecond), Event: policy.PreToolExecution, In: in, Decision: d}))
	}
	require.NoError(b, w.Close())
}

// TestManyDecisions: a log is read once. What is read for a page after that is what was
// written since.
func TestManyDecisions(t *testing.T) {
	b := opened(t).enter()
	n := depth.Of(100_000)
	b.many(n, time.Now().Add(-time.Hour))
	r := newRecord(decisionlog.Folder(b.home))
	r.refresh()
	require.Len(t, r.rows, n)
	read := r.read
	assert.Less(t, read, n+100)
	var seen int
	before := ""
	for {
		r.refresh()
		rows, more := r.page(&filter{}, before, perPage)
		seen += len(rows)
		before = rows[len(rows)-1].ID
		if !more {
			break
		}
	}
	assert.Equal(t, n, seen)
	assert.LessOrEqual(t, r.read-read, (n/perPage+2)*3, "a page reads the end of the log, and no more")
	rows, _ := r.page(&filter{Action: "block"}, "", 1000)
	assert.Len(t, rows, (n+999)/1000)
	b.many(3, time.Now())
	read = r.read
	r.refresh()
	assert.Len(t, r.rows, n+3)
	assert.LessOrEqual(t, r.read-read, 10)
	assert.Contains(t, b.get("/?hook=rare"), "rare")
}

// TestLive: a page whose log stays as it is is not sent again.
func TestLive(t *testing.T) {
	b := opened(t).enter()
	b.many(2, time.Now())
	_, header, _ := b.ask(b.request("GET", "/", nil))
	r := b.request("GET", "/", nil)
	r.Header.Set("If-None-Match", header.Get("ETag"))
	status, _, _ := b.ask(r)
	assert.Equal(t, http.StatusNotModified, status)
	b.written()
	status, _, text := b.ask(r)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, "block")
}

// TestApprovals: an answer counts once, by the name that the page has, from the page's
// own form alone.
func TestApprovals(t *testing.T) {
	b := opened(t).enter()
	store := approval.Open(b.home)
	a, _, made, err := store.Ask(t.Context(), &approval.Question{Call: approval.Call{Event: policy.PreToolExecution, Tool: "Bash", Input: map[string]any{"command": "git push"}}, Session: "s", Policy: "p", Rules: []string{"r"}, Terms: anyone})
	require.NoError(t, err)
	require.True(t, made)
	page := b.get("/approvals")
	assert.Contains(t, page, "git push")
	form := regexp.MustCompile(`name="form" value="([0-9a-f]{64})"`).FindStringSubmatch(page)
	require.NotNil(t, form)
	send := func(change func(r *http.Request, form url.Values)) int {
		values := url.Values{"form": {form[1]}, "id": {a.ID}, "verdict": {"grant"}, "scope": {"once"}, "reason": {"fine"}}
		r := b.request("POST", "/approvals", nil)
		r.Header.Set("Origin", b.base)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(r, values)
		text := values.Encode()
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		status, _, _ := b.ask(r)
		return status
	}
	for want, all := range map[int][]func(r *http.Request, form url.Values){
		http.StatusForbidden: {
			func(r *http.Request, _ url.Values) { r.Header.Del("Origin") },
			func(r *http.Request, _ url.Values) { r.Header.Set("Origin", "null") },
			func(r *http.Request, _ url.Values) { r.Header.Set("Origin", "http://evil.example") },
			func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			func(_ *http.Request, form url.Values) { form.Del("form") },
			func(_ *http.Request, form url.Values) { form.Set("form", strings.Repeat("0", 64)) },
		},
		http.StatusBadRequest: {
			func(r *http.Request, _ url.Values) { r.Header.Set("Content-Type", "text/plain") },
			func(_ *http.Request, form url.Values) { form.Set("verdict", "yes") },
			func(_ *http.Request, form url.Values) { form.Set("scope", "ever") },
			func(_ *http.Request, form url.Values) { form.Set("id", "../../x") },
		},
	} {
		for i, change := range all {
			assert.Equal(t, want, send(change), "%d", i)
		}
	}
	now, err := store.Get(a.ID)
	require.NoError(t, err)
	require.Equal(t, approval.Pending, now.State)
	assert.Equal(t, http.StatusSeeOther, send(func(*http.Request, url.Values) {}))
	now, err = store.Get(a.ID)
	require.NoError(t, err)
	assert.Equal(t, approval.Granted, now.State)
	assert.Equal(t, []string{"ann"}, now.By())
	assert.Equal(t, "fine", now.Why())
	assert.Equal(t, http.StatusConflict, send(func(*http.Request, url.Values) {}))
}

var update = flag.Bool("update", false, "pack page.html, style.css and script.js again")

// TestAssets: what is packed is what is written.
func TestAssets(t *testing.T) {
	var all []string
	for _, name := range []string{"page.html", "style.css", "script.js"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		require.NoError(t, err)
		_, err = io.WriteString(w, strings.Join(all, "\x00"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile("assets.gz", b.Bytes(), 0o644))
		return
	}
	assert.Equal(t, all, assets(), "go test ./cmd/hookc/ui -run TestAssets -update")
}

func TestChanges(t *testing.T) {
	got := changes("", map[string]any{"tool_input": map[string]any{"command": "a\nb\nc\nd\ne", "timeout": "1"}},
		map[string]any{"tool_input": map[string]any{"command": "a\nb\nx\nd\ne"}, "user_input": "new"}, nil)
	assert.Equal(t, []change{{"tool_input.command", []line{{"same", "a"}, {"same", "b"}, {"del", "c"}, {"ins", "x"}, {"same", "d"}, {"same", "e"}}},
		{"user_input", []line{{"ins", "new"}}}}, got)
}

func TestHistogram(t *testing.T) {
	h := hook{Times: [13]int{0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}
	bars, spoken := h.histogram()
	assert.Equal(t, []bar{{21, 2, 48}, {41, 34, 16}, {241, 34, 16}}, bars)
	assert.Equal(t, "3 up to 4µs, 1 up to 16µs, 1 longer", spoken)
}
