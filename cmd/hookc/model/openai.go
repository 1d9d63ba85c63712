package model

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// chatCompletions is what OpenAI and compatible servers (vLLM, Ollama,
// llama.cpp) speak.
var chatCompletions = protocol{
	name: "openai", prefix: "OPENAI", base: "https://api.openai.com/v1", path: "chat/completions", model: "gpt-4o-mini",
	key: "Authorization", word: "Bearer ", requestID: "X-Request-Id",
	ask: askChat, read: readChat,
}

// message is one turn of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func askChat(model string, req policy.ModelRequest) any {
	return struct {
		Model       string    `json:"model"`
		Messages    []message `json:"messages"`
		Temperature float64   `json:"temperature"`
	}{model, []message{{"user", req.Prompt}}, req.Temperature}
}

func readChat(p *protocol, body []byte) (string, error) {
	var reply struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content *string `json:"content"`
				Refusal string  `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := p.decode(body, &reply); err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", p.fails("the reply has no choices")
	}
	choice := reply.Choices[0]
	switch {
	case choice.FinishReason == "length":
		return "", p.fails("the reply was cut off at the model's token limit")
	case choice.FinishReason == "content_filter":
		return "", p.fails("the reply was stopped by the provider's content filter")
	case choice.Message.Refusal != "":
		return "", p.fails("the model refuses to answer")
	case choice.Message.Content == nil:
		return "", p.fails("the reply has no text")
	}
	return *choice.Message.Content, nil
}

// responses is OpenAI's newer protocol, for models and servers that have no
// other.
var responses = protocol{
	name: "openai-responses", prefix: "OPENAI", base: "https://api.openai.com/v1", path: "responses", model: "gpt-4o-mini",
	key: "Authorization", word: "Bearer ", requestID: "X-Request-Id",
	ask: askResponses, read: readResponses,
}

func askResponses(model string, req policy.ModelRequest) any {
	return struct {
		Model       string    `json:"model"`
		Input       []message `json:"input"`
		Temperature float64   `json:"temperature"`
		// Store is false: the provider shall not keep what hooks disclose.
		Store bool `json:"store"`
	}{model, []message{{"user", req.Prompt}}, req.Temperature, false}
}

func readResponses(p *protocol, body []byte) (string, error) {
	var reply struct {
		Status     string `json:"status"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Output []struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"output"`
	}
	if err := p.decode(body, &reply); err != nil {
		return "", err
	}
	switch {
	case reply.Incomplete.Reason == "content_filter":
		return "", p.fails("the reply was stopped by the provider's content filter")
	case reply.Status == "incomplete":
		return "", p.fails("the reply was cut off at the model's token limit")
	case reply.Status != "completed" && reply.Status != "":
		return "", p.fails("the provider could not complete the reply")
	}
	var text strings.Builder
	for _, item := range reply.Output {
		for _, part := range item.Content {
			switch part.Type {
			case "refusal":
				return "", p.fails("the model refuses to answer")
			case "output_text":
				text.WriteString(part.Text)
			}
		}
	}
	if text.Len() == 0 {
		return "", p.fails("the reply has no text")
	}
	return text.String(), nil
}
