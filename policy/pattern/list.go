package pattern

import "strings"

// Listed are the names of a list that separators divide.
func Listed(list, separators string) []string {
	names := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(separators, r) })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// Lists reports whether a text is made of letters, digits and the extra characters.
//
//go:noinline
func Lists(text, extra string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(extra, r))
	})
}
