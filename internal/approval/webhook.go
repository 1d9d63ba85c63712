package approval

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
)

const (
	keyFile = "webhook-key"
	// fresh is how old, or how far ahead, a signed message may be.
	fresh = 5 * time.Minute
	// tellBy is how long posting a question may take.
	tellBy     = 5 * time.Second
	maxMessage = 1 << 20

	timestampHeader = "X-Hookc-Request-Timestamp"
	signatureHeader = "X-Hookc-Signature"
	slackTimestamp  = "X-Slack-Request-Timestamp"
	slackSignature  = "X-Slack-Signature"
)

// Key is the secret that webhooks are signed with; it is made where there is none.
func (s *Store) Key() ([]byte, error) {
	key, err := s.dir.Read(keyFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	err = s.dir.Update(keyFile, func(old []byte) ([]byte, error) {
		if key = old; old == nil {
			var random [32]byte
			_, err := rand.Read(random[:])
			key = []byte(hex.EncodeToString(random[:]))
			return key, err
		}
		return old, nil
	})
	return key, err
}

// SetKey replaces the secret, with the signing secret of Slack for one.
func (s *Store) SetKey(key []byte) error {
	if len(key) < 16 {
		return errors.New("a key has 16 bytes or more")
	}
	return s.dir.Update(keyFile, func([]byte) ([]byte, error) { return key, nil })
}

// sign is the signature of a message, in the form of Slack: HMAC-SHA256 over a version,
// the Unix time and the body.
func sign(key []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// tell posts a new question; it returns what is to be said of failures.
func (s *Store) tell(ctx context.Context, a *Approval, hooks []approval.Webhook) []string {
	ctx, cancel := context.WithTimeout(ctx, tellBy)
	defer cancel()
	var out []string
	key, err := s.Key()
	for _, h := range hooks {
		if err == nil {
			err = s.post(ctx, key, a, h)
		}
		if err != nil {
			out = append(out, "hookc: approval.webhook could not be told of it: "+err.Error())
		}
	}
	return out
}

func (s *Store) post(ctx context.Context, key []byte, a *Approval, h approval.Webhook) error {
	body, err := policy.EncodeJSON(message(a, h.Format))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	at := strconv.FormatInt(s.now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(timestampHeader, at)
	req.Header.Set(signatureHeader, sign(key, at, body))
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	var where *url.Error
	if errors.As(err, &where) {
		return where.Err // without the address, which may hold a secret
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fault.Errorf("it answered %s", res.Status)
	}
	return nil
}

// message is a question as a webhook is told of it.
func message(a *Approval, format string) any {
	if format != "slack" {
		return map[string]any{"type": "approval", "approval": a}
	}
	text, err := policy.EncodeJSON(a.Call.Input)
	if err != nil {
		text = []byte("?")
	}
	shown := spell.Line(string(text)) // what a person grants must not be hidden or reordered
	if len(shown) > 2000 {
		shown = strings.ToValidUTF8(shown[:2000], "") + " … (hookc approvals show " + a.ID + ")"
	}
	title := spell.Line(fmt.Sprintf("%s asks to approve %s (%s)", a.Rules[0], a.Call.Tool, a.ID))
	plain := func(s string) map[string]any { return map[string]any{"type": "plain_text", "text": s} }
	button := func(label string, v Verdict) map[string]any {
		return map[string]any{"type": "button", "text": plain(label), "action_id": string(v), "value": a.ID}
	}
	return map[string]any{"text": title, "blocks": []any{
		map[string]any{"type": "section", "text": plain(title)},
		map[string]any{"type": "section", "text": plain(shown + "\nin " + spell.Line(a.Call.Cwd))},
		map[string]any{"type": "actions", "elements": []any{button("Grant once", Grant), button("Deny", Deny)}},
	}}
}

// reply is an answer as the webhook's receiver sends it.
type reply struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	By      string  `json:"by"`
	For     string  `json:"for"`
	Session bool    `json:"session"`
	Reason  string  `json:"reason"`
}

// Receive takes a signed answer, and gives the status and the JSON to reply: an object
// with id, verdict (grant or deny) and by, and for, session and reason where there are
// any; or what Slack sends when a button is pressed. A message counts for five minutes,
// and an answer once, as the approval is answered then.
func (s *Store) Receive(r *http.Request) (status int, text string) {
	status, said := s.receive(r)
	body, err := json.Marshal(said)
	if err != nil {
		panic("approval: " + err.Error()) // it is made of texts
	}
	return status, string(body) + "\n"
}

func (s *Store) receive(r *http.Request) (int, map[string]any) {
	wrong := func(code int, format string, args ...any) (int, map[string]any) {
		return code, map[string]any{"error": fmt.Sprintf(format, args...)}
	}
	if r.Method != http.MethodPost {
		return wrong(http.StatusMethodNotAllowed, "answers are posted")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	if err != nil || len(body) > maxMessage {
		return wrong(http.StatusRequestEntityTooLarge, "the message cannot be read")
	}
	if err := s.signed(r, body); err != nil {
		return wrong(http.StatusUnauthorized, "%v", err)
	}
	in, err := parse(r.Header.Get("Content-Type"), body)
	if err != nil {
		return wrong(http.StatusBadRequest, "%v", err)
	}
	scope := Scope{Session: in.Session}
	if in.For != "" {
		if scope.For, err = time.ParseDuration(in.For); err != nil || scope.For <= 0 {
			return wrong(http.StatusBadRequest, "for is a time such as 1h, not %q", in.For)
		}
	}
	a, err := s.Answer(r.Context(), in.ID, in.By, in.Verdict, scope, in.Reason)
	var late *AnsweredError
	switch {
	case errors.As(err, &late):
		return wrong(http.StatusConflict, "%v", err)
	case errors.Is(err, ErrNone):
		return wrong(http.StatusNotFound, "%v", err)
	case err != nil:
		return wrong(http.StatusForbidden, "%v", err)
	}
	return http.StatusOK, map[string]any{"id": a.ID, "state": a.State}
}

// signed reports why a message is not from who has the key, or is not of now.
func (s *Store) signed(r *http.Request, body []byte) error {
	at, signature := r.Header.Get(timestampHeader), r.Header.Get(signatureHeader)
	if signature == "" {
		at, signature = r.Header.Get(slackTimestamp), r.Header.Get(slackSignature)
	}
	key, err := s.dir.Read(keyFile)
	if err != nil {
		return errors.New("there is no key that messages could be signed with")
	}
	unix, err := strconv.ParseInt(at, 10, 64)
	if age := s.now().Sub(time.Unix(unix, 0)); err != nil || age > fresh || age < -fresh {
		return errors.New("the timestamp is not of now")
	}
	if !hmac.Equal([]byte(signature), []byte(sign(key, at, body))) {
		return errors.New("the signature is not that of the message")
	}
	return nil
}

func parse(kind string, body []byte) (*reply, error) {
	if bytes.HasPrefix([]byte(kind), []byte("application/x-www-form-urlencoded")) {
		return parseSlack(body)
	}
	in := &reply{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(in); err != nil {
		return nil, fault.Errorf("it is no answer: %w", err)
	}
	return in, nil
}

// parseSlack reads which button was pressed, and by whom; no text is read for a verdict.
func parseSlack(body []byte) (*reply, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	// What hookc posts is signed with the same key and holds texts of agents: such a
	// message, sent back as a form, must not be an answer.
	if !bytes.HasPrefix(body, []byte("payload=")) || len(form) != 1 || len(form["payload"]) != 1 {
		return nil, errors.New("it is no form of Slack")
	}
	var in struct {
		Type string `json:"type"`
		User struct {
			Username string `json:"username"`
		} `json:"user"`
		Actions []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
		} `json:"actions"`
	}
	if err := json.Unmarshal([]byte(form.Get("payload")), &in); err != nil {
		return nil, fault.Errorf("it is no payload of Slack: %w", err)
	}
	if in.Type != "block_actions" || len(in.Actions) != 1 {
		return nil, errors.New("it is not one button of Slack")
	}
	return &reply{ID: in.Actions[0].Value, Verdict: Verdict(in.Actions[0].ID), By: in.User.Username}, nil
}
