package main

import (
	"context"
	"io"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/wire"
)

var errTooLarge = fault.Errorf("the event is larger than %d MiB", decide.MaxInput>>20)

// readWhole reads a stream up to the largest event, and gives up when ctx ends:
// a read of a terminal, or of a pipe that nobody writes to, ends on its own
// never. It is left behind then, for the program to end with.
func readWhole(ctx context.Context, r io.Reader) ([]byte, error) {
	return reading(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(r, decide.MaxInput+1)) })
}

// readInput reads one event. It ends with the stream, or with the JSON object
// where nothing more has arrived: some agents leave the stream open.
func readInput(ctx context.Context, r io.Reader) ([]byte, error) {
	return reading(ctx, func() ([]byte, error) {
		var whole wire.Whole
		data := make([]byte, 0, 16<<10)
		for {
			if len(data) == cap(data) {
				data = append(data, 0)[:len(data)]
			}
			n, err := r.Read(data[len(data):min(cap(data), decide.MaxInput+1)])
			piece := data[len(data) : len(data)+n]
			data = data[:len(data)+n]
			switch {
			case err == io.EOF:
				return data, nil
			case err != nil:
				return data, err
			case len(data) > decide.MaxInput:
				return data, errTooLarge // its beginning may say which event it is
			case whole.Add(piece) && !arrived(r):
				return data, nil
			}
		}
	})
}

// reading is what read gives, or the end of ctx.
func reading(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := read()
		done <- result{data, err}
	}()
	select {
	case got := <-done:
		return got.data, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
