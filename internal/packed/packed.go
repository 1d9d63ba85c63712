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
