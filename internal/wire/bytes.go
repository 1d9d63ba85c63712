package wire

// Numbers as they lie in a frame. encoding/binary would link reflect into the
// gate.

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func le64(b []byte) uint64 { return uint64(le32(b)) | uint64(le32(b[4:8]))<<32 }

func append32(b []byte, n uint32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func put32(b []byte, n uint32) {
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
}

func put64(b []byte, n uint64) {
	put32(b, uint32(n))
	put32(b[4:], uint32(n>>32))
}
