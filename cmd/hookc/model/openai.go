package model

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/hookc/hookc/policy"
)

// newOpenAI speaks chat/completions, as OpenAI and compatible servers (vLLM,
// Ollama, llama.cpp) do.
func newOpenAI(a account) policy.Model {
	opts := []option.RequestOption{option.WithHTTPClient(client()), option.WithMaxRetries(0), option.WithAPIKey(a.key)}
	if a.key == "" {
		// A local server wants none; an empty bearer is worse than none.
		opts = append(opts, option.WithHeaderDel("Authorization"))
	}
	if a.address != "" {
		opts = append(opts, option.WithBaseURL(a.address))
	}
	api := openai.NewClient(opts...)
	return func(ctx context.Context, req policy.ModelRequest) (string, error) {
		name, err := a.named(req)
		if err != nil {
			return "", err
		}
		reply, err := api.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model:       name,
			Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage(req.Prompt)},
			Temperature: openai.Float(req.Temperature),
		})
		if err != nil {
			var refused *openai.Error
			status := 0
			if errors.As(err, &refused) {
				status = refused.StatusCode
			}
			return "", a.failure(ctx, err, status)
		}
		if len(reply.Choices) == 0 {
			return "", policy.Failf(policy.ErrNetwork, "openai: the reply has no choices")
		}
		choice := reply.Choices[0]
		if choice.FinishReason == "length" {
			return "", policy.Failf(policy.ErrNetwork, "openai: the reply was cut off at the model's token limit")
		}
		return choice.Message.Content, nil
	}
}
