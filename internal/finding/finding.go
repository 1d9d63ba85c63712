// Package finding is a finding as machines read it.
package finding

import "encoding"

// JSON is what a diagnostic is written as; absent parts are omitted.
type JSON struct {
	Code     string                 `json:"code"`
	Column   int                    `json:"column,omitempty"`
	File     string                 `json:"file,omitempty"`
	Hint     string                 `json:"hint,omitempty"`
	Hook     string                 `json:"hook,omitempty"`
	Line     int                    `json:"line,omitempty"`
	Severity encoding.TextMarshaler `json:"severity"`
	Text     string                 `json:"text"`
}
