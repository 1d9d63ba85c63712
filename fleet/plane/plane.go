// Package plane puts the policy of bundles in force on this machine. OPA's own
// plugins fetch the bundles, verify their signatures and report; what they bring is
// proven and becomes the managed tier, whether hookcd runs afterwards or not.
package plane

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/hooks"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins"
	bundles "github.com/open-policy-agent/opa/v1/plugins/bundle"
	"github.com/open-policy-agent/opa/v1/plugins/discovery"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/hookc/hookc/internal/bundle/proof"
	"github.com/hookc/hookc/policy/bundled"
)

// examineEvery is how often the hooks of agents are looked at.
const examineEvery = 10 * time.Minute

// Options say what a plane works on.
type Options struct {
	// Config is the configuration in OPA's terms, as JSON or YAML.
	Config []byte
	// Dir is the folder of the managed tier.
	Dir string
	// ID names this machine in what is reported, "" for one that is made up.
	ID string
	// Log is told what happens.
	Log logging.Logger
	// Prove proves the policy in a folder; nil compiles it and runs its tests.
	Prove func(ctx context.Context, dir string) (*proof.Result, error)
	// Health says how the hooks of agents on this machine are; nil says nothing.
	Health func(ctx context.Context) any
	// Record says what became of the record of decisions; nil says nothing.
	Record func() any
}

// Plane is one machine's part of the fleet.
type Plane struct {
	store   store
	log     logging.Logger
	prove   func(ctx context.Context, dir string) (*proof.Result, error)
	health  func(ctx context.Context) any
	record  func() any
	manager *plugins.Manager

	// mu guards what follows, and is held while a bundle comes into force.
	mu   sync.Mutex
	said *Settings

	contacts struct {
		sync.Mutex
		all map[string]bundled.Contact
		// active is what was last reported of each.
		active map[string]string
	}
	changed, due chan struct{}
	ended        sync.WaitGroup
	// checked is what Health said last.
	checked atomic.Value
}

// activator is what OPA's plugin activates bundles by. There is one for a process.
type activator struct {
	mu    sync.Mutex
	plane *Plane
}

var (
	activating activator
	registered sync.Once
)

// New makes a plane of a configuration; nothing is fetched before Start. A process
// has one plane.
func New(o Options) (*Plane, error) {
	p := &Plane{store: store{o.Dir}, log: o.Log, prove: o.Prove, health: o.Health, record: o.Record, changed: make(chan struct{}, 1), due: make(chan struct{}, 1)}
	if p.prove == nil {
		p.prove = proven
	}
	if p.log == nil {
		p.log = logging.NewNoOpLogger()
	}
	text, boot, err := p.configured(o.Config)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, bundled.Folders), 0o755); err != nil {
		return nil, fmt.Errorf("hookcd writes the folder of the managed tier: %w", err)
	}
	p.contacts.all, p.contacts.active = bundled.ReadContacts(o.Dir, mine), map[string]string{}
	if p.contacts.all == nil {
		p.contacts.all = map[string]bundled.Contact{}
	}
	registered.Do(func() {
		opa.RegisterActivator(Name, &activating)
		opa.RegisterDefaultBundleActivator(Name)
		opa.RegisterStoreFunc(func() storage.Store { return inmem.New() })
	})
	activating.mu.Lock()
	activating.plane = p
	activating.mu.Unlock()
	id := o.ID
	if id == "" {
		id, _ = os.Hostname()
	}
	p.manager, err = plugins.New(text, id, inmem.New(), plugins.Info(runtimeOf(id, boot)), plugins.Logger(p.log), plugins.ConsoleLogger(p.log))
	if err != nil {
		return nil, err
	}
	found, err := discovery.New(p.manager, discovery.Factories(map[string]plugins.Factory{Name: factory{p}}), discovery.BootConfig(boot), discovery.Hooks(hooks.New(p)))
	if err != nil {
		return nil, err
	}
	p.manager.Register(discovery.Name, found)
	return p, nil
}

