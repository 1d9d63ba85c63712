package commandline

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy/pattern"
)

var ownProgram = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^(hookc|hookgate)([-_.][A-Za-z0-9._-]*)?$`) })

// Own reports whether a hook's command line is hookc itself, wherever
// the program lies: `hookc run …` or `hookgate …`, also with variables set in
// front of it or after `exec`. Such a hook is hookc's own entry in an agent's
// settings and never a hook of a policy.
func Own(command string) bool {
	words := Words(command)
	if len(words) == 0 {
		return false
	}
	base := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	m := ownProgram().FindStringSubmatch(base)
	switch {
	case m == nil:
		return false
	case m[1] == "hookgate":
		return true
	}
	return len(words) > 1 && words[1] == "run"
}

// Words are the words of a simple shell command, without `exec` and the
// variables set in front of it; nil when it is more than that, so that nothing
// is taken for a command that is only a part of one.
func Words(command string) []string {
	words, ok := plainWords(command)
	if !ok {
		return nil
	}
	for len(words) > 0 && (assignment().MatchString(words[0]) || words[0] == "exec") {
		words = words[1:]
	}
	return words
}

// plainWords splits a command as a shell would, as far as quotes go; false
// when it holds what only a shell can read.
func plainWords(s string) (words []string, ok bool) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
			if end(); c == '\n' && strings.TrimSpace(s[i:]) != "" {
				return nil, false
			}
		case '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			word.WriteString(s[i+1 : i+1+n])
			i, begun = i+1+n, true
		case '"':
			text, n, closed := doubleQuoted(s[i+1:])
			if !closed {
				return nil, false
			}
			word.WriteString(text)
			i, begun = i+n, true
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			word.WriteByte(s[i])
			begun = true
		case ';', '|', '&', '<', '>', '(', ')', '`', '$', '#':
			return nil, false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words, true
}

// doubleQuoted reads up to the closing quote; n is the number of bytes read,
// the quote included.
func doubleQuoted(s string) (text string, n int, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), i + 1, true
		case c == '$' || c == '`':
			return "", 0, false
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

// Quote is a word that a POSIX shell reads as it is.
func Quote(word string) string {
	if word != "" && pattern.Lists(word, "-_./:=@%+,") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Starts reports whether a command starts hookc itself: hookc stands in
// front of the other hooks and does not run itself as one (docs/reference/cli.md).
func Starts(command string) bool {
	commands, _, _ := split(command)
	for _, words := range commands {
		for i, w := range words {
			base := strings.TrimSuffix(filepath.Base(w.text), ".exe")
			switch {
			case strings.Contains(w.text, "=") && i == 0:
				continue // a variable before the command
			case base == "hookgate", base == "hookc" && i+1 < len(words) && words[i+1].text == "run":
				return true
			}
			break
		}
	}
	return false
}
