package disk

import (
	"sync"
	"time"
)

// Files remembers what files held, for as long as they are asked for: what no
// one reads between one Begin and the next is forgotten. The zero Files is
// ready; it is safe for concurrent use.
type Files struct {
	mu          sync.Mutex
	used, older map[string]*File
}

// File is one file as it was read. It is immutable.
type File struct {
	// Content is what it held, Err why it could not be read.
	Content string
	Err     error

	print   Print
	settled bool
}

// Begin begins a round of reading.
func (f *Files) Begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used, f.older = nil, f.used
}

// Read returns a file: the same as before if it was not changed, be it that
// nothing shows a change, be it that read returns the same again.
func (f *Files) Read(path string, read func(path string) (string, error)) *File {
	f.mu.Lock()
	defer f.mu.Unlock()
	if have := f.used[path]; have != nil {
		return have // within a round a file is one
	}
	have := f.older[path]
	at := time.Now()
	print := Look(path)
	if have == nil || !have.settled || have.print != print {
		content, err := read(path)
		next := &File{Content: content, Err: err, print: print, settled: err == nil && print.Settled(at)}
		if have != nil && have.Err == nil && err == nil && have.Content == content {
			next.Content = have.Content
		}
		have = next
	}
	if f.used == nil {
		f.used = map[string]*File{}
	}
	f.used[path] = have
	return have
}
