package model

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/hookc/hookc/policy"
)

// maxTokens bounds a reply; a HookResult is far shorter unless it rewrites a
// whole conversation.
const maxTokens = 4096

// newAnthropic speaks messages.
func newAnthropic(a account) policy.Model {
	opts := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithHTTPClient(client()), option.WithMaxRetries(0)}
	if a.key != "" {
		opts = append(opts, option.WithAPIKey(a.key))
	}
	if a.address != "" {
		opts = append(opts, option.WithBaseURL(a.address))
	}
	api := anthropic.NewClient(opts...)
	return func(ctx context.Context, req policy.ModelRequest) (string, error) {
		name, err := a.named(req)
		if err != nil {
			return "", err
		}
		reply, err := api.Messages.New(ctx, anthropic.MessageNewParams{
			Model:       anthropic.Model(name),
			MaxTokens:   maxTokens,
			Messages:    []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(req.Prompt))},
			Temperature: anthropic.Float(req.Temperature),
		})
		if err != nil {
			var refused *anthropic.Error
			status := 0
			if errors.As(err, &refused) {
				status = refused.StatusCode
			}
			return "", a.failure(ctx, err, status)
		}
		if reply.StopReason == anthropic.StopReasonMaxTokens {
			return "", policy.Failf(policy.ErrNetwork, "anthropic: the reply was cut off at %d tokens", maxTokens)
		}
		var text strings.Builder
		for _, block := range reply.Content {
			text.WriteString(block.Text)
		}
		if text.Len() == 0 {
			return "", policy.Failf(policy.ErrNetwork, "anthropic: the reply has no text")
		}
		return text.String(), nil
	}
}
