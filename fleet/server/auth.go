package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/lestrrat-go/httprc/v3"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
	"github.com/valyala/fasthttp"
)

// Auth says which clients are known, and by which label.
type Auth struct {
	tokens []token
	keys   jwk.Set
	// issuer and audience are those a JWT must have; claim is the one that holds its
	// label.
	issuer, audience, claim string
	// certificates has a client's certificate name its label.
	certificates bool
	// anyone is set where no way to know a client is configured.
	anyone bool
}

type token struct {
	hash  [sha256.Size]byte
	label string
}

// AuthOptions say how clients are known. With none of them anybody is.
type AuthOptions struct {
	// Tokens is a file of lines LABEL sha256:HEX, a hash of a bearer token each.
	Tokens string
	// Keys is the file or https address of a JWKS; Issuer and Audience are what a
	// JWT must say, and Claim is the claim that is its label.
	Keys, Issuer, Audience, Claim string
	// KeysAuthority is a file of the authorities that vouch for that address, ""
	// for the system's.
	KeysAuthority string
	// keysWithin is how long the first fetch of keys may take, 0 for the usual time.
	keysWithin time.Duration
	// Certificates is whether clients have certificates: the label is the
	// organizational unit, or else the common name.
	Certificates bool
}

// fetchKeys is how long the first fetch of keys may take.
const fetchKeys = 15 * time.Second

// NewAuth reads what clients are known by.
func NewAuth(ctx context.Context, o AuthOptions) (*Auth, error) {
	a := &Auth{issuer: o.Issuer, audience: o.Audience, claim: o.Claim, certificates: o.Certificates,
		anyone: o.Tokens == "" && o.Keys == "" && !o.Certificates}
	if o.Tokens != "" {
		if err := a.readTokens(o.Tokens); err != nil {
			return nil, err
		}
	}
	if o.Keys == "" {
		return a, nil
	}
	if o.Issuer == "" || o.Audience == "" {
		return nil, errors.New("--jwks goes with --jwt-issuer and --jwt-audience: a token for another service is not one for this")
	}
	if !strings.Contains(o.Keys, "://") {
		text, err := os.ReadFile(o.Keys)
		if err != nil {
			return nil, err
		}
		a.keys, err = jwk.Parse(text)
		return a, err
	}
	if !strings.HasPrefix(o.Keys, "https://") {
		return nil, errors.New("--jwks is a file or an https address")
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	cache, err := jwk.NewCache(ctx, httprc.NewClient())
	if err != nil {
		return nil, err
	}
	first, done := context.WithTimeout(ctx, cmp.Or(o.keysWithin, fetchKeys)) // a server that cannot know its clients does not start
	defer done()
	if err := cache.Register(first, o.Keys, jwk.WithMinInterval(time.Minute), jwk.WithMaxInterval(time.Hour), jwk.WithHTTPClient(client)); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Keys, err)
	}
	a.keys, err = cache.CachedSet(o.Keys)
	return a, err
}

// client fetches keys. It follows nobody elsewhere.
func (o AuthOptions) client() (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.KeysAuthority != "" {
		var err error
		if t.TLSClientConfig.RootCAs, err = authorities(o.KeysAuthority); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: t, Timeout: fetchKeys, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// authorities reads a file of certificates.
func authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", path)
	}
	return pool, nil
}

func (a *Auth) readTokens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		hash, ok := "", false
		if len(fields) == 2 {
			hash, ok = strings.CutPrefix(fields[1], "sha256:")
		}
		sum, err := hex.DecodeString(hash)
		if !ok || err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("%s:%d:1: a line is LABEL sha256:HEX, of the token (printf %%s TOKEN | sha256sum)", path, n)
		}
		a.tokens = append(a.tokens, token{[sha256.Size]byte(sum), fields[0]})
	}
	if len(a.tokens) == 0 && lines.Err() == nil {
		return fmt.Errorf("%s:1:1: there is no token", path)
	}
	return lines.Err()
}

var errUnknown = errors.New("there is no valid token or certificate")

// Label is the label of whoever sends a request.
func (a *Auth) Label(c *fasthttp.RequestCtx) (string, error) {
	if !a.anyone {
		if sent := sent(c, "Authorization"); len(sent) > 0 {
			bearer, ok := strings.CutPrefix(sent[0], "Bearer ")
			if !ok || len(sent) > 1 {
				return "", errUnknown
			}
			return a.bearer(bearer)
		}
	}
	if state := c.TLSConnectionState(); a.certificates && state != nil && len(state.VerifiedChains) > 0 {
		subject := state.VerifiedChains[0][0].Subject
		if units := subject.OrganizationalUnit; len(units) > 0 {
			return units[0], nil
		}
		return subject.CommonName, nil
	}
	if a.anyone {
		return anyLabel, nil
	}
	return "", errUnknown
}

// bearer is the label of a token. How long it takes does not depend on which of the
// hashes is like that of the token.
func (a *Auth) bearer(bearer string) (string, error) {
	sum := sha256.Sum256([]byte(bearer))
	at := -1
	for i := range a.tokens {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], a.tokens[i].hash[:]), i, at)
	}
	if at >= 0 {
		return a.tokens[at].label, nil
	}
	if a.keys == nil {
		return "", errUnknown
	}
	t, err := jwt.Parse([]byte(bearer), jwt.WithKeySet(a.keys), jwt.WithIssuer(a.issuer), jwt.WithAudience(a.audience),
		jwt.WithRequiredClaim(jwt.ExpirationKey), jwt.WithRequiredClaim(a.claim), jwt.WithAcceptableSkew(30*time.Second))
	if err != nil {
		return "", errUnknown
	}
	var label string
	if err := t.Get(a.claim, &label); err != nil || label == "" {
		return "", errUnknown
	}
	return label, nil
}
