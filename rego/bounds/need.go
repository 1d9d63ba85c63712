package bounds

import (
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// replaced is what replace(s, old, by) gives.
func replaced(a Args) int64 {
	s, ok1 := a.Text(0)
	old, ok2 := a.Text(1)
	by, ok3 := a.Text(2)
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	return exchanged(s, old, by)
}

func exchanged(s, old, by string) int64 {
	return Sum(String, int64(len(s)), Product(int64(strings.Count(s, old)), max(0, int64(len(by)-len(old)))))
}

// replacedAll is what strings.replace_n(patterns, s) gives at most.
func replacedAll(a Args) int64 {
	s, ok := a.Text(1)
	if !ok {
		return 0
	}
	need := int64(String + len(s))
	a.Pairs(0, func(old, by string, ok bool) {
		if ok {
			need = Sum(need, exchanged(s, old, by)-int64(String+len(s)))
		}
	})
	return need
}

// joined is what concat(by, list) gives.
func joined(a Args) int64 {
	by, ok := a.Text(0)
	if !ok {
		return 0
	}
	need := Product(int64(a.Count(1)), int64(len(by)))
	a.Pairs(1, func(_, s string, ok bool) {
		if ok {
			need = Sum(need, int64(len(s)))
		}
	})
	return Sum(String, need)
}

// parts is what the parts of a text take that is cut at each by.
func parts(a Args) int64 {
	s, ok1 := a.Text(0)
	by, ok2 := a.Text(1)
	if !ok1 || !ok2 {
		return 0
	}
	return Sum(Collection, Product(int64(strings.Count(s, by))+1, Element+String))
}

// Widest is the largest width that fmt honours.
const Widest = 1_000_000

// formatted is what sprintf(format, values) gives at most.
func formatted(a Args) int64 {
	format, ok := a.Text(0)
	if !ok {
		return 0
	}
	values := a.Deep(1)
	each := Sum(values.Size, Product(5, values.Special), values.AllDigits)
	need, verbs := int64(String+len(format)), int64(0)
	indexed := false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		verbs++
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0; {
			switch c := format[i]; {
			case c == '*':
				need += Widest
			case c == '[':
				indexed = true
			case c >= '0' && c <= '9':
				from := i
				for i < len(format) && format[i] >= '0' && format[i] <= '9' {
					i++
				}
				n, err := strconv.Atoi(format[from:i])
				if err != nil || n > Widest {
					n = 0 // fmt says that it is bad
				}
				need += int64(n)
				continue
			}
			i++
		}
	}
	if indexed {
		each = Product(each, max(verbs, 1))
	}
	return Sum(need, each)
}

// marshalled is what a value is as JSON, written is that with options, as YAML.
func marshalled(a Args) int64 {
	m := a.Deep(0)
	return Sum(m.Size, Product(5, m.Special))
}

// marshalledArgs is what the texts of a list take together.
func marshalledArgs(a Args) int64 {
	m := a.Deep(0)
	return Sum(m.Size, Product(5, m.Special), m.AllDigits)
}

func writtenWith(a Args) int64 {
	m := a.Deep(0)
	space := int64(2)
	a.Pairs(1, func(_, s string, ok bool) {
		if ok {
			space += int64(len(s))
		}
	})
	return Sum(m.Size, Product(5, m.Special), Product(m.Nodes, Product(m.Depth+1, space)))
}

func yamlWritten(a Args) int64 {
	m := a.Deep(0)
	return Sum(m.Size, Product(5, m.Special), Product(m.Nodes, Product(m.Depth+1, 4)))
}

// parsed is what the values take that a JSON text holds.
func parsed(a Args) int64 {
	s, ok := a.Text(0)
	if !ok {
		return 0
	}
	n := 1
	for i := range len(s) {
		switch s[i] {
		case ',', '[', '{', ':':
			n++
		}
	}
	return Sum(int64(len(s)), Product(int64(n), Element+String))
}

// aliased bounds how often YAML's aliases may repeat what they mean.
const aliased = 400_000

// yamlParsed is what the values take that a YAML text holds.
func yamlParsed(a Args) int64 {
	s, ok := a.Text(0)
	if !ok {
		return 0
	}
	n, aliases := int64(1), int64(0)
	for i := range len(s) {
		switch s[i] {
		case ',', '[', '{', ':', '\n':
			n++
		case '*':
			aliases++
		}
	}
	if aliases > 0 && strings.Contains(s, "&") {
		n = min(Product(n, Product(aliases+1, aliases+1)), max(n, aliased))
	}
	return Sum(int64(len(s)), Product(n, Element+String))
}

// language is what the tree of a text of a language takes; text is such a text
// in each argument.
func language(a Args) int64 {
	need := int64(0)
	for i := range 2 {
		if s, ok := a.Text(i); ok {
			need = Sum(need, Product(int64(len(s)), 128))
		}
	}
	return need
}

// fields is what the fields of a query take.
func fields(a Args) int64 {
	s, _ := a.Text(0)
	return Sum(int64(len(s)), Product(int64(strings.Count(s, "&"))+1, 4*String))
}

// token is what a signed text holds.
func token(a Args) int64 {
	s, _ := a.Text(0)
	return Product(int64(len(s)), 64)
}

