package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/scan"
)

// batch answers {"events": [EVENT, …]}, each of which names itself, by
// {"decisions": […]} in the same order. An event that cannot be decided has a problem
// in its place, which refuses it; the others are decided. A batch with another key, or
// that key twice, is refused: its client would get no decisions, or those of others.
func (s *Server) batch(a *asked) error {
	if len(a.c.URI().QueryString()) > 0 {
		return problem{http.StatusBadRequest, codeDialect.ID, "a batch has no query", "its events and its decisions are in hookc's words"}
	}
	var sent struct {
		Events []json.RawMessage `json:"events"`
	}
	keys := ""
	scan.Members(a.body, func(key, _ []byte) bool { keys += string(key) + ","; return len(keys) < 64 })
	if err := json.Unmarshal(a.body, &sent); err != nil {
		return problem{http.StatusUnprocessableEntity, codeUnread.ID, "this is no batch", err.Error()}
	} else if keys != "events," || sent.Events == nil {
		return problem{http.StatusUnprocessableEntity, codeUnread.ID, "this is no batch", `it is {"events": [...]} and has no other key`}
	}
	if len(sent.Events) > s.limits.Events {
		return problem{http.StatusRequestEntityTooLarge, codeLarge.ID, "the batch is too large", "at most " + strconv.Itoa(s.limits.Events) + " events"}
	}
	ctx := s.limited(a.ctx)
	defer ctx.cancel()
	var out bytes.Buffer
	out.WriteString(`{"decisions":[`)
	for i, data := range sent.Events {
		if i > 0 {
			out.WriteByte(',')
		}
		text, err := s.inBatch(ctx, a, data)
		if err != nil {
			s.counts.failed.Add(1)
			var p problem
			if !errors.As(err, &p) {
				p = problem{status: http.StatusInternalServerError, title: "the event could not be decided", detail: err.Error()}
			}
			if text, err = json.Marshal(p.json()); err != nil {
				return err
			}
		}
		out.Write(text)
	}
	out.WriteString("]}")
	write(a.c, out.Bytes())
	return nil
}

func (s *Server) inBatch(ctx context.Context, a *asked, data []byte) ([]byte, error) {
	if int64(len(data)) > s.limits.Event {
		return nil, problem{http.StatusRequestEntityTooLarge, codeLarge.ID, "the event is too large", "at most " + strconv.FormatInt(s.limits.Event, 10) + " bytes"}
	}
	event, err := named(policy.Peek(data, policy.FieldEvent))
	if err != nil {
		return nil, err
	}
	d, err := a.tenant.fire(ctx, event, data, &a.reused)
	if err != nil {
		return nil, wrong(event, err)
	}
	s.counts.decided(d)
	return d.MarshalJSON()
}
