package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// signing is a key for tokens, and the set that has its public half.
func signing(t *testing.T, id string) (key jwk.Key, set []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key, err = jwk.Import(private)
	require.NoError(t, err)
	require.NoError(t, key.Set(jwk.KeyIDKey, id))
	require.NoError(t, key.Set(jwk.AlgorithmKey, jwa.ES256()))
	public, err := key.PublicKey()
	require.NoError(t, err)
	all := jwk.NewSet()
	require.NoError(t, all.AddKey(public))
	set, err = json.Marshal(all)
	require.NoError(t, err)
	return key, set
}

// TestKeysOverHTTPS: keys come from an https address that the authorities vouch for;
// a token by another key, and an address nobody vouches for, are refused.
func TestKeysOverHTTPS(t *testing.T) {
	key, set := signing(t, "k")
	stranger, _ := signing(t, "k")
	var elsewhere atomic.Bool
	keys := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if elsewhere.Load() {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusFound)
			return
		}
		w.Write(set)
	}))
	t.Cleanup(keys.Close)
	authority := file(t, "ca", pemOf(keys.Certificate().Raw))
	auth := AuthOptions{Keys: keys.URL, KeysAuthority: authority, Issuer: "us", Audience: "hookcd", Claim: "team"}
	_, url := listening(t, func(o *Options) { o.Auth = auth })
	token := func(by jwk.Key) string {
		t.Helper()
		made, err := jwt.NewBuilder().Issuer("us").Audience([]string{"hookcd"}).Expiration(time.Now().Add(time.Hour)).Claim("team", "blue").Build()
		require.NoError(t, err)
		text, err := jwt.Sign(made, jwt.WithKey(jwa.ES256(), by))
		require.NoError(t, err)
		return "Bearer " + string(text)
	}
	url += "/v1/events/pre_tool_execution"
	assert.Equal(t, 200, post(t, http.DefaultClient, url, remove, "Authorization", token(key)).status)
	assert.Equal(t, 401, post(t, http.DefaultClient, url, remove, "Authorization", token(stranger)).status)
	unvouched := auth
	unvouched.KeysAuthority, unvouched.keysWithin = "", time.Second
	_, err := NewAuth(t.Context(), unvouched)
	assert.Error(t, err)
	elsewhere.Store(true)
	auth.keysWithin = time.Second
	_, err = NewAuth(t.Context(), auth)
	assert.Error(t, err, "a redirect is not followed")
}

// TestCertificateReload: a connection that begins after the certificate's files have
// changed meets the new one. While the files are broken, or the half of a pair, the last
// one stays.
func TestCertificateReload(t *testing.T) {
	ca, caPEM, _ := issue(t, "ca", nil)
	_, cert, key := issue(t, "first", &ca)
	r, _ := listening(t, func(o *Options) { o.Cert, o.Key = file(t, "cert", cert), file(t, "key", key) })
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(caPEM)))
	unit := func() string {
		t.Helper()
		conn, err := tls.Dial("tcp", r.Address.String(), &tls.Config{RootCAs: roots})
		require.NoError(t, err)
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.OrganizationalUnit[0]
	}
	// An edit changes the time of the file, however fast the test is.
	at := time.Now()
	edit := func(path, text string) {
		t.Helper()
		at = at.Add(time.Second)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	assert.Equal(t, "first", unit())
	_, cert2, key2 := issue(t, "second", &ca)
	edit(r.o.Cert, cert2)
	assert.Equal(t, "first", unit(), "the key is not there yet")
	edit(r.o.Key, key2)
	assert.Equal(t, "second", unit())
	edit(r.o.Cert, strings.Replace(cert, "BEGIN", "BEGUN", 1))
	assert.Equal(t, "second", unit())
	require.NoError(t, os.Remove(r.o.Cert))
	assert.Equal(t, "second", unit())
	edit(r.o.Key, key)
	edit(r.o.Cert, cert)
	assert.Equal(t, "first", unit())
}

func pemOf(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
