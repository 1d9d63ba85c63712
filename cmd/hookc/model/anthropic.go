package model

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// maxTokens bounds a reply; a HookResult is far shorter unless it rewrites a
// whole conversation.
const maxTokens = 4096

// messages is what Anthropic speaks.
var messages = protocol{
	name: "anthropic", prefix: "ANTHROPIC", base: "https://api.anthropic.com", path: "v1/messages", model: "claude-haiku-4-5",
	headers: map[string]string{"Anthropic-Version": "2023-06-01"}, key: "X-Api-Key", requestID: "Request-Id",
	ask: askMessages, read: readMessages,
}

func askMessages(model string, req policy.ModelRequest) any {
	return struct {
		Model       string    `json:"model"`
		MaxTokens   int       `json:"max_tokens"`
		Messages    []message `json:"messages"`
		Temperature float64   `json:"temperature"`
	}{model, maxTokens, []message{{"user", req.Prompt}}, req.Temperature}
}

func readMessages(p *protocol, body []byte) (string, error) {
	var reply struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := p.decode(body, &reply); err != nil {
		return "", err
	}
	switch reply.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		return "", p.fails("the reply was cut off at the model's token limit")
	case "refusal":
		return "", p.fails("the model refuses to answer")
	}
	var text strings.Builder
	for _, block := range reply.Content {
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	if text.Len() == 0 {
		return "", p.fails("the reply has no text")
	}
	return text.String(), nil
}
