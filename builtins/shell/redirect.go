package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"mvdan.cc/sh/v3/syntax"
)

// shRedirected is what the redirections of a statement do.
type shRedirected struct {
	list []Redirect
	// effects are those of opening the files.
	effects []shPending
	// files are the paths that standard output goes to, appended those of them
	// that keep what they hold. printed collects it.
	files    []string
	appended bool
	printed  *shValue
	diverted bool
}

// shPending is an effect whose command is not listed yet.
type shPending struct {
	kind EffectKind
	op   string
	path Word
}

// redirect expands redirections, and makes fr the frame of what is between
// them.
func (a *analysis) redirect(rs []*syntax.Redirect, fr *shFrame) shRedirected {
	var r shRedirected
	for _, rd := range rs {
		if !a.spend(fr) {
			break
		}
		a.redirectOne(rd, fr, &r)
	}
	if len(r.list) > 0 {
		fr.redirects = append(fr.redirects[:len(fr.redirects):len(fr.redirects)], r.list...)
	}
	if r.diverted {
		r.printed = &shValue{}
		fr.out = r.printed
		if len(r.files) == 0 {
			fr.out = nil
		}
	}
	return r
}

func (a *analysis) redirectOne(rd *syntax.Redirect, fr *shFrame, r *shRedirected) {
	fd := ""
	if rd.N != nil {
		fd = rd.N.Value
	}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		body := a.heredoc(rd, fr)
		a.reads(fd, shStream{value: body, set: true, here: true}, fr)
		r.list = append(r.list, Redirect{Op: rd.Op.String(), Fd: fd, Target: a.single(rd.Word, fr).word(), here: body.text()})
		return
	case syntax.WordHdoc:
		v := append(a.single(rd.Word, fr), shPart{text: "\n"})
		a.reads(fd, shStream{value: v, set: true}, fr)
		r.list = append(r.list, Redirect{Op: rd.Op.String(), Fd: fd, Target: v.trimNewlines().word()})
		return
	}
	target := a.single(rd.Word, fr).word()
	r.list = append(r.list, Redirect{Op: rd.Op.String(), Fd: fd, Target: target})
	switch rd.Op {
	case syntax.RdrIn:
		r.effects = append(r.effects, shPending{EffectRead, "redirect", target})
		a.reads(fd, shStream{value: a.contents(target, fr), set: true}, fr)
	case syntax.RdrInOut:
		r.effects = append(r.effects, shPending{EffectWrite, "redirect", target})
	case syntax.DplIn:
		if v, ok := fr.st.files.get("/dev/fd/" + target.Text); ok && (fd == "" || fd == "0") {
			fr.stdin = shStream{value: v, set: true}
		}
	case syntax.DplOut:
		a.duplicate(target, fd, fr, r)
	default:
		a.redirectOut(rd.Op, target, fd, fr, r)
	}
}

// reads makes a stream what is read from a descriptor: standard input, or a file of
// that name.
func (a *analysis) reads(fd string, s shStream, fr *shFrame) {
	if fd == "" || fd == "0" {
		fr.stdin = s
		return
	}
	fr.st.holds("/dev/fd/"+strings.Trim(fd, "{}"), a.bounded(s.value, fr))
}

// duplicate is >&: a descriptor, or a file for both outputs.
func (a *analysis) duplicate(target Word, fd string, fr *shFrame, r *shRedirected) {
	if text, ok := target.known(); ok && (text == "-" || strings.Trim(text, "0123456789-") == "") {
		if (fd == "" || fd == "1") && text != "1" {
			r.diverted, r.files = true, nil
		}
		return
	}
	a.redirectOut(syntax.RdrAll, target, "", fr, r)
}

func (a *analysis) redirectOut(op syntax.RedirOperator, target Word, fd string, fr *shFrame, r *shRedirected) {
	r.effects = append(r.effects, shPending{EffectWrite, "redirect", target})
	if fd != "" && fd != "1" {
		fr.st.files = fr.st.files.drop(a.fileKey(target, fr))
		return
	}
	r.diverted, r.files = true, nil
	if key := a.fileKey(target, fr); !posix.IsStream(key) {
		r.files = []string{key}
		r.appended = op == syntax.AppOut || op == syntax.AppAll
	}
}

