package decisionlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/hookc/hookc/internal/fault"
)

// link is the hash at the end of a line: of the link before it and of the line.
type link [sha256.Size]byte

//go:noinline
func (l link) String() string { return base64.RawURLEncoding.EncodeToString(l[:]) }

func parseLink(s string) (l link, err error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(data) != len(l) {
		return l, errors.New("it is no hash")
	}
	return link(data), nil
}

// A line is an object whose last member is the chain: {…,"chain":"…"}.
const chainKey = `,"chain":"`

var chainTail = len(chainKey) + base64.RawURLEncoding.EncodedLen(sha256.Size) + len(`"}`)

// next is the link of a line without its chain, after the link before it.
func (l link) next(body []byte) link {
	h := sha256.New()
	h.Write(l[:])
	h.Write(body)
	var out link
	h.Sum(out[:0])
	return out
}

// appendChain ends a line that begins at from.
func (l link) appendChain(b []byte, from int) ([]byte, link) {
	n := l.next(b[from:])
	b = append(b, chainKey...)
	b = base64.RawURLEncoding.AppendEncode(b, n[:])
	return append(b, `"}`+"\n"...), n
}

// split is a line's body and its link. The line has no newline.
func split(line []byte) (body []byte, l link, err error) {
	at := len(line) - chainTail
	if at < 1 || !bytes.HasPrefix(line[at:], []byte(chainKey)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return nil, l, errors.New("the line is not whole: it does not end with its chain")
	}
	l, err = parseLink(string(line[at+len(chainKey) : len(line)-2]))
	return line[:at], l, err
}

// parse reads a line as an Entry.
func parse(line []byte) (*Entry, error) {
	e := new(Entry)
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(e); err != nil {
		return nil, fault.Errorf("the line is no entry: %w", err)
	}
	return e, nil
}
