// Package lsp serves editors: the language server of hookc over the Language Server
// Protocol. What it says of a policy is what check says, from the texts as they are in
// the editor. It reads policies and runs nothing: no script, no model, nothing that a
// policy names.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
)

// Server is a session with one editor.
type Server struct {
	wire
	version string

	mu sync.Mutex
	// open are the documents that the editor has open, by path; roots the folders it
	// works in.
	open  map[string]*document
	roots []string
	units map[string]*unit
	// cancelled are requests that the editor does not want any more.
	cancelled map[string]bool

	ready, shut bool
	// refreshes is true of an editor that asks for lenses again when it is told to.
	refreshes bool
	// changed tells the checker that a text is another one.
	changed chan struct{}
	stop    context.CancelFunc
}

// document is an open text. It is not changed: a change makes another one.
type document struct {
	*text
	path, uri string
	version   int
}

// Serve speaks with an editor until it says exit or is gone. The error says that the
// session did not end as it should.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string) error {
	s := &Server{wire: wire{in: bufio.NewReaderSize(in, 1<<16), out: out}, version: version, open: map[string]*document{},
		units: map[string]*unit{}, cancelled: map[string]bool{}, changed: make(chan struct{}, 1)}
	ctx, s.stop = context.WithCancel(ctx)
	var checker sync.WaitGroup
	checker.Go(func() { s.check(ctx) })
	defer checker.Wait()
	defer s.stop()
	queue, ended := make(chan *message, 1024), make(chan error, 1)
	go func() { // reading ends with the process, or the editor
		defer close(queue)
		for {
			m, err := s.read()
			if err != nil {
				ended <- err
				return
			}
			if m.Method == "$/cancelRequest" {
				s.cancel(m.Params)
				continue
			}
			select {
			case queue <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, more := <-queue:
			switch {
			case !more && s.shut:
				return nil
			case !more:
				return fault.Errorf("the editor is gone: %w", <-ended)
			case m.Method == "exit" && s.shut:
				return nil
			case m.Method == "exit":
				return errors.New("the editor ended the session without shutdown")
			}
			s.handle(m)
		}
	}
}

func (s *Server) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cancelled) < 1024 { // what was answered before is never asked for again
		s.cancelled[string(p.ID)] = true
	}
}

// handle does what a message asks. A mistake of the server's own is one answer.
func (s *Server) handle(m *message) {
	asked := len(m.ID) > 0
	if m.Method == "" {
		if asked && m.Params != nil {
			s.answer(m.ID, nil, failed(codeInvalidRequest, "a request has a method"))
		}
		return // an answer
	}
	result, err := s.try(m)
	if asked {
		s.answer(m.ID, result, err)
	}
}

func (s *Server) try(m *message) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failed(codeInternal, "internal error: %v", p)
		}
	}()
	s.mu.Lock()
	gone := s.cancelled[string(m.ID)]
	delete(s.cancelled, string(m.ID))
	s.mu.Unlock()
	asked := len(m.ID) > 0
	switch {
	case gone && asked:
		return nil, failed(codeCancelled, "cancelled")
	case s.shut && asked:
		return nil, failed(codeInvalidRequest, "the server is shut down")
	case !s.ready && m.Method != "initialize" && asked:
		return nil, failed(codeNotInitialized, "initialize comes first")
	case !s.ready && m.Method != "initialize":
		return nil, nil
	}
	if do := notifications[m.Method]; do != nil {
		return nil, do(s, m.Params)
	}
	if do := requests[m.Method]; do != nil {
		return do(s, m.Params)
	}
	if strings.HasPrefix(m.Method, "$/") && !asked {
		return nil, nil
	}
	return nil, failed(codeNoMethod, "no method is called %s", spell.Line(m.Method))
}

var notifications = map[string]func(*Server, json.RawMessage) error{
	"initialized":                     func(*Server, json.RawMessage) error { return nil },
	"textDocument/didOpen":            (*Server).didOpen,
	"textDocument/didChange":          (*Server).didChange,
	"textDocument/didClose":           (*Server).didClose,
	"textDocument/didSave":            func(s *Server, _ json.RawMessage) error { s.wake(); return nil },
	"workspace/didChangeWatchedFiles": func(s *Server, _ json.RawMessage) error { s.wake(); return nil },
}

// requests are what is answered. The table is filled when the package loads, since
// what is in it reads it.
var requests map[string]func(*Server, json.RawMessage) (any, error)

func init() {
	requests = map[string]func(*Server, json.RawMessage) (any, error){
		"initialize":                 (*Server).initialize,
		"shutdown":                   func(s *Server, _ json.RawMessage) (any, error) { s.shut = true; return nil, nil },
		"textDocument/hover":         at((*Server).hover),
		"textDocument/completion":    at((*Server).complete),
		"textDocument/definition":    at((*Server).definition),
		"textDocument/references":    at((*Server).references),
		"textDocument/prepareRename": at((*Server).prepareRename),
		"textDocument/rename":        at((*Server).rename),
		"textDocument/formatting":    at((*Server).format),
		"textDocument/codeAction":    at((*Server).actions),
		"textDocument/codeLens":      at((*Server).lenses),
	}
}

