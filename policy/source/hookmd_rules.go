package source

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// ruleNames are the entry points that hookc evaluates itself, looked for after those
// that are started.
var ruleNames = []string{"run.rego", "run.expr"}

// mdRule makes a hook a rule where its folder holds one and no script to start:
// scripts/run.rego or scripts/run.expr, or a block of Rego in the HOOK.md itself.
// front is as much of that as was read.
func (l *Loader) mdRule(in *File, h *policy.Hook, front string) (is bool, found diag.List) {
	scripts := filepath.Join(filepath.Dir(in.Path), "scripts")
	has := func(name string) bool { return regularFile(filepath.Join(scripts, name)) != nil }
	if in.Untrusted != "" || slices.ContainsFunc(entryNames, has) {
		return false, nil
	}
	i := slices.IndexFunc(ruleNames, has)
	if i < 0 {
		return l.mdBlock(in, h, front)
	}
	path := filepath.Join(scripts, ruleNames[i])
	err := in.Outside(path)
	var content string
	if err == nil {
		content, _, _, err = l.readFile(path)
	}
	if err != nil {
		return true, diag.List{codeFile.Report(h.Span, "scripts/%s: %s", ruleNames[i], plainError(err))}
	}
	text, found := bodyText(l.shown(path), content)
	switch {
	case found != nil:
	case filepath.Ext(path) == ".expr":
		found = l.mdExpr(in, h, text)
	default:
		mdRego(h, text)
		h.Body.File = path
	}
	return true, found
}

func mdRego(h *policy.Hook, text diag.Text) {
	h.Kind, h.Body = policy.KindRego, policy.Body{Source: text}
}

// mdBlock takes the one block of Rego, between fences, that follows the frontmatter.
func (l *Loader) mdBlock(in *File, h *policy.Hook, front string) (is bool, found diag.List) {
	content := in.Content
	if content == "" {
		var err error
		if content, _, _, err = l.readFile(in.Path); err != nil {
			return false, nil // its frontmatter was read: what is gone now has no rule
		}
	}
	if !strings.HasPrefix(content, front) {
		return false, nil
	}
	blocks := regoBlocks(content, len(front))
	if len(blocks) == 0 {
		return false, nil
	}
	text, found := bodyText(l.shown(in.Path), content)
	if found != nil {
		return true, found
	}
	from, to := blocks[0][0], blocks[0][1]
	at := diag.Span{Source: text.Span.Source, Start: from, End: to}
	if len(blocks) > 1 {
		at.Start, at.End = blocks[1][0], blocks[1][1]
		return true, diag.List{codeConflict.Report(at, "a HOOK.md has one block of Rego; this is another").
			WithHint("put both into scripts/run.rego, or give one another language")}
	}
	mdRego(h, diag.NewText(content[from:to], at, []diag.Mark{{Source: from}}))
	return true, nil
}

// regoBlocks are where the texts of the fenced blocks are whose language is rego,
// which is the first word beside the fence.
func regoBlocks(content string, from int) (out [][2]int) {
	fence, start := "", -1
	for at := from; at < len(content); {
		end := len(content)
		if i := strings.IndexByte(content[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := strings.TrimSpace(content[at:end])
		mark := line[:len(line)-len(strings.TrimLeft(line, "`~"))]
		switch {
		case fence == "" && len(mark) >= 3 && strings.Trim(mark, mark[:1]) == "":
			fence = mark
			if info := strings.Fields(line[len(mark):]); len(info) > 0 && strings.EqualFold(info[0], "rego") {
				start = end
			}
		case fence != "" && mark == line && len(mark) >= len(fence) && strings.Trim(mark, fence[:1]) == "":
			if start >= 0 {
				out = append(out, [2]int{start, at})
			}
			fence, start = "", -1
		}
		at = end
	}
	if start >= 0 { // a fence that nothing closes ends with the text
		out = append(out, [2]int{start, len(content)})
	}
	return out
}

// mdExpr reads a run.expr: the keys of an expr hook, or one expression that denies,
// for the reason that the description is.
func (l *Loader) mdExpr(in *File, h *policy.Hook, text diag.Text) diag.List {
	h.Kind, h.Body = policy.KindExpr, policy.Body{}
	first := ""
	for line := range strings.Lines(text.Value) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			first = line
			break
		}
	}
	name, _, _ := spell.Cut(first, ":")
	if row := FindKey(InHook, name); row == nil || !lists.Among(row.Kinds, policy.KindExpr) {
		h.Body.Rules = []policy.Rule{{Says: policy.MayDeny, Condition: text, Reason: diag.Literal(h.Description), Span: text.Span}}
		return nil
	}
	root, found := tree.ParseYAML(text.Span.Source, text.Span.Start, text.Span.End)
	if root == nil || root.Shape != tree.Map {
		return append(found, tree.CodeType.Report(text.Span, "scripts/run.expr holds an expression, or the keys of an expr hook"))
	}
	for _, e := range root.Entries {
		if row := FindKey(InHook, e.Key.Text.Value); row != nil && !lists.Among(row.Kinds, policy.KindExpr) {
			found.Add(codeHookField.Report(e.Key.Span, "%s stands in the frontmatter, not in scripts/run.expr", e.Key.Text.Value))
		}
	}
	r := yamlReader{l: l, in: in, src: text.Span.Source}
	r.exprBody(l.fields(in, root, InHook, policy.KindExpr), h)
	return found
}
