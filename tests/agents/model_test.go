package agents_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// turn is one answer of the model: a call of a tool, or text.
type turn struct {
	text string
	tool string
	args map[string]any
	// input is the argument of a tool that takes text and no object.
	input string
	// fail is the status of a request that fails.
	fail int
}

// model stands in for the model of every agent: it answers in the protocol it
// is asked in, one turn a request, and keeps what it was sent. When the turns
// are used up it repeats the last text. Safe for concurrent use.
type model struct {
	url string

	mu       sync.Mutex
	turns    []turn
	requests []string
	stray    []string
}

func newModel(t *testing.T, turns []turn) *model {
	m := &model{turns: turns}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// sent is the bodies of the requests so far, in order.
func (m *model) sent() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.requests...)
}

// next keeps a request and is the answer to it.
func (m *model) next(body []byte) (turn, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, string(body))
	n := len(m.requests)
	if n <= len(m.turns) {
		return m.turns[n-1], n
	}
	return turn{text: "nothing is left to do"}, n
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		answerGemini(w, first(m.next(body)))
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		answerResponses(w, m, body)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		answerChat(w, m, body)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		answerMessages(w, m, body)
	default:
		m.mu.Lock()
		m.stray = append(m.stray, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		http.NotFound(w, r)
	}
}

func first(t turn, _ int) turn { return t }

// event writes one server-sent event; name may be "".
func event(w io.Writer, name string, data map[string]any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", jsonText(data))
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// answerGemini speaks streamGenerateContent.
func answerGemini(w io.Writer, t turn) {
	part := map[string]any{"text": t.text}
	if t.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": t.tool, "args": t.args}}
	}
	event(w, "", map[string]any{
		"candidates": []any{map[string]any{
			"content":      map[string]any{"role": "model", "parts": []any{part}},
			"finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
}

// answerResponses speaks OpenAI's responses.
func answerResponses(w io.Writer, m *model, body []byte) {
	t, n := m.next(body)
	id := fmt.Sprintf("resp_%d", n)
	item := map[string]any{
		"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", n),
		"content": []any{map[string]any{"type": "output_text", "text": t.text}},
	}
	switch {
	case t.input != "":
		item = map[string]any{"type": "custom_tool_call", "id": fmt.Sprintf("ctc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": t.tool, "input": t.input}
	case t.tool != "":
		item = map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": t.tool, "arguments": jsonText(t.args)}
	}
	event(w, "response.created", map[string]any{"type": "response.created", "response": map[string]any{"id": id}})
	event(w, "response.output_item.done", map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", map[string]any{"type": "response.completed", "response": map[string]any{
		"id": id, "usage": map[string]any{
			"input_tokens": 1, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": 1, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 2,
		},
	}})
}

// answerChat speaks OpenAI's chat completions, streamed.
func answerChat(w io.Writer, m *model, body []byte) {
	t, n := m.next(body)
	chunk := func(delta map[string]any, finish any) {
		event(w, "", map[string]any{
			"id": fmt.Sprintf("chat_%d", n), "object": "chat.completion.chunk", "created": 1, "model": "fake-model",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		})
	}
	if t.tool == "" {
		chunk(map[string]any{"role": "assistant", "content": t.text}, nil)
		chunk(map[string]any{}, "stop")
	} else {
		call := map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": map[string]any{"name": t.tool, "arguments": jsonText(t.args)}}
		chunk(map[string]any{"role": "assistant", "tool_calls": []any{call}}, nil)
		chunk(map[string]any{}, "tool_calls")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// answerMessages speaks Anthropic's messages, streamed.
func answerMessages(w http.ResponseWriter, m *model, body []byte) {
	t, n := m.next(body)
	if t.fail != 0 {
		w.WriteHeader(t.fail)
		fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`)
		return
	}
	block, delta, reason := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": t.text}, "end_turn"
	if t.tool != "" {
		block = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": t.tool, "input": map[string]any{}}
		delta, reason = map[string]any{"type": "input_json_delta", "partial_json": jsonText(t.args)}, "tool_use"
	}
	say := func(name string, data map[string]any) {
		data["type"] = name
		event(w, name, data)
	}
	say("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "fake-model", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}})
	say("content_block_start", map[string]any{"index": 0, "content_block": block})
	say("content_block_delta", map[string]any{"index": 0, "delta": delta})
	say("content_block_stop", map[string]any{"index": 0})
	say("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}})
	say("message_stop", map[string]any{})
}
