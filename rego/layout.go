package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"github.com/hookc/hookc/internal/fault"
)

// Format is a Rego file laid out as `opa fmt` does. version is that of
// RegoConfig: v0 or v1, "" for v1, and for v0 where the text is no v1. The result
// is parsed and compared with what it was made of: the error says that it could
// not be read, or would not say the same.
func Format(name string, text []byte, version string) ([]byte, error) {
	as := []ast.RegoVersion{ast.RegoV1, ast.RegoV0}
	switch version {
	case "v0":
		as = as[1:]
	case "v1":
		as = as[:1]
	}
	var first error
	for _, v := range as {
		out, err := formatAs(name, text, v)
		if err == nil {
			return out, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func formatAs(name string, text []byte, version ast.RegoVersion) ([]byte, error) {
	parsing := ast.ParserOptions{RegoVersion: version}
	before, err := ast.ParseModuleWithOpts(name, string(text), parsing)
	if err != nil {
		return nil, err
	}
	out, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: version, ParserOptions: &parsing})
	if err != nil {
		return nil, err
	}
	after, err := ast.ParseModuleWithOpts(name, string(out), parsing)
	if err != nil {
		return nil, fault.Errorf("%s cannot be laid out: %w", name, err)
	}
	if !after.Equal(before) || len(after.Comments) != len(before.Comments) {
		return nil, fault.Errorf("%s cannot be laid out: it would not say the same", name)
	}
	return out, nil
}