// runtimeOf is what opa.runtime() gives a bundle of discovery: who this machine is, and
// nothing of services and keys.
func runtimeOf(id string, boot map[string]any) *ast.Term {
	labels := map[string]any{"id": id}
	if said, ok := boot["labels"].(map[string]any); ok {
		maps.Copy(labels, said)
	}
	value, err := ast.InterfaceToValue(map[string]any{"id": id, "config": map[string]any{"labels": labels}})
	if err != nil {
		value = ast.NewObject() // labels that are no JSON do not pass the manager either
	}
	return ast.NewTerm(value)
}

// Manager is OPA's manager of the plugins.
func (p *Plane) Manager() *plugins.Manager { return p.manager }

// Run fetches and activates until ctx ends.
func (p *Plane) Run(ctx context.Context) error {
	watch, stop := context.WithCancel(ctx)
	p.manager.RegisterPluginStatusListener(Name, func(map[string]*plugins.Status) { p.poke() })
	p.ended.Go(func() { p.watch(watch) })
	if p.health != nil {
		p.ended.Go(func() { p.examine(watch) })
	}
	defer p.ended.Wait()
	defer stop()
	if err := p.manager.Start(watch); err != nil {
		return err
	}
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	p.manager.Stop(last)
	return nil
}

func (p *Plane) poke() { signal(p.changed) }

