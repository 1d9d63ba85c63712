package agent

import "github.com/hookc/hookc/policy"

// modelEffects are the changes to the request or the reply. An answer in the
// model's place counts only beside a deny.
func (g *geminiMerge) modelEffects() {
	if g.r.Control != policy.Go {
		return
	}
	response, _ := lastOwn(g.said, "llm_response")
	reply, _ := response.(map[string]any)
	switch {
	case g.event == policy.PreLLMRequest && g.r.Verdict == policy.Deny:
		if text := geminiReply(reply); text != "" {
			g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldAssistantOutput}, text)
		}
	case g.event == policy.PreLLMRequest:
		request, _ := lastOwn(g.said, "llm_request")
		if m, ok := request.(map[string]any); ok {
			g.r.Patch = geminiOverride(g.before, m)
		}
	case g.r.Verdict != policy.Deny:
		if candidates, _ := reply["candidates"].([]any); len(candidates) > 0 {
			first, _ := candidates[0].(map[string]any)
			content, _ := first["content"].(map[string]any)
			if parts, _ := content["parts"].([]any); len(parts) > 0 {
				g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldAssistantOutput}, geminiReply(reply))
			}
		}
	}
}

// geminiNumbers are what of a request's configuration a hook can set: all four
// at once.
var geminiNumbers = []string{"maxOutputTokens", "temperature", "topK", "topP"}

// geminiOverride is the change that an llm_request of a hook makes to the
// request: the model, the numbers of its configuration, and the i-th message
// in place of the text of the i-th one that has text; more are added, missing
// ones change nothing.
func geminiOverride(in *policy.Context, request map[string]any) policy.Patch {
	var p policy.Patch
	if model, _ := request["model"].(string); model != "" {
		p = p.Then(policy.Replace(policy.Path{Field: policy.FieldModel}, model))
	}
	if config, ok := request["config"].(map[string]any); ok {
		old, _ := in.Get(policy.FieldRequestConfig)
		before, _ := old.(map[string]any)
		for _, k := range geminiNumbers {
			path := policy.Path{Field: policy.FieldRequestConfig, Keys: []string{k}}
			if v, given := config[k]; given {
				p = p.Then(policy.Replace(path, v))
			} else if _, had := before[k]; had {
				p = p.Then(policy.Remove(path)) // a number that is not named is taken away
			}
		}
	}
	given, _ := request["messages"].([]any)
	if len(given) == 0 {
		return p
	}
	base, _ := in.Get(policy.FieldMessages)
	old, _ := base.([]any)
	var out []any
	for _, message := range old {
		m, _ := message.(map[string]any)
		if text, _ := m["content"].(string); text != "" && len(given) > 0 {
			message, given = given[0], given[1:]
		}
		out = append(out, message)
	}
	return p.Then(policy.Replace(policy.Path{Field: policy.FieldMessages}, append(out, given...)))
}
