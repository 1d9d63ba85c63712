// Package packed unpacks texts that the binary holds packed by gzip.
package packed

import (
	"compress/gzip"
	"io"
	"strings"
)

// Text is what was packed. A binary that holds another thing is broken: it panics.
func Text(data string) string {
	r, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		panic("packed: " + err.Error())
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("packed: " + err.Error())
	}
	return string(text)
}

// Parts are the parts of what was packed by their headings. A part begins behind a line of ===
// and its heading; what stands before the first is about the text itself.
func Parts(data string) map[string]string {
	out := map[string]string{}
	for i, part := range strings.Split("\n"+strings.TrimSuffix(Text(data), "\n"), "\n=== ") {
		if heading, text, _ := strings.Cut(part, "\n"); i > 0 {
			out[heading] = text
		}
	}
	return out
}
