package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextWidths(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "检查": 4, "🔒": 2, "é": 1, "e\u0301": 1, "→µ─": 3} {
		assert.Equal(t, want, textWidth(s), s)
	}
	assert.Equal(t, "检查工…", cut("检查工具调用", 7))
	assert.Equal(t, "检查工…", cut("检查工具调用", 8))
	assert.Equal(t, "检查", cut("检查", 4))
	assert.Equal(t, []string{"ab cd", "ef"}, wrap([]string{"ab", "cd", "ef"}, " ", 0, 5))
	assert.Equal(t, []string{"", "ab cd", "ef"}, wrap([]string{"ab", "cd", "ef"}, " ", 4, 5))
	assert.Equal(t, []string{"abcde", "fgh i"}, wrap([]string{"abcdefgh", "i"}, " ", 0, 5))
	assert.Equal(t, []string{"检查", "工"}, wrap([]string{"检查工"}, " ", 0, 5))
}
