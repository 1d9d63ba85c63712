package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeFile = diag.Define("HK001", diag.Error, "file that cannot be read")
var codeNoFormat = diag.Define("HK015", diag.Error, "file or folder that no format reads")
var codeCycle = diag.Define("HK012", diag.Error, "files that include each other")
var codeReadOnce = diag.Define("HK014", diag.Warning, "file named twice")

// input reads one input.
func (l *Loader) input(in Input) {
	path := Absolute("", in.Path)
	file := &File{Name: l.shown(path), Path: path, Tier: in.Tier, Untrusted: in.Untrusted, Content: string(in.Content),
		Root: in.Root, Segment: in.Segment, Tree: in.Tree, Live: in.Live, Within: in.Within}
	if !filepath.IsAbs(in.Path) {
		file.Name = spell.Line(filepath.Clean(in.Path))
	}
	if in.Content == nil {
		if err := l.openFile(file); err != nil {
			l.Report(file, codeFile.Report(diag.Span{}, "%s: %s", file.Name, err))
			return
		}
	}
	l.load(file, in.Format, diag.Span{})
}

// openFile reads the file from disk.
func (l *Loader) openFile(f *File) error {
	if err := f.Outside(f.Path); err != nil {
		l.sight.unsure()
		return err
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		l.sight.unsure()
		return plainError(err)
	}
	if f.Folder = info.IsDir(); f.Folder {
		l.sight.unsure()
		return nil
	}
	content, print, at, err := l.readFile(f.Path)
	f.Content = content
	l.sight.note(f.Path, aPolicy, content, nil, print, at)
	return err
}

// readRegular reads a file that is a file: a pipe or a device may never end.
func readRegular(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.IsDir():
		return "", errors.New("is a folder")
	case !info.Mode().IsRegular():
		return "", errors.New("is not a regular file")
	case info.Size() > tree.MaxBytes:
		return "", fault.Errorf("has %d bytes; %d is the most", info.Size(), tree.MaxBytes)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", plainError(err)
	}
	return string(content), nil
}

// plainError is an error of the file system without the path, which messages
// name themselves.
func plainError(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case errors.As(err, &p):
		return p.Err
	}
	return err
}

// load gives a file to the format that reads it, and a folder to every one
// that does. from is where the file was named.
func (l *Loader) load(file *File, forced string, from diag.Span) {
	if l.full(file) || l.heavy(file, file.Content) {
		return
	}
	id := reading{file.Tier, realPath(l.live(file.Path))}
	if i := slices.Index(l.open, id); i >= 0 {
		l.reportCycle(file, l.open[i:], from)
		return
	}
	if l.read[id] {
		l.Report(file, codeReadOnce.Report(from, "%s is named a second time; it is read once", file.Name))
		return
	}
	readers := l.readers(file, forced, from)
	if len(readers) == 0 {
		return
	}
	l.read[id] = true
	l.open = append(l.open, id)
	for _, f := range readers {
		if f.Name != "hooksyaml" || file.Folder || filepath.Base(file.Path) == "hooks.json" {
			l.sight.unsure() // others look where they like
		}
		f.Read(l, file)
	}
	l.open = l.open[:len(l.open)-1]
}

func (l *Loader) readers(file *File, forced string, from diag.Span) []Format {
	if forced != "" {
		f, ok := lookup(forced)
		if !ok {
			l.Report(file, codeNoFormat.Report(from, "no format is called %q", forced).
				WithHint("%s", diag.DidYouMean(forced, Names(), "formats: "+strings.Join(Names(), ", "))))
			return nil
		}
		return []Format{f}
	}
	var out []Format
	for _, f := range formats {
		if f.Match(file) {
			out = append(out, f)
		}
	}
	switch {
	case len(out) == 0 && file.Folder:
		l.Report(file, codeNoFormat.Report(from, "%s holds no policy", file.Name).
			WithHint("a policy folder has a hooks.yaml or folders with a HOOK.md"))
	case len(out) == 0:
		l.Report(file, codeNoFormat.Report(from, "%s is in no format known here", file.Name).
			WithHint("name it .yaml or .json, or force a format with --format: %s", strings.Join(Names(), ", ")))
	case !file.Folder:
		// A format that goes by more than the extension comes before the one that
		// does not.
		if len(out) > 1 && out[0].Name == "hooksyaml" {
			out = out[1:]
		}
		out = out[:1]
	}
	return out
}

func (l *Loader) reportCycle(file *File, loop []reading, from diag.Span) {
	var names []string
	for _, r := range loop {
		names = append(names, l.shown(r.path))
	}
	names = append(names, names[0])
	l.Report(file, codeCycle.Report(from, "files include each other: %s", strings.Join(names, " → ")).
		WithHint("take one of these includes out"))
}
