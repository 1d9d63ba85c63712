package ahead

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Value is one of JSON that goes on over several lines. Each of them is read once.
type Value struct {
	Begun int
	Text  []byte
	Ends  []int // of the lines in Text
	more  bytes.Buffer
	read  *json.Decoder
	depth int
}

// Add takes another line; ended is for a value that no further line belongs to, broken
// for one that none would mend.
func (v *Value) Add(line []byte) (ended, broken bool) {
	v.Text = append(v.Text, line...)
	v.Ends = append(v.Ends, len(v.Text))
	if v.more.Write(line); v.read == nil {
		v.read = json.NewDecoder(&v.more)
	}
	for {
		switch token, err := v.read.Token(); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, false
		case err != nil:
			return true, true
		case token == json.Delim('['), token == json.Delim('{'):
			v.depth++
		case token == json.Delim(']'), token == json.Delim('}'):
			v.depth--
		}
		if v.depth == 0 {
			return true, false
		}
	}
}
