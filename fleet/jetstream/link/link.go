// Package link connects hookcd to JetStream: to a server inside this process, which
// keeps what must not be lost on this machine's disk and opens no port, and to the NATS
// of a fleet.
package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// startTime is how long the server inside may take to start, lockTime how long an
	// older hookcd may take to give the folder up.
	startTime = 20 * time.Second
	lockTime  = 5 * time.Second
	// maxPayload bounds one message of the server inside, in bytes: an event has 32 MiB at
	// most, a quarter more as text in a text.
	maxPayload = 48 << 20
	// publishTime is how long a message that nobody waits for may take to be kept.
	publishTime = 10 * time.Second
	// reconnectEvery is how often a lost connection is tried again.
	reconnectEvery = 250 * time.Millisecond
)

// Link is a connection to JetStream.
type Link struct {
	JS   jetstream.JetStream
	Conn *nats.Conn
	// Replicas is how many servers keep each message.
	Replicas int
	end      func()
	why      *lastError
}

// lastError is why the last try to connect failed.
type lastError struct {
	mu sync.Mutex
	is error
}

func (e *lastError) set(_ *nats.Conn, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.is = err
}

// Away is nil while there is a connection, and else says why there is none. It is safe
// for concurrent use.
func (l *Link) Away() error {
	if l.Conn.IsConnected() {
		return nil
	}
	why := l.Conn.LastError() // of a server that let nobody in; there is none where no server was met
	if why == nil {
		l.why.mu.Lock()
		defer l.why.mu.Unlock()
		why = l.why.is
	}
	if why == nil {
		return errors.New("the fleet's NATS cannot be reached")
	}
	return fmt.Errorf("the fleet's NATS cannot be reached: %w", why)
}

// Close ends the connection, and a server inside.
func (l *Link) Close() {
	l.Conn.Close()
	l.end()
}

// Bucket opens a key-value bucket, and makes it where there is none. What nobody writes for
// keep goes; maxBytes bounds it, 0 does not, and what finds no room is refused. It is read
// from its leader: one made with the defaults of NATS is read from any server, which may
// be behind.
func (l *Link) Bucket(ctx context.Context, name string, keep time.Duration, maxBytes int64) (jetstream.KeyValue, error) {
	_, err := l.JS.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "KV_" + name, Subjects: []string{"$KV." + name + ".>"}, MaxMsgsPerSubject: 1,
		MaxAge: keep, MaxBytes: maxBytes, Storage: jetstream.FileStorage, Replicas: l.Replicas, Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true})
	if err != nil {
		return nil, err
	}
	return l.JS.KeyValue(ctx, name)
}

// Embedded starts a server in this process that keeps its messages below dir. It listens
// on nothing. Every message is on the disk (fsync) before it is acknowledged.
func Embedded(dir string) (*Link, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	for end := time.Now().Add(lockTime); ; time.Sleep(50 * time.Millisecond) {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, err
		}
		if locked {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("another hookcd uses %s", dir)
		}
	}
	inside, err := server.NewServer(&server.Options{ServerName: "hookcd", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, SyncAlways: true, MaxPayload: maxPayload})
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	end := func() {
		inside.Shutdown()
		inside.WaitForShutdown()
		_ = lock.Unlock() // which the end of the process does as well
	}
	inside.Start()
	if !inside.ReadyForConnections(startTime) {
		end()
		return nil, errors.New("the JetStream inside hookcd does not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(inside), nats.MaxReconnects(-1))
	if err != nil {
		end()
		return nil, err
	}
	return open(conn, "", 1, end, new(lastError))
}

// Fleet says where the NATS of a fleet is, and who asks.
type Fleet struct {
	// URL has the addresses of servers, with commas between.
	URL string
	// Credentials is a file of NATS credentials; Authority, Cert and Key are PEM files.
	Credentials, Authority, Cert, Key string
	// Domain is that of the fleet's JetStream, where it has one: it is reached through leaf
	// nodes then.
	Domain string
	// Replicas is how many servers keep each message.
	Replicas int
}

// Connect connects to the NATS of a fleet, now or as soon as it answers, and again
// whenever the connection is lost.
func (f *Fleet) Connect(name string) (*Link, error) {
	why := new(lastError)
	options := []nats.Option{nats.Name(name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectEvery),
		nats.ReconnectJitter(reconnectEvery/2, reconnectEvery), nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), nats.Timeout(2 * time.Second), nats.ReconnectErrHandler(why.set),
		nats.IgnoreAuthErrorAbort()}
	if f.Credentials != "" {
		options = append(options, nats.UserCredentials(f.Credentials))
	}
	if f.Authority != "" {
		options = append(options, nats.RootCAs(f.Authority))
	}
	if f.Cert != "" || f.Key != "" {
		options = append(options, nats.ClientCert(f.Cert, f.Key))
	}
	conn, err := nats.Connect(f.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("the fleet's NATS: %w", err)
	}
	return open(conn, f.Domain, f.Replicas, func() {}, why)
}

func open(conn *nats.Conn, domain string, replicas int, end func(), why *lastError) (*Link, error) {
	var js jetstream.JetStream
	var err error
	if domain == "" {
		js, err = jetstream.New(conn, jetstream.WithPublishAsyncTimeout(publishTime))
	} else {
		js, err = jetstream.NewWithDomain(conn, domain, jetstream.WithPublishAsyncTimeout(publishTime))
	}
	if err != nil {
		conn.Close()
		end()
		return nil, err
	}
	return &Link{JS: js, Conn: conn, Replicas: replicas, end: end, why: why}, nil
}
