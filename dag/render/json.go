package render

import (
	"bytes"
	"encoding/json"
	"io"
)

func renderJSON(w io.Writer, m *Model, _ Style) error {
	text, err := indented(m)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// indented is v as JSON with sorted keys, two spaces a level, no HTML escapes
// and a final newline. Equal values give equal bytes.
func indented(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
