package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/hookc/hookc/internal/spell"
)

// The errors of JSON-RPC and of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeFailed         = -32803
)

// failure is the error that a request is answered with.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

//go:noinline
func failed(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// message is a request, a notification or an answer to one of the server's requests.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type object = map[string]any

// obj is an object of keys and their values.
//
//go:noinline
func obj(pairs ...any) object {
	out := object{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// wire is the connection to the editor: messages behind a header with their length.
type wire struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// maxMessage is the most bytes one message may have.
const maxMessage = 64 << 20

var errFraming = errors.New("the input is not framed as the protocol demands")

// read returns the next message. A message that is no JSON is answered and passed
// over, since the next one is where its header says; without a header there is none.
func (w *wire) read() (*message, error) {
	for {
		length := -1
		for {
			line, err := w.in.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				return nil, errFraming
			}
			if err != nil {
				return nil, err
			}
			header := strings.TrimRight(string(line), "\r\n")
			if header == "" {
				break
			}
			name, value, ok := spell.Cut(header, ":")
			if !ok {
				return nil, errFraming
			}
			if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
				if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
					return nil, errFraming
				}
			}
		}
		if length < 0 {
			return nil, errFraming
		}
		body, err := io.ReadAll(io.LimitReader(w.in, int64(length))) // as much memory as there is input
		if err != nil || len(body) < length {
			return nil, io.ErrUnexpectedEOF
		}
		m := &message{}
		if err := json.Unmarshal(body, m); err != nil {
			code := codeInvalidRequest
			if !json.Valid(body) {
				code = codeParse
			}
			w.answer(json.RawMessage("null"), nil, failed(code, "%v", err))
			continue
		}
		return m, nil
	}
}

// answer answers a request.
func (w *wire) answer(id json.RawMessage, result any, err error) {
	m := object{"jsonrpc": "2.0", "id": id}
	var f *failure
	switch {
	case errors.As(err, &f):
		m["error"] = f
	case err != nil:
		m["error"] = &failure{codeFailed, err.Error()}
	default:
		m["result"] = result
	}
	w.send(m)
}

//go:noinline
func (w *wire) notify(method string, params any) {
	w.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// send writes a message. An editor that is gone is found by reading.
func (w *wire) send(m object) {
	body, err := json.Marshal(m)
	if err != nil {
		panic("lsp: " + err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
}
