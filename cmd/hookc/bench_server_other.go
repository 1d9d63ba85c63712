//go:build !unix

package main

// benchServer is a server there is none of on this system.
type benchServer struct{ socket string }

// openServer leaves out what needs serve.
func (b *bencher) openServer() error {
	b.note("there is no serve on this system: socket and hookgate are not measured")
	return nil
}

func (b *bencher) handedBack(*benchEvent) string { return "there is none" }

func (b *bencher) socketShot(*benchEvent) benchShot { return benchShot{} }

func (b *bencher) answered() error { return nil }
