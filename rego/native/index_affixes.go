package native

import (
	"cmp"
	"slices"
)

// affixes finds which of many literals a text begins with, or ends with when
// it is backward. They are sorted, each with the longest other that it begins
// with itself: those that a text begins with are the last literal that is not
// behind the text, or among those which that one begins with.
type affixes struct {
	texts    []string
	items    [][]int32
	shorter  []int32
	backward bool
}

func newAffixes(texts []string, items [][]int32, backward bool) *affixes {
	if len(texts) == 0 {
		return nil
	}
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	a := &affixes{backward: backward}
	slices.SortStableFunc(order, func(i, j int) int { return a.compare(texts[i], texts[j]) })
	for _, i := range order {
		up := int32(len(a.texts) - 1)
		for up >= 0 && !a.holds(texts[i], a.texts[up]) {
			up = a.shorter[up]
		}
		a.texts = append(a.texts, texts[i])
		a.items = append(a.items, items[i])
		a.shorter = append(a.shorter, up)
	}
	return a
}

// compare orders texts by their bytes, from the end when backward.
func (a *affixes) compare(x, y string) int {
	if !a.backward {
		return cmp.Compare(x, y)
	}
	for i := range min(len(x), len(y)) {
		if c := cmp.Compare(x[len(x)-1-i], y[len(y)-1-i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

func (a *affixes) holds(text, affix string) bool {
	switch {
	case len(affix) > len(text):
		return false
	case a.backward:
		return text[len(text)-len(affix):] == affix
	}
	return text[:len(affix)] == affix
}

func (a *affixes) find(text string, k *marks) {
	low, high := 0, len(a.texts)
	for low < high {
		if mid := int(uint(low+high) >> 1); a.compare(a.texts[mid], text) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for i := int32(low - 1); i >= 0; i = a.shorter[i] {
		if a.holds(text, a.texts[i]) {
			k.all(a.items[i])
		}
	}
}