// signal says that there is something to do, once.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// examine looks at the hooks of agents, now and then: doctor tries each of them.
func (p *Plane) examine(ctx context.Context) {
	tick := time.NewTicker(examineEvery)
	defer tick.Stop()
	for {
		p.checked.Store([]any{p.health(ctx)})
		signal(p.due)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Start, Stop and Reconfigure make a plane a plugin: plugins.hookc.
func (p *Plane) Start(context.Context) error {
	p.manager.UpdatePluginStatus(Name, &plugins.Status{State: plugins.StateOK})
	return nil
}

// Stop does nothing: what is in force stays so.
func (p *Plane) Stop(context.Context) {}

// Reconfigure takes new settings, which hold from the next bundle on.
func (p *Plane) Reconfigure(_ context.Context, config any) { p.set(config.(*Settings)) }

func (p *Plane) set(s *Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = s
}

// settings are those in force.
func (p *Plane) settings() *Settings {
	if p.said == nil {
		p.said, _ = parse(nil) // the defaults parse
	}
	return p.said
}

// verifies reports whether the signature of a bundle is looked at, and must be there.
func (p *Plane) verifies(name string) bool {
	plugin := bundles.Lookup(p.manager)
	if plugin == nil {
		return false
	}
	source := plugin.Config().Bundles[name]
	return source != nil && source.Signing.SignatureRequired()
}

// Activate puts bundles in force. What OPA itself evaluates, masks of its decision
// log for one, is handed on to it.
func (a *activator) Activate(o *opa.ActivateOpts) error {
	a.mu.Lock()
	p := a.plane
	a.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	own := make(map[string]*opa.Bundle, len(o.Bundles))
	for name, b := range o.Bundles {
		if err := p.take(o.Ctx, name, b); err != nil {
			return refusal{fmt.Errorf("bundle %s %s is refused: %w", name, b.Manifest.Revision, err)}
		}
		own[name] = forOPA(name, b)
	}
	rest := *o
	rest.Bundles = own
	return (&opa.DefaultActivator{}).Activate(&rest)
}

// refusal is why a bundle did not come into force.
type refusal struct{ error }

// forOPA is the part of a bundle that OPA evaluates: the package system.
func forOPA(name string, b *opa.Bundle) *opa.Bundle {
	out := &opa.Bundle{Data: map[string]any{}, Manifest: opa.Manifest{Revision: b.Manifest.Revision}}
	root := "hookc/bundles/" + strings.ReplaceAll(name, "/", "-")
	for _, m := range b.Modules {
		if m.Parsed != nil && strings.HasPrefix(m.Parsed.Package.Path.String(), "data.system") {
			out.Modules = append(out.Modules, m)
			root = "system"
		}
	}
	out.Manifest.Roots = &[]string{root}
	return out
}

// watch follows the bundles that the plugin fetches, and reports how this machine is.
func (p *Plane) watch(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if plugin := bundles.Lookup(p.manager); plugin != nil {
			plugin.RegisterBulkListener(p, p.heard)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		case <-p.due:
			p.report()
		case <-tick.C:
			p.report()
		}
	}
}

// heard notes what a server said of bundles.
func (p *Plane) heard(all map[string]*bundles.Status) {
	if err := p.drop(all); err != nil {
		p.log.Error("%s: %v", bundled.Index, err)
	}
	p.contacts.Lock()
	defer p.contacts.Unlock()
	for name, s := range all {
		c := p.contacts.all[name]
		before := c.Refused
		switch {
		case s.Code == "" && !s.LastSuccessfulRequest.IsZero():
			c = bundled.Contact{Confirmed: s.LastSuccessfulRequest}
		case s.Code != "" && s.HTTPCode == "" && !unanswered(s.Message):
			c.Refused = oneLine(s)
		}
		if news := s.ActiveRevision + " " + c.Refused; c.Refused != before || p.contacts.active[name] != news {
			p.contacts.active[name] = news
			signal(p.due)
		}
		p.contacts.all[name] = c
	}
	if err := replace(filepath.Join(p.store.dir, bundled.Seen), p.contacts.all, false); err != nil {
		p.log.Error("what was learned of the bundles cannot be written: %v", err)
	}
}

// unanswered reports whether a message says that no bundle was there to be refused: the
// server could not be asked, or a registry did not hand it out.
func unanswered(message string) bool {
	return strings.HasPrefix(message, "request failed") || strings.HasPrefix(message, "failed to pull")
}

// oneLine is why a bundle was refused.
func oneLine(s *bundles.Status) string {
	text := s.Message
	for _, err := range s.Errors {
		text += ": " + err.Error()
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// Report is what the status of the plugin hookc says, as JSON.
type Report struct {
	Bundles []bundled.Bundle           `json:"bundles"`
	Seen    map[string]bundled.Contact `json:"seen"`
	Health  any                        `json:"health,omitempty"`
	// Record is what became of the record of decisions, by sink.
	Record any `json:"record,omitempty"`
}

// report has OPA's status plugin send how this machine is.
func (p *Plane) report() {
	r, state := Report{}, plugins.StateOK
	list, err := p.store.bundles()
	if err != nil {
		state = plugins.StateErr
		p.log.Error("%s: %v", bundled.Index, err)
	}
	for _, b := range list {
		b.Earlier = nil
		r.Bundles = append(r.Bundles, b)
	}
	p.contacts.Lock()
	r.Seen = maps.Clone(p.contacts.all)
	p.contacts.Unlock()
	for _, c := range r.Seen {
		if c.Refused != "" && state == plugins.StateOK {
			state = plugins.StateWarn
		}
	}
	if said, ok := p.checked.Load().([]any); ok {
		r.Health = said[0]
	}
	if p.record != nil {
		r.Record = p.record()
	}
	text, err := json.Marshal(r)
	if err != nil {
		text = []byte(err.Error())
	}
	p.manager.UpdatePluginStatus(Name, &plugins.Status{State: state, Message: string(text)})
}

// drop takes bundles out of force that the configuration does not name any more.
func (p *Plane) drop(named map[string]*bundles.Status) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, err := p.store.bundles()
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(b bundled.Bundle) bool { return named[b.Name] == nil })
	if len(rest) == len(list) {
		return nil
	}
	err = p.store.remember(func(all *past) {
		if all.Bundles == nil {
			all.Bundles = map[string]bundled.Bundle{}
		}
		for _, b := range list {
			if named[b.Name] == nil {
				all.Bundles[b.Name] = b
			}
		}
	})
	if err != nil {
		return err
	}
	p.log.Warn("the configuration names %d of the %d bundles in force; the others are out of force", len(rest), len(list))
	return p.store.write(rest)
}