// pairs is for functions that compare each of one argument's elements with each
// of another's.
func pairs(a Args) int64 { return Product(16, Product(int64(a.Count(0)), int64(a.Count(1)))) }

// walked is what the paths of a value take.
func walked(a Args) int64 {
	m := a.Deep(0)
	return Product(m.Nodes, Sum(2*Collection, Product(m.Depth+1, 16)))
}

// patched is what json.patch may make: each copy may double the document.
func patched(a Args) int64 {
	need, copies := Sum(a.Deep(0).Size, a.Deep(1).Size), 0
	a.Pairs(1, func(_, _ string, _ bool) { copies++ })
	if copies <= 8 { // of a kilobyte, that is a quarter of a megabyte
		return need
	}
	copied := 0
	a.Lists(1, func(_ string, list []string) {
		for _, s := range list {
			if s == "copy" {
				copied++
			}
		}
	})
	return Product(need, 1<<min(copied, 40))
}

// maxPaths bounds graph.reachable_paths.
const maxPaths = 20_000

// routes is what graph.reachable_paths gives: it is exponential, so the paths are
// counted, up to a bound.
func routes(a Args) int64 {
	graph := map[string][]string{}
	a.Lists(0, func(key string, list []string) { graph[key] = list })
	steps, size := 0, int64(0)
	on := map[string]bool{}
	var visit func(node string, depth int64)
	visit = func(node string, depth int64) {
		if steps++; steps > maxPaths {
			return
		}
		size += depth * 16
		on[node] = true
		for _, next := range graph[node] {
			if !on[next] && steps <= maxPaths {
				visit(next, depth+1)
			}
		}
		delete(on, node)
	}
	a.Pairs(1, func(_, node string, ok bool) {
		if ok {
			visit(node, 1)
		}
	})
	if steps > maxPaths {
		return Never
	}
	return Sum(Product(int64(steps), Collection), size)
}

// Long subjects of patterns are counted before they are cut, and looked at by
// pieces (Match).
const longSubject = 128 << 10

// hits is how often a pattern is found in a text, at most.
func hits(pattern, s string) int64 {
	if len(s) <= longSubject {
		return int64(len(s)) + 1
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return 0
	}
	most := Memory / (Element + String)
	return int64(len(re.FindAllStringIndex(s, most+1))) + 1
}

// found is what the matches of a pattern take, foundGroups what their groups do.
func found(a Args) int64 { return matches(a, false) }

func foundGroups(a Args) int64 { return matches(a, true) }

func matches(a Args, groups bool) int64 {
	pattern, ok1 := a.Text(0)
	s, ok2 := a.Text(1)
	if !ok1 || !ok2 {
		return 0
	}
	if len(s) <= longSubject/4 && !groups {
		return 0
	}
	n := hits(pattern, s)
	if text, ok := a.Number(2); ok {
		if limit, err := strconv.ParseInt(text, 10, 64); err == nil && limit >= 0 {
			n = min(n, limit)
		}
	}
	each := int64(Element + String)
	if groups && len(s) > longSubject/4 {
		each = Product(int64(1+strings.Count(pattern, "(")), Element+String)
	}
	return Sum(Collection, Product(n, each))
}

// substituted is what regex.replace(s, pattern, by) gives at most.
func substituted(a Args) int64 {
	s, ok1 := a.Text(0)
	pattern, ok2 := a.Text(1)
	by, ok3 := a.Text(2)
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	n := int64(len(s)) + 1
	whole := Product(n, int64(strings.Count(by, "$"))+1)
	if Product(n, int64(len(by))) > Memory/8 {
		if re, err := regexp.Compile(pattern); err == nil {
			most := int64(Memory) / max(int64(len(by)), 1)
			n = int64(len(re.FindAllStringIndex(s, int(min(most, Memory/64))+1)))
		}
	}
	return Sum(whole, Product(n, int64(len(by))))
}

// globbed refuses patterns of many stars over long texts: they are tried in all
// places.
func globbed(a Args) int64 {
	pattern, ok1 := a.Text(0)
	s, ok2 := a.Text(2)
	if !ok1 || !ok2 || len(s) <= 1024 {
		return 0
	}
	return refuse(strings.Count(pattern, "*")*bits.Len(uint(len(s))) > 60)
}

// crossed refuses to cross patterns of many stars, in which all pairs are tried.
func crossed(a Args) int64 {
	x, _ := a.Text(0)
	y, _ := a.Text(1)
	stars := strings.Count(x, "*") + strings.Count(x, "+") + strings.Count(y, "*") + strings.Count(y, "+")
	return refuse(stars > 24 || len(x)+len(y) > 4096)
}

// keys refuses texts that are too long for keys, certificates for certificates.
func keys(a Args) int64         { return lengths(a, 8<<10, 64<<10) }
func certificates(a Args) int64 { return lengths(a, 64<<10, 64<<10) }

func lengths(a Args, key, other int) int64 {
	for i := range 3 {
		s, ok := a.Text(i)
		limit := other
		if strings.Contains(s, "PRIVATE") || strings.Contains(s, `"d"`) {
			limit = key
		}
		if ok && len(s) > limit {
			return Never
		}
	}
	return 0
}
