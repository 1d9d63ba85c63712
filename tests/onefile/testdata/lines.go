package source

import (
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// The format lines has a command on each line. Its file is laid over this package
// by tests/onefile, and nothing else of hookc knows it.
var _ = register(Format{
	Name:  "lines",
	Doc:   "a command that judges calls on each line",
	Match: func(in *File) bool { return strings.HasSuffix(in.Path, ".lines") },
	Read: func(l *Loader, in *File) {
		src := diag.NewSource(in.Name, in.Content)
		for at := 0; at < len(in.Content); {
			line, _, _ := strings.Cut(in.Content[at:], "\n")
			span := diag.Span{Source: src, Start: at, End: at + len(line)}
			if at += len(line) + 1; line != "" {
				l.Add(in, &policy.Hook{Event: policy.PreToolExecution, Kind: policy.KindBash, Priority: policy.DefaultPriority, Retry: -1,
					Span: span, Body: policy.Body{Command: diag.NewText(line, span, nil)}})
			}
		}
	},
})
