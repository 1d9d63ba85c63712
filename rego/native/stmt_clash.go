package native

import "math"

// maxClashKeys is how many keys of an object are looked at for a clash; more
// of them are taken for one.
const maxClashKeys = 1 << 8

// clashes reports whether keys of an object have one hash in OPA, whose objects
// lose keys, and their own hash, when a key of such an object is set again:
// null, false, 0 and 0.5 do, and [1, 2] and [2, 1].
func clashes(o *Object) bool {
	if len(o.pairs) > few && len(o.find.others) == 0 || int(o.clear) == len(o.pairs) {
		return false
	}
	var seen map[uint64]bool
	for i := range o.pairs {
		if _, text := o.pairs[i].key.(string); text {
			continue
		}
		h := opaHash(o.pairs[i].key)
		if seen[h] || len(seen) == maxClashKeys {
			return true
		}
		if seen == nil {
			seen = map[uint64]bool{}
		}
		seen[h] = true
	}
	o.clear = int32(len(o.pairs))
	return false
}

// opaHash is equal where OPA's hash of two values is for the way it is made:
// it is a sum of what they consist of.
func opaHash(v Value) uint64 {
	h := uint64(0)
	switch x := v.(type) {
	case nil:
	case bool:
		if x {
			h = 1
		}
	case string:
		h = hashText(x)
	case []Value:
		for _, e := range x {
			h += opaHash(e)
		}
	case *Set:
		for _, e := range x.elems {
			h += opaHash(e)
		}
	case map[string]Value:
		for k, e := range x {
			h += hashText(k) + opaHash(e)
		}
	case *Object:
		for i := range x.pairs {
			h += opaHash(x.pairs[i].key) + opaHash(x.pairs[i].value)
		}
	default:
		return opaNumberHash(v)
	}
	return h
}

func opaNumberHash(v Value) uint64 {
	f, ok := float(v)
	switch {
	case !ok:
		return hashText(numberText(v))
	case math.Abs(f) >= 1<<63: // what is made of it differs between machines
		return 1 << 63
	}
	return uint64(int64(f))
}
