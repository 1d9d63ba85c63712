// Package digits bounds the numbers of events. Whoever computes with a number
// writes it out, in time that nothing can stop: 1e100000000 in an event would
// keep a guard busy for longer than its agent waits for it, and an agent that no
// longer waits mostly goes on.
package digits

// Max is how many digits a number may have when it is written out. Where OPA
// reads JSON itself it takes none of more digits either.
const Max = 30_000

// Of are how many digits a number has when it is written out, by its text.
func Of[T string | []byte](text T) int64 {
	for i := range len(text) {
		if c := text[i]; c == 'e' || c == 'E' {
			exponent := int64(0) // 1e-9 has as many digits behind the point as 1e9 before it
			for _, d := range []byte(text[i+1:]) {
				if d >= '0' && d <= '9' && exponent < 1<<50 {
					exponent = exponent*10 + int64(d-'0')
				}
			}
			return int64(i) + exponent
		}
	}
	return int64(len(text))
}

// Long reports whether a number has too many digits.
func Long[T string | []byte](text T) bool { return len(text) > 5 && Of(text) > Max }