// closeRedirect remembers what was written to a file by the commands from first on.
func (a *analysis) closeRedirect(r shRedirected, fr *shFrame, first int) {
	for _, w := range r.effects {
		if w.kind == EffectWrite && !r.appended && uint(first) < uint(len(a.out.Commands)) && a.overread(r.effects, w.path, first, fr) {
			a.fileEffect(EffectDelete, w.path, shTarget{op: "self-empty", index: first, offset: a.out.Commands[first].Offset, fr: fr})
		}
	}
	if r.printed == nil {
		return
	}
	for _, p := range r.files {
		v := *r.printed
		if old, ok := fr.st.files.get(p); r.appended && ok {
			v = append(old[:len(old):len(old)], v...)
		} else if r.appended {
			v = append(shValue{{text: p, kind: shAny, origin: shOrigin{"file", p}}}, v...)
		}
		fr.st.holds(p, a.bounded(v, fr))
	}
}

//go:noinline
func (a *analysis) redirectEffects(r shRedirected, at shTarget) {
	for _, e := range r.effects {
		at.op = e.op
		a.fileEffect(e.kind, e.path, at)
	}
}

// emptied adds that what a redirection opens loses what it held, where nothing or noise is put
// there, and that what never ends fills a disk.
func (a *analysis) emptied(r shRedirected, c *shCall, v shValue) {
	from := v.origin().from
	switch noise := losses.Noise(from); {
	case len(r.files) == 0 && len(v) > 0:
		return
	case noise && c.name == "cat", c.name == "yes":
		a.does(c, EffectExec, DomainSystem, "fill-disk", strings.Join(r.files, " "))
	case !noise && (c.name != "" && !WordIn(c.name, ": true cat echo printf") || strings.TrimSpace(v.text()) != "" || r.appended):
		return
	}
	for _, e := range r.effects {
		if z := a.zone(c, e.path); e.kind == EffectWrite && e.op == "redirect" && (z == ZoneProject || !disposableZone(z)) {
			a.fileEffect(EffectDelete, e.path, c.target("truncate"))
		}
	}
}

// overread reports whether a redirection has emptied a file before what stands under it reads it: a
// command from first on, or one of the same pipeline.
func (a *analysis) overread(effects []shPending, w Word, first int, fr *shFrame) bool {
	p, key := a.resolve(w, fr), a.fileKey(w, fr)
	_, made := fr.st.files.get(key)
	if z, _ := a.placeIn(p.shape, fr); made || z != ZoneProject && disposableZone(z) {
		return false
	}
	for _, e := range effects {
		if e.kind == EffectRead && a.fileKey(e.path, fr) == key {
			return true
		}
	}
	for i := range a.out.Effects {
		if e := &a.out.Effects[i]; e.Kind == EffectRead && e.Target == p.text && e.Certainty == p.certainty && a.under(e.Command, first, fr) {
			return true
		}
	}
	ext := strings.TrimPrefix(path.Ext(p.text), ".")
	if !losses.SourceExtensions()[ext] && !WordIn(ext, "json yaml yml toml csv html xml md") {
		return false
	}
	for i := range a.out.Commands { // a formatter, or a script
		if c := &a.out.Commands[i]; a.under(i, first, fr) && (programOf(c.Name) == nil || WordIn(Versionless(c.Name), "python node ruby perl php deno bun")) {
			for _, word := range c.Argv {
				if a.fileKey(word, fr) == key {
					return true
				}
			}
		}
	}
	return false
}

// under reports whether a command is one from first on, or of the pipeline of fr, on the same machine.
func (a *analysis) under(i, first int, fr *shFrame) bool {
	if i < 0 {
		return false
	}
	c := &a.out.Commands[i]
	return (i >= first || fr.pipe > 0 && c.Pipe == fr.pipe) && c.Host == fr.host && !WordIn(c.Name, "git hg svn")
}

