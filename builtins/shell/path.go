package shell

import (
	"path"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/spell"
)

// shPath is a path that a word means.
type shPath struct {
	// text is absolute and clean where that can be known.
	text      string
	certainty Certainty
	// written is text as it was before it was cleaned, where that makes a difference to links.
	written string
	// shape is text with something plain for what is not known, to find where
	// it lies; "" when that is not known at all.
	shape string
	// unset is the path when the variables that are not known are empty.
	unset string
}

//go:noinline
func (p shPath) known() (string, bool) { return p.text, p.certainty == CertainKnown && p.text != "" }

// mount is a directory of this machine inside a container.
type shMount struct{ host, inside string }

// resolve makes a path of a word in the directory of fr.
func (a *analysis) resolve(w Word, fr *shFrame) shPath {
	dir := a.dir(fr.st)
	if !w.Dynamic {
		p := shPath{text: w.Text, certainty: CertainKnown}
		if w.Pattern {
			p.certainty = CertainPattern
		}
		if w.Text == "" {
			return shPath{certainty: p.certainty}
		}
		abs := posix.Absolute(dir, w.Text)
		if abs == "" {
			return shPath{text: w.Text, certainty: CertainDynamic}
		}
		p.text, p.shape, p.written = abs, abs, posix.Unclean(dir, w.Text)
		if !w.Pattern {
			p.shape = Globless.Replace(abs)
		}
		return p
	}
	return a.resolveDynamic(w, dir)
}

// Globless takes away what would make a glob of a name that is none.
var Globless = strings.NewReplacer("*", "_", "?", "_", "[", "_")

func (a *analysis) resolveDynamic(w Word, dir string) shPath {
	var written, shape, unset strings.Builder
	plain, empties := true, true
	for i, p := range w.value() {
		switch p.kind {
		case shPlain:
			written.WriteString(posix.Flat(p.text))
			shape.WriteString("x")
			unset.WriteString("x")
		case shAny, shVar:
			if i == 0 {
				shape.Reset()
				dir = ""
			}
			plain = false
			empties = empties && p.kind == shVar
			written.WriteString(posix.Flat(p.text))
			shape.WriteString("x")
		default:
			written.WriteString(p.text)
			shape.WriteString(p.text)
			unset.WriteString(p.text)
		}
	}
	out := shPath{text: written.String(), certainty: CertainDynamic}
	if plain {
		out.certainty = CertainPattern
	}
	if abs := posix.Absolute(dir, written.String()); abs != "" {
		out.text, out.shape = abs, posix.Absolute(dir, shape.String())
		if up := path.Dir(out.shape); !plain && up == "/" {
			out.shape = "/*/x" // some directory of the root
		}
	}
	if !plain && empties && unset.Len() > 0 {
		out.unset = posix.Absolute(dir, unset.String())
	}
	return out
}

// placeIn is where a path lies on the machine of fr.
func (a *analysis) placeIn(shape string, fr *shFrame) (Zone, string) {
	if shape == "" {
		return ZoneUnknown, ""
	}
	if fr.host == "" {
		return a.at.ZoneOf(shape)
	}
	there := At{Home: a.at.Home, Temp: "/tmp"}
	return there.ZoneOf(shape)
}

// fileEffect adds an effect on the file a word means.
func (a *analysis) fileEffect(kind EffectKind, w Word, t shTarget) {
	if w.Text == "" && !w.Dynamic {
		return
	}
	fr := *t.fr
	p := a.resolve(w, &fr)
	if strings.HasPrefix(fr.host, "image:") || strings.HasPrefix(fr.host, "container:") {
		for _, m := range a.mounts {
			if p.shape != "" && losses.IsUnder(m.inside, p.shape) && (kind == EffectDelete || !strings.HasPrefix(m.host, volumes)) {
				p = p.moved(m)
				fr.host = ""
				break
			}
		}
	}
	t.fr = &fr
	if posix.IsStream(p.text) || kind == EffectRead && WordIn(p.text, "/dev/zero /dev/urandom /dev/random") {
		return
	}
	if (kind != EffectDelete || t.op == "truncate") && a.deviceNet(p.text, t) {
		return
	}
	domain := t.domain
	if domain == "" {
		domain = DomainFile
	}
	e := Effect{Kind: kind, Domain: domain, Op: t.op, Target: p.text, Written: p.written, Certainty: p.certainty, Recursive: t.recursive}
	e.Place, e.Secret = a.placeIn(p.shape, &fr)
	if e.Place == ZoneDevice && kind == EffectWrite && domain == DomainFile {
		e.Kind, e.Domain = EffectDevice, DomainDisk
	}
	if v, ok := a.written(w, &fr); ok && kind == EffectRead && e.Secret == "" {
		e.Secret = a.fileSecretOf(v)
	}
	if p.shape == "" && !w.Dynamic && kind == EffectRead {
		e.Secret = losses.Secret(w.Text, a.at.Home) // by its name, in whichever folder
	}
	a.add(e, t)
	if p.unset == "" {
		return
	}
	if place, _ := a.placeIn(p.unset, &fr); place != e.Place {
		e.Target, e.Place, e.Certainty = p.unset, place, CertainIfUnset
		a.add(e, t)
	}
}

// files adds the same effect on each of some files.
//
//go:noinline
func (a *analysis) files(kind EffectKind, t shTarget, words ...Word) {
	for _, w := range words {
		a.fileEffect(kind, w, t)
	}
}

// fileKey is the name under which what a word's file holds is remembered: its
// path, or the word as it is written where the path is not known.
func (a *analysis) fileKey(w Word, fr *shFrame) string {
	p := a.resolve(w, fr)
	if p.certainty == CertainKnown && p.text != "" {
		return p.text
	}
	return "?" + w.Text
}

// moved is a path inside a container as the path it is outside.
func (p shPath) moved(m shMount) shPath {
	out := p
	out.text = path.Clean(m.host + "/" + strings.TrimPrefix(p.text, m.inside))
	out.shape = path.Clean(m.host + "/" + strings.TrimPrefix(p.shape, m.inside))
	if !strings.HasPrefix(m.host, "/") {
		out.shape, out.certainty = "", CertainDynamic
	}
	out.unset, out.written = "", ""
	return out
}

// deviceNet is bash's /dev/tcp/HOST/PORT, which is a connection.
func (a *analysis) deviceNet(p string, t shTarget) bool {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		if !strings.HasPrefix(p, prefix) {
			continue
		}
		op := "socket"
		if t.index >= 0 && t.index < len(a.out.Commands) && Shells()[a.out.Commands[t.index].Name] {
			op = "reverse-shell"
		}
		host, _, _ := spell.Cut(p[len(prefix):], "/")
		a.add(Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: op, Target: host}, t)
		return true
	}
	return false
}
