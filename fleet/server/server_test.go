package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const guard = "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"REASON\"}\n"

func file(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func policyFile(t *testing.T, reason string) string {
	return file(t, "hooks.yaml", strings.Replace(guard, "REASON", reason, 1))
}

// listening starts a server, whose address it returns.
func listening(t *testing.T, change func(*Options)) (*Running, string) {
	o := Options{Address: "127.0.0.1:0", Policies: []string{policyFile(t, "no")}, Limits: Standard, Drain: time.Minute}
	o.Auth.Claim = "team"
	if change != nil {
		change(&o)
	}
	r, err := o.Listen(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { r.End() })
	return r, "http://" + r.Address.String()
}

const remove = `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"cwd":"/nowhere/of/this/machine"}`

type answer struct {
	status int
	header http.Header
	text   string
	Action string   `json:"action"`
	Code   string   `json:"code"`
	Reason []string `json:"reasons"`
}

func post(t *testing.T, client *http.Client, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	a := answer{status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &a) // an agent's own words may be no object
	return a
}

func TestDecides(t *testing.T) {
	r, url := listening(t, nil)
	a := post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove)
	assert.Equal(t, 200, a.status)
	assert.Equal(t, "block", a.Action)
	assert.Equal(t, []string{"no"}, a.Reason)
	a = post(t, http.DefaultClient, url+"/v1/events/PreToolUse", strings.Replace(remove, "rm -rf /", "ls", 1))
	assert.Equal(t, "proceed", a.Action, a.text)
	a = post(t, http.DefaultClient, url+"/v1/events:batch", `{"events":[`+remove+`,{"event":"none"},`+strings.Replace(remove, "rm -rf /", "ls", 1)+`]}`)
	var all struct{ Decisions []answer }
	require.NoError(t, json.Unmarshal([]byte(a.text), &all), a.text)
	require.Len(t, all.Decisions, 3)
	assert.Equal(t, []string{"block", "block", "proceed"}, []string{all.Decisions[0].Action, all.Decisions[1].Action, all.Decisions[2].Action})
	assert.Equal(t, "HK390", all.Decisions[1].Code)
	for path, want := range map[string]string{"/health/live": "ok", "/health/ready": "ok", "/metrics": `hookcd_decisions_total{action="block"} 2`} {
		res, err := http.Get(url + path)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, 200, res.StatusCode, path)
		assert.Contains(t, string(text), want)
		res.Body.Close()
	}
	r.ending.Store(true)
	res, err := http.Get(url + "/health/ready")
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
}

// TestDialect: an agent's own event is answered in its own words, also where it cannot
// be read.
func TestDialect(t *testing.T) {
	_, url := listening(t, nil)
	const native = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"rm x"}}`
	a := post(t, http.DefaultClient, url+"/v1/events/PreToolUse?dialect=claude", native)
	assert.Equal(t, "2", a.header.Get(exitHeader))
	assert.Equal(t, `"no"`, a.header.Get(stderrHeader))
	a = post(t, http.DefaultClient, url+"/v1/events/PreToolUse?dialect=claude", `{`)
	assert.Equal(t, "2", a.header.Get(exitHeader), "%v", a)
	a = post(t, http.DefaultClient, url+"/v1/events/PreToolUse?dialect=nobody", native)
	assert.Equal(t, "HK393", a.Code)
	assert.Equal(t, "block", a.Action)
	a = post(t, http.DefaultClient, url+"/v1/events/BeforeTool?dialect=gemini", `{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/x","tool_name":"run_shell_command","tool_input":{"command":"rm x"}}`)
	assert.Contains(t, a.text, `"decision":"deny"`)
}

// TestRefuses: whatever is no event is refused, with a code and the posture.
func TestRefuses(t *testing.T) {
	_, url := listening(t, func(o *Options) { o.Limits.Event, o.Limits.Batch, o.Limits.Events = 1000, 2000, 2 })
	for name, row := range map[string]struct {
		path, body string
		status     int
		code       string
	}{
		"unknown event":  {"/v1/events/nothing", remove, 404, "HK390"},
		"no event":       {"/v1/events/", remove, 404, ""},
		"no path":        {"/", remove, 404, ""},
		"bad JSON":       {"/v1/events/pre_tool_execution", `{"event"`, 422, "HK391"},
		"empty":          {"/v1/events/pre_tool_execution", ``, 422, "HK391"},
		"an array":       {"/v1/events/pre_tool_execution", `[]`, 422, "HK391"},
		"no tool":        {"/v1/events/pre_tool_execution", `{"event":"pre_tool_execution"}`, 422, "HK391"},
		"another event":  {"/v1/events/pre_tool_execution", `{"event":"stop","cwd":"/x","tool_name":"Bash"}`, 422, "HK391"},
		"too large":      {"/v1/events/pre_tool_execution", strings.Repeat(" ", 1001) + remove, 413, "HK392"},
		"no batch":       {"/v1/events:batch", `[]`, 422, "HK391"},
		"a large batch":  {"/v1/events:batch", strings.Repeat(" ", 2001), 413, "HK392"},
		"too many":       {"/v1/events:batch", `{"events":[1,2,3]}`, 413, "HK392"},
		"path traversal": {"/v1/events/../events/x", remove, 404, "HK390"},
	} {
		a := post(t, http.DefaultClient, url+row.path, row.body)
		assert.Equal(t, row.status, a.status, name)
		assert.Equal(t, row.code, a.Code, name)
		assert.Equal(t, "block", a.Action, name)
		assert.Contains(t, a.text, `"posture":"deny"`, name)
		assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"), name)
	}
	res, err := http.Get(url + "/v1/events/stop")
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, 405, res.StatusCode)
}

