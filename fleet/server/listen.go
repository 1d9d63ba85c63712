package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

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

// headerBytes are the most that the first line and the headers of a request may take.
const headerBytes = 16 << 10

// Running is a server that listens.
type Running struct {
	*Server
	// Address is where.
	Address net.Addr
	http    *fasthttp.Server
	o       Options
	// brokenOff ends what is under way.
	brokenOff context.CancelFunc
	ended     chan error
	end       func() error
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
	r := &Running{Server: &Server{tenants: tenants, auth: auth, limits: o.Limits, exposition: o.Exposition}, Address: l.Addr(), o: o, ended: make(chan error, 1)}
	r.ctx, r.brokenOff = context.WithCancel(context.WithoutCancel(ctx))
	// The handler reads the body itself, once it is known who sends it.
	r.http = &fasthttp.Server{Handler: r.answer, ErrorHandler: r.malformed, StreamRequestBody: true, DisablePreParseMultipartForm: true,
		ReadTimeout: o.Limits.Header, WriteTimeout: o.Limits.Answer, IdleTimeout: o.Limits.Idle, ReadBufferSize: headerBytes,
		HeaderReceived: func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
			return fasthttp.RequestConfig{ReadTimeout: o.Limits.Body}
		},
		Concurrency: o.Limits.Conns, CloseOnShutdown: true, NoDefaultServerHeader: true, Logger: quiet{}}
	if o.Cert != "" {
		config, err := o.tls()
		if err != nil {
			l.Close()
			tenants.Close()
			return nil, err
		}
		l = tls.NewListener(l, config)
	}
	l = patient{l}
	r.end = sync.OnceValue(func() error { return r.finish(l) })
	go func() { r.ended <- r.http.Serve(l) }()
	return r, nil
}

// End withdraws readiness, lets events under way finish, and ends the server.
func (r *Running) End() error { return r.end() }

func (r *Running) finish(l net.Listener) error {
	r.ending.Store(true)
	time.Sleep(r.o.Grace)
	ctx, cancel := context.WithTimeout(context.Background(), r.o.Drain)
	defer cancel()
	l.Close()
	<-r.ended // or a server that has not begun would go on to listen
	err := r.http.ShutdownWithContext(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	r.brokenOff()
	r.tenants.Close()
	return err
}

// quiet keeps what the library has to say of a broken connection, which may be part of
// an event: such requests are counted.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// patient is a listener that goes on when a connection cannot be taken, as while the
// process has too many open files.
type patient struct{ net.Listener }

func (p patient) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return c, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Reload compiles the policies again.
func (r *Running) Reload(ctx context.Context) error { return r.tenants.Reload(ctx) }

// tls is TLS 1.3 with a certificate that is read again when its file changes.
func (o Options) tls() (*tls.Config, error) {
	own := &certificate{cert: o.Cert, key: o.Key}
	if _, err := own.get(nil); err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: own.get, NextProtos: []string{"http/1.1"}}
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