// place is what most requests are about.
type place struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	Position position `json:"position"`
	Range    span     `json:"range"`
	NewName  string   `json:"newName"`

	doc    *document
	offset int
}

// at reads the parameters of a request about a place in an open document. About a
// text that is not open, or lies elsewhere, there is nothing to say.
//
//go:noinline
func at(do func(*Server, *place) (any, error)) func(*Server, json.RawMessage) (any, error) {
	return func(s *Server, params json.RawMessage) (any, error) {
		p := &place{}
		if err := json.Unmarshal(params, p); err != nil {
			return nil, failed(codeInvalidParams, "%v", err)
		}
		path, ok := pathOf(p.TextDocument.URI)
		s.mu.Lock()
		p.doc = s.open[path]
		s.mu.Unlock()
		if !ok || p.doc == nil {
			return nil, nil
		}
		p.offset = p.doc.offset(p.Position)
		return do(s, p)
	}
}

func (s *Server) initialize(params json.RawMessage) (any, error) {
	if s.ready {
		return nil, failed(codeInvalidRequest, "the session is initialized")
	}
	var p struct {
		Capabilities struct {
			Workspace struct {
				CodeLens struct {
					RefreshSupport bool `json:"refreshSupport"`
				} `json:"codeLens"`
			} `json:"workspace"`
		} `json:"capabilities"`
		RootURI          string `json:"rootUri"`
		WorkspaceFolders []struct {
			URI string `json:"uri"`
		} `json:"workspaceFolders"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, failed(codeInvalidParams, "%v", err)
	}
	for _, f := range p.WorkspaceFolders {
		p.RootURI = ""
		if path, ok := pathOf(f.URI); ok {
			s.roots = append(s.roots, path)
		}
	}
	if path, ok := pathOf(p.RootURI); ok {
		s.roots = append(s.roots, path)
	}
	s.ready = true
	s.mu.Lock() // the checker is at work already
	s.refreshes = p.Capabilities.Workspace.CodeLens.RefreshSupport
	s.mu.Unlock()
	info, err := json.Marshal(s.version)
	return json.RawMessage(`{"serverInfo": {"name": "hookc", "version": ` + string(info) + `}, "capabilities": ` + capabilities + `}`), err
}

// capabilities are what the server can do, in the protocol's words.
const capabilities = `{
	"positionEncoding": "utf-16",
	"textDocumentSync": {"openClose": true, "change": 2, "save": true},
	"hoverProvider": true,
	"completionProvider": {"triggerCharacters": [".", ":", " ", "{"]},
	"definitionProvider": true,
	"referencesProvider": true,
	"renameProvider": {"prepareProvider": true},
	"documentFormattingProvider": true,
	"codeActionProvider": {"codeActionKinds": ["quickfix"]},
	"codeLensProvider": {}
}`

func (s *Server) didOpen(params json.RawMessage) error {
	var p place
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if path, ok := pathOf(p.TextDocument.URI); ok {
		s.put(&document{newText(p.TextDocument.Text), path, p.TextDocument.URI, p.TextDocument.Version})
	}
	return nil
}

func (s *Server) didChange(params json.RawMessage) error {
	var p struct {
		place
		ContentChanges []struct {
			Range *span  `json:"range"`
			Text  string `json:"text"`
		} `json:"contentChanges"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	path, _ := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	doc := s.open[path]
	s.mu.Unlock()
	if doc == nil {
		return nil
	}
	now := doc.text
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			now = newText(c.Text)
			continue
		}
		from, to := now.offset(c.Range.Start), now.offset(c.Range.End)
		now = newText(now.s[:from] + c.Text + now.s[max(from, to):])
		if len(now.s) > maxMessage {
			return errors.New("the text is too large")
		}
	}
	s.put(&document{now, path, doc.uri, p.TextDocument.Version})
	return nil
}

func (s *Server) put(d *document) {
	s.mu.Lock()
	s.open[d.path] = d
	s.mu.Unlock()
	s.wake()
}

func (s *Server) didClose(params json.RawMessage) error {
	var p place
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	path, _ := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	delete(s.open, path)
	s.mu.Unlock()
	s.notify("textDocument/publishDiagnostics", obj("uri", p.TextDocument.URI, "diagnostics", []any{}))
	s.wake()
	return nil
}

// draft is the text of an open document, for the loader.
func (s *Server) draft(path string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[path]; d != nil {
		return d.s, true
	}
	return "", false
}

// inside reports whether a file is the editor's affair: it is open, or lies in one of
// the folders.
func (s *Server) inside(path string) bool {
	if _, open := s.draft(path); open {
		return true
	}
	return slices.ContainsFunc(s.roots, func(root string) bool { return below(root, path) })
}

//go:noinline
func (s *Server) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // it is told already
	}
}