// TestRefusesUndecided: a request that reads like one for decisions, and is none, is refused: a
// client would take an answer without a decision, or in words of no agent, for one that
// lets the action through.
func TestRefusesUndecided(t *testing.T) {
	_, url := listening(t, nil)
	const native = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"rm x"}}`
	harmless := strings.Replace(remove, "rm -rf /", "ls", 1)
	for _, query := range []string{"dialect", "dialect=", "Dialect=claude", "dialekt=claude", "a;dialect=claude", "dialect=&dialect=claude", "dialect=gemini&dialect=claude", "dialect=claude&dialect=claude", "dialect=claude&x=y", "&dialect=claude&&a", "="} {
		a := post(t, http.DefaultClient, url+"/v1/events/PreToolUse?"+query, native)
		assert.Equal(t, []any{http.StatusBadRequest, "HK393", "block"}, []any{a.status, a.Code, a.Action}, query)
	}
	for _, body := range []string{`{}`, `null`, `{"events":null}`, `{"event":[` + remove + `]}`, `{"Events":[` + remove + `]}`, `{"\u0065vents":[` + remove + `]}`, `{"events":[` + remove + `],"events":[` + harmless + `]}`,
		`{"events":[` + remove + `],"EVENTS":[]}`, `{"a":1,"events":[` + remove + `]}`, `{"events":[` + remove + `],"dialect":"claude"}`, `{"events":[` + remove + `],"":null}`} {
		a := post(t, http.DefaultClient, url+"/v1/events:batch", body)
		assert.Equal(t, []any{http.StatusUnprocessableEntity, "HK391", "block"}, []any{a.status, a.Code, a.Action}, body)
	}
	a := post(t, http.DefaultClient, url+"/v1/events:batch?dialect=claude", `{"events":[`+native+`]}`)
	assert.Equal(t, []any{http.StatusBadRequest, "HK393", "block"}, []any{a.status, a.Code, a.Action})
}

// TestUnfit: a policy that would act on this machine with what a client sent is refused.
func TestUnfit(t *testing.T) {
	for name, text := range map[string]string{
		"script": "pre_tool_execution:\n  - {name: a, command: 'true'}\n",
		"model":  "pre_tool_execution:\n  - {name: a, type: llm, prompt: 'is it well?'}\n",
		"fact":   "facts:\n  branch: {command: git branch}\npre_tool_execution:\n  - {name: a, deny: 'facts.branch == \"main\"', reason: no}\n",
		"paths":  "pre_tool_execution:\n  - {name: a, use: path-guard, protect: ['*.env']}\n",
		"shell":  "pre_tool_execution:\n  - {name: a, use: shell-guard}\n",
		"broken": "pre_tool_execution: 1\n",
	} {
		o := Options{Address: "127.0.0.1:0", Policies: []string{file(t, "hooks.yaml", text)}, Limits: Standard}
		_, err := o.Listen(t.Context())
		require.Error(t, err, name)
		if name == "shell" || name == "paths" {
			assert.ErrorContains(t, err, "--same-disk", name)
			o.SameDisk = true
			r, err := o.Listen(t.Context())
			require.NoError(t, err, name)
			require.NoError(t, r.End())
		}
	}
}

func TestOpenToNobody(t *testing.T) {
	for name, o := range map[string]Options{
		"anybody":          {Address: "0.0.0.0:0", Cert: "c", Key: "k"},
		"in the clear":     {Address: "0.0.0.0:0", Auth: AuthOptions{Tokens: file(t, "tokens", "a sha256:"+strings.Repeat("0", 64))}},
		"half a pair":      {Address: "127.0.0.1:0", Cert: "c"},
		"a token":          {Address: "127.0.0.1:0", Auth: AuthOptions{Tokens: file(t, "tokens", "a secret")}},
		"no audience":      {Address: "127.0.0.1:0", Auth: AuthOptions{Keys: file(t, "keys", "{}")}},
		"keys in the open": {Address: "127.0.0.1:0", Auth: AuthOptions{Keys: "http://x/", Issuer: "i", Audience: "a"}},
	} {
		o.Policies, o.Limits = []string{policyFile(t, "no")}, Standard
		_, err := o.Listen(t.Context())
		assert.Error(t, err, name)
	}
}

// TestTenants: a token's label chooses the policy; who is not known is refused.
func TestTenants(t *testing.T) {
	sum := func(token string) string { s := sha256.Sum256([]byte(token)); return hex.EncodeToString(s[:]) }
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key, err := jwk.Import(private)
	require.NoError(t, err)
	require.NoError(t, key.Set(jwk.KeyIDKey, "k"))
	require.NoError(t, key.Set(jwk.AlgorithmKey, jwa.ES256()))
	public, err := key.PublicKey()
	require.NoError(t, err)
	set := jwk.NewSet()
	require.NoError(t, set.AddKey(public))
	keys, err := json.Marshal(set)
	require.NoError(t, err)
	_, url := listening(t, func(o *Options) {
		o.Policies = []string{"red=" + policyFile(t, "red"), "blue=" + policyFile(t, "blue")}
		o.Auth = AuthOptions{Tokens: file(t, "tokens", "# ours\nred sha256:"+sum("r")+"\nblue sha256:"+sum("b")+"\ngreen sha256:"+sum("g")+"\n"),
			Keys: file(t, "keys", string(keys)), Issuer: "us", Audience: "hookcd", Claim: "team"}
	})
	signed := func(change func(*jwt.Builder) *jwt.Builder) string {
		b := jwt.NewBuilder().Issuer("us").Audience([]string{"hookcd"}).Expiration(time.Now().Add(time.Hour)).Claim("team", "blue")
		if change != nil {
			b = change(b)
		}
		token, err := b.Build()
		require.NoError(t, err)
		text, err := jwt.Sign(token, jwt.WithKey(jwa.ES256(), key))
		require.NoError(t, err)
		return string(text)
	}
	unsigned := func() string {
		token, err := jwt.NewBuilder().Issuer("us").Audience([]string{"hookcd"}).Expiration(time.Now().Add(time.Hour)).Claim("team", "blue").Build()
		require.NoError(t, err)
		text, err := jwt.Sign(token, jwt.WithInsecureNoSignature())
		require.NoError(t, err)
		return string(text)
	}()
	for name, row := range map[string]struct {
		bearer string
		status int
		reason string
	}{
		"red": {"r", 200, "red"}, "blue": {"b", 200, "blue"}, "without a policy": {"g", 403, ""}, "unknown": {"x", 401, ""}, "empty": {"", 401, ""},
		"JWT":              {signed(nil), 200, "blue"},
		"expired":          {signed(func(b *jwt.Builder) *jwt.Builder { return b.Expiration(time.Now().Add(-time.Hour)) }), 401, ""},
		"for another":      {signed(func(b *jwt.Builder) *jwt.Builder { return b.Audience([]string{"x"}) }), 401, ""},
		"of another":       {signed(func(b *jwt.Builder) *jwt.Builder { return b.Issuer("x") }), 401, ""},
		"label of no text": {signed(func(b *jwt.Builder) *jwt.Builder { return b.Claim("team", 1) }), 401, ""},
		"unsigned":         {unsigned, 401, ""},
		"changed":          {signed(nil) + "A", 401, ""},
	} {
		a := post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove, "Authorization", "Bearer "+row.bearer)
		assert.Equal(t, row.status, a.status, name)
		assert.Equal(t, "block", a.Action, name)
		if row.reason != "" {
			assert.Equal(t, []string{row.reason}, a.Reason, name)
		}
	}
	assert.Equal(t, 401, post(t, http.DefaultClient, url+"/v1/events/stop", "{}").status)
	assert.Equal(t, 401, post(t, http.DefaultClient, url+"/v1/events/stop", "{}", "Authorization", "Bearer x", "Authorization", "Bearer r").status)
}

// issue makes a certificate, signed by another or by itself.
func issue(t *testing.T, unit string, by *tls.Certificate) (pair tls.Certificate, certPEM, keyPEM string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test", OrganizationalUnit: []string{unit}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: by == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	parent, signer := c, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	text, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	certPEM = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	keyPEM = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}))
	pair, err = tls.X509KeyPair([]byte(certPEM), []byte(keyPEM))
	require.NoError(t, err)
	return pair, certPEM, keyPEM
}

// TestTLS: TLS 1.3 alone, and the unit of a client's certificate is its label.
func TestTLS(t *testing.T) {
	ca, caPEM, _ := issue(t, "ca", nil)
	other, _, _ := issue(t, "ca", nil)
	_, cert, key := issue(t, "server", &ca)
	red, _, _ := issue(t, "red", &ca)
	stranger, _, _ := issue(t, "red", &other)
	_, url := listening(t, func(o *Options) {
		o.Policies = []string{"red=" + policyFile(t, "red")}
		o.Cert, o.Key, o.Clients = file(t, "cert", cert), file(t, "key", key), file(t, "ca", caPEM)
	})
	url = strings.Replace(url, "http:", "https:", 1) + "/v1/events/pre_tool_execution"
	roots := x509.NewCertPool()
	roots.AddCert(ca.Leaf)
	client := func(most uint16, pairs ...tls.Certificate) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: pairs, MaxVersion: most}}}
	}
	assert.Equal(t, []string{"red"}, post(t, client(0, red), url, remove).Reason)
	for name, c := range map[string]*http.Client{"TLS 1.2": client(tls.VersionTLS12, red), "no certificate": client(0), "of another authority": client(0, stranger)} {
		res, err := c.Post(url, "application/json", strings.NewReader(remove))
		if err == nil {
			res.Body.Close()
		}
		assert.Error(t, err, name)
	}
}

// TestSlow: a client that does not send its event loses its connection, and gets no
// answer that lets anything through.
func TestSlow(t *testing.T) {
	_, url := listening(t, func(o *Options) { o.Limits.Header, o.Limits.Body = 50*time.Millisecond, 50*time.Millisecond })
	for name, begin := range map[string]string{"header": "POST /v1/ev", "body": "POST /v1/events/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(conn, begin)
		require.NoError(t, err)
		text, _ := io.ReadAll(conn) // ends when the server ends it
		assert.NotContains(t, string(text), "200 OK", name)
		assert.NotContains(t, string(text), "proceed", name)
		conn.Close()
	}
}

// TestDrain: an event that is under way when the server ends is answered.
func TestDrain(t *testing.T) {
	r, url := listening(t, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	event := strings.Repeat(" ", 20_000) + remove
	_, err = fmt.Fprintf(conn, "POST /v1/events/pre_tool_execution HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(event), event[:10_000])
	require.NoError(t, err)
	for r.active.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	ended := make(chan error)
	go func() { ended <- r.End() }()
	for !r.ending.Load() {
		time.Sleep(time.Millisecond)
	}
	_, err = io.WriteString(conn, event[10_000:])
	require.NoError(t, err)
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"action":"block"`)
	assert.NoError(t, <-ended)
}

// TestReload: an edit decides once the policies are compiled anew; a broken one does not.
func TestReload(t *testing.T) {
	path := policyFile(t, "first")
	r, url := listening(t, func(o *Options) { o.Policies = []string{path} })
	reason := func() []string {
		return post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove).Reason
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(guard, "REASON", "second", 1)), 0o600))
	require.NoError(t, r.Reload(context.Background()))
	assert.Equal(t, []string{"second"}, reason())
	require.NoError(t, os.WriteFile(path, []byte("pre_tool_execution: 1\n"), 0o600))
	require.Error(t, r.Reload(context.Background()))
	assert.Equal(t, []string{"second"}, reason())
}
