package wire

import "testing"

// An object ends at the same byte however the stream is cut.
func TestWholeEndsWhereTheObjectDoes(t *testing.T) {
	for text, end := range map[string]int{
		`{}`:                        2,
		` {"a":"}"} trailing`:       10,
		`{"a":"\"}","b":[{}]}{}`:    20,
		"\xef\xbb\xbf[1,2]":         8,
		`{"a":"\\"}`:                10,
		`"text"`:                    -1,
		`12`:                        -1,
		`}{}`:                       -1,
		`{"a":{"b":1}`:              -1,
		`{"open`:                    -1,
		``:                          -1,
		`null {}`:                   -1,
		`{"a": "x\u007d"} `:         16,
		"\n\t\r {\"a\":[\"[\",{}]}": 18,
	} {
		for size := 1; size <= len(text)+1; size++ {
			var w Whole
			got := -1
			for at := 0; at < len(text); at += size {
				piece := text[at:min(at+size, len(text))]
				if w.Add([]byte(piece)) && got < 0 {
					got = at + len(piece)
				}
			}
			if want := end; want < 0 && got >= 0 || want >= 0 && (got < want || got >= want+size) {
				t.Errorf("%q in pieces of %d: ends at %d, want %d", text, size, got, want)
			}
		}
	}
}
