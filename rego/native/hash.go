package native

import "math"

// hash of equal values is equal, but for numbers beyond float64, as in OPA.
func hash(v Value) uint64 {
	switch x := v.(type) {
	case nil:
		return 0x9e3779b97f4a7c15
	case bool:
		if x {
			return 0xbf58476d1ce4e5b9
		}
		return 0x94d049bb133111eb
	case string:
		return hashText(x)
	case []Value:
		h := uint64(0x2545f4914f6cdd1d)
		for _, e := range x {
			h = mix(h ^ hash(e))
		}
		return h
	case *Set:
		h := uint64(0xd6e8feb86659fd93)
		for _, e := range x.elems {
			h += mix(hash(e))
		}
		return h
	case map[string]Value:
		h := uint64(0xa0761d6478bd642f)
		for k, e := range x {
			h += mix(hashText(k) ^ mix(hash(e)))
		}
		return h
	case *Object:
		if x.stale {
			panic(bailout{})
		}
		h := uint64(0xa0761d6478bd642f)
		for i := range x.pairs {
			h += mix(hash(x.pairs[i].key) ^ mix(hash(x.pairs[i].value)))
		}
		return h
	}
	return hashNumber(v)
}

func hashNumber(v Value) uint64 {
	f, ok := float(v)
	if !ok {
		return hashText(numberText(v))
	}
	if f == 0 {
		f = 0 // also of -0
	}
	return mix(math.Float64bits(f))
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
