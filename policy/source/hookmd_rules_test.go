package source

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRegoBlocks: a fenced block is Rego as Markdown means it, however the fence is
// written, and whether or not something closes it.
func TestRegoBlocks(t *testing.T) {
	const rule = "package p\n\ndeny if true\n"
	for name, text := range map[string]string{
		"plain":      "```rego\n" + rule + "```\n",
		"tilde":      "~~~ rego\n" + rule + "~~~\n",
		"longer":     "````rego\n" + rule + "````\n",
		"case":       "```Rego\n" + rule + "```\n",
		"more words": "```rego title=\"no rm\" {.numbered}\n" + rule + "```\n",
		"tab":        "```rego\tx\n" + rule + "```\n",
		"indented":   "  ```rego\n" + rule + "  ```\n",
		"unclosed":   "```rego\n" + rule,
		"behind":     "```sh\n```\n```rego\n" + rule + "```\n",
		"CRLF":       "```rego x\r\n" + rule + "```\r\n",
	} {
		blocks := regoBlocks(text, 0)
		if assert.Len(t, blocks, 1, name) {
			assert.Equal(t, rule, text[blocks[0][0]:blocks[0][1]], name)
		}
	}
	for name, text := range map[string]string{
		"other":  "```regolith\n" + rule + "```\n",
		"none":   "```\n" + rule + "```\n",
		"inside": "````md\n```rego\n" + rule + "```\n````\n",
	} {
		assert.Empty(t, regoBlocks(text, 0), name)
	}
}
