// Package vectors holds what agents send and what they must be answered, as
// README.md describes. Its tests run all of it through the real hookc.
package vectors

import "encoding/json"

// Exchange is one file entry of tests/vectors/dialect: a policy, what the
// agent sends, and the whole answer.
type Exchange struct {
	Note   string            `json:"note"`
	Policy string            `json:"policy"`
	Args   []string          `json:"args"`
	Env    map[string]string `json:"env"`
	Stdin  json.RawMessage   `json:"stdin"` // an object, or a text sent as it is
	Expect struct {
		Exit   int             `json:"exit"`
		Stdout json.RawMessage `json:"stdout"` // an object, a text, absent for nothing
		Stderr string          `json:"stderr"`
	} `json:"expect"`
}

// Vector is one case of tests/vectors, as its README describes.
type Vector struct {
	ID       string                     `json:"id"`
	Dialect  string                     `json:"dialect"`
	Note     string                     `json:"note"`
	Files    map[string]json.RawMessage `json:"files"`
	Event    string                     `json:"event"`
	Stdin    json.RawMessage            `json:"stdin"`
	Env      map[string]string          `json:"env"`
	Faithful bool                       `json:"faithful"`
	Expect   map[string]any             `json:"expect"`
	Native   json.RawMessage            `json:"native"`
	Source   string                     `json:"source"`
	// Differs is why hookc answers otherwise; the case must then still fail.
	Differs string `json:"differs"`
}