// heredoc is the body of a here-document: text as it is when the delimiter is
// quoted, else expanded as in double quotes.
func (a *analysis) heredoc(rd *syntax.Redirect, fr *shFrame) shValue {
	if rd.Hdoc == nil {
		return nil
	}
	var v shValue
	if quotedDelimiter(rd.Word) {
		for _, p := range rd.Hdoc.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				v = append(v, a.decode(lit.Value, shText, true)...)
			}
		}
	} else {
		v = a.quoted(rd.Hdoc, fr)
	}
	if rd.Op == syntax.DashHdoc {
		v = untabbed(v)
	}
	return v
}

func quotedDelimiter(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.IndexByte(lit.Value, '\\') >= 0
	})
}

// untabbed is the body of <<- without the tabs that begin its lines.
func untabbed(v shValue) shValue {
	start := true
	return v.mapped(func(p *shPart) {
		if !p.known() {
			return
		}
		lines := strings.Split(p.text, "\n")
		for j := range lines {
			if j > 0 || start {
				lines[j] = strings.TrimLeft(lines[j], "\t")
			}
		}
		p.text = strings.Join(lines, "\n")
		start = strings.HasSuffix(p.text, "\n")
	})
}

// contents is what a file holds: what was written to it before, else text that
// is not known.
func (a *analysis) contents(target Word, fr *shFrame) shValue {
	p, ok := a.resolve(target, fr).known()
	if v, written := a.written(target, fr); written {
		return v
	}
	if p == "/dev/null" {
		return nil
	}
	if s := target.Text; s == "-" || s == "/dev/stdin" {
		return fr.stdin.value
	}
	if !ok {
		p = target.Text
	}
	return shUnknown("$(< "+target.Text+")", shOrigin{"file", p})
}

// substitute is the value of $(…).
func (a *analysis) substitute(c *syntax.CmdSubst, fr *shFrame) shValue {
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Redirs[0].Op == syntax.RdrIn {
		a.stmt(c.Stmts[0], fr.subshell().within("substitution"))
		w := a.single(c.Stmts[0].Redirs[0].Word, fr).word()
		return a.contents(w, fr).trimNewlines()
	}
	if !a.enter(fr) {
		return shUnknown(fr.source(c), shOrigin{kind: "output"})
	}
	defer a.leave()
	in := fr.subshell().within("substitution")
	in.stdin, in.pipe, in.stage, in.redirects = shStream{}, 0, 0, nil
	printed := shValue{}
	in.out, in.around, in.conditional = &printed, in.around || in.conditional, false
	a.stmts(c.Stmts, in)
	fr.st.files = joinTable(fr.st.files, in.st.files)
	return a.printed(printed, fr, c).trimNewlines()
}

// processSubst is <(…) and >(…): a file that is a pipe.
func (a *analysis) processSubst(p *syntax.ProcSubst, fr *shFrame) shValue {
	if !a.enter(fr) {
		return shUnknown("<(...)", shOrigin{kind: "output"})
	}
	defer a.leave()
	in := fr.subshell().within("substitution")
	in.pipe, in.stage, in.redirects = 0, 0, nil
	a.fds++
	path := "/dev/fd/" + string(rune('a'+a.fds%26)) + "63"
	if p.Op == syntax.CmdOut {
		in.stdin = fr.stdin
		if !in.stdin.set {
			in.stdin = shStream{value: shUnknown(">(...)", shOrigin{kind: "pipe"}), set: true}
		}
		a.stmts(p.Stmts, in)
		return shValue{{text: path, quoted: true}}
	}
	printed := shValue{}
	in.stdin, in.out = shStream{}, &printed
	a.stmts(p.Stmts, in)
	fr.st.holds(path, a.bounded(printed, fr))
	return shValue{{text: path, quoted: true}}
}
