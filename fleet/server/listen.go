package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/hookc/hookc"
)

// Options are what `hookcd --listen` says.
type Options struct {
	Address string
	// Policies are LABEL=PATH, or PATH; SameDisk is whether the paths of events may
	// be looked for on this disk.
	Policies []string
	SameDisk bool
	// Cert and Key are the server's own; Clients are the authorities whose clients'
	// certificates are taken.
	Cert, Key, Clients string
	Auth               AuthOptions
	Limits             Limits
	// Record is the folder of the record of decisions; where it is empty there is no record.
	Record string
	// More are further options of every engine; Exposition is what /metrics shows
	// beside the server's own counters, or nil.
	More       []hookc.Option
	Exposition func() string
	// Grace is how long readiness is withdrawn before connections are, Drain how
	// long events under way may take then.
	Grace, Drain time.Duration
}

// Running is a server that listens.
type Running struct {
	*Server
	// Address is where.
	Address net.Addr
	http    *http.Server
	o       Options
	ended   chan error
	end     func() error
}

// Listen starts a server. Anybody may ask one that knows no clients, so it listens on
// a loopback address alone.
func (o Options) Listen(ctx context.Context) (*Running, error) {
	if len(o.Policies) == 0 {
		return nil, errors.New("--listen needs a --policy")
	}
	if (o.Cert == "") != (o.Key == "") || o.Clients != "" && o.Cert == "" {
		return nil, errors.New("--tls-cert and --tls-key go together, and --client-ca with them")
	}
	o.Auth.Certificates = o.Clients != ""
	auth, err := NewAuth(ctx, o.Auth)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err
	}
	local := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	if auth.anyone && !local {
		l.Close()
		return nil, fmt.Errorf("%s is no loopback address, and no clients are known: say --tokens, --jwks or --client-ca", o.Address)
	}
	if o.Cert == "" && !local {
		l.Close()
		return nil, fmt.Errorf("%s is no loopback address: say --tls-cert and --tls-key", o.Address)
	}
	more := o.More
	if o.Record != "" {
		more = append(slices.Clone(more), hookc.Log(o.Record, hookc.LogOptions{}))
	}
	tenants, err := Open(ctx, o.Policies, o.SameDisk, more...)
	if err != nil {
		l.Close()
		return nil, err
	}
	r := &Running{Server: New(tenants, auth, o.Limits), Address: l.Addr(), o: o, ended: make(chan error, 1)}
	r.exposition = o.Exposition
	r.http = &http.Server{Handler: r.Server, ReadHeaderTimeout: o.Limits.Header, ReadTimeout: o.Limits.Header + o.Limits.Body,
		WriteTimeout: o.Limits.Header + o.Limits.Body + o.Limits.Decide + o.Limits.Answer, IdleTimeout: o.Limits.Idle, MaxHeaderBytes: 16 << 10}
	l = netutil.LimitListener(l, o.Limits.Conns)
	serve := func() error { return r.http.Serve(l) }
	if o.Cert != "" {
		if r.http.TLSConfig, err = o.tls(); err != nil {
			l.Close()
			tenants.Close()
			return nil, err
		}
		serve = func() error { return r.http.ServeTLS(l, "", "") }
	}
	r.end = sync.OnceValue(r.finish)
	go func() { r.ended <- serve() }()
	return r, nil
}

// End withdraws readiness, lets events under way finish, and ends the server.
func (r *Running) End() error { return r.end() }

func (r *Running) finish() error {
	r.ending.Store(true)
	time.Sleep(r.o.Grace)
	ctx, cancel := context.WithTimeout(context.Background(), r.o.Drain)
	defer cancel()
	err := r.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, r.http.Close())
	}
	<-r.ended
	r.tenants.Close()
	return err
}

// Reload compiles the policies again.
func (r *Running) Reload(ctx context.Context) error { return r.tenants.Reload(ctx) }

// tls is TLS 1.3 with a certificate that is read again when its file changes.
func (o Options) tls() (*tls.Config, error) {
	own := &certificate{cert: o.Cert, key: o.Key}
	if _, err := own.get(nil); err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: own.get}
	if o.Clients == "" {
		return c, nil
	}
	var err error
	if c.ClientCAs, err = authorities(o.Clients); err != nil {
		return nil, err
	}
	c.ClientAuth = tls.VerifyClientCertIfGiven
	if o.Auth.Tokens == "" && o.Auth.Keys == "" {
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

type certificate struct {
	cert, key string
	mu        sync.Mutex
	read      time.Time
	pair      *tls.Certificate
}

// get is the pair as the files have it. While they are broken the last one stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.cert)
	if err == nil && c.pair != nil && info.ModTime().Equal(c.read) {
		return c.pair, nil
	}
	pair, wrong := tls.LoadX509KeyPair(c.cert, c.key)
	switch {
	case wrong == nil && err == nil:
		c.pair, c.read = &pair, info.ModTime()
	case c.pair == nil:
		return nil, errors.Join(err, wrong)
	}
	return c.pair, nil
}
