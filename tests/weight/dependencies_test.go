package weight

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// linked lists the modules that a system's hookc and hookgate link, and the
// folders they lie in.
func linked(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		list := run(t, root(t), append(os.Environ(), "GOOS="+goos, "GOFLAGS="),
			"go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/hookc", "./cmd/hookgate")
		for line := range strings.Lines(list) {
			if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				out[path] = dir
			}
		}
	}
	return out
}

// required lists the direct requirements of go.mod.
func required(t *testing.T) (out []string) {
	t.Helper()
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	dec := json.NewDecoder(strings.NewReader(run(t, root(t), os.Environ(), "go", "mod", "edit", "-json")))
	require.NoError(t, dec.Decode(&mod))
	_, err := dec.Token()
	require.True(t, errors.Is(err, io.EOF))
	for _, r := range mod.Require {
		if !r.Indirect {
			out = append(out, r.Path)
		}
	}
	return out
}

var moduleRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$")

// TestDependenciesPage: each direct requirement and each linked module is on
// the page once, linked ones with the licence that lies beside their source.
func TestDependenciesPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "dependencies.md"))
	require.NoError(t, err)
	rows := map[string]string{}
	for _, m := range moduleRow.FindAllStringSubmatch(string(page), -1) {
		assert.NotContains(t, rows, m[1], "on the page twice")
		rows[m[1]] = m[2]
	}
	modules := linked(t)
	wanted := map[string]bool{}
	for path := range modules {
		wanted[path] = true
	}
	for _, path := range required(t) {
		wanted[path] = true
	}
	assert.Equal(t, slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(rows)))
	for path, dir := range modules {
		assert.Contains(t, rows[path], "| "+licence(t, dir)+" |", "the licence of %s", path)
	}
}

// licence is the name of the licence that lies in a module's folder.
func licence(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		text := strings.Join(strings.Fields(string(data)), " ")
		mit, apache := strings.Contains(text, "Permission is hereby granted, free of charge, to any person"), strings.Contains(text, "Apache License") && strings.Contains(text, "Version 2.0")
		switch {
		case mit && apache:
			return "MIT and Apache-2.0"
		case mit:
			return "MIT"
		case apache:
			return "Apache-2.0"
		case strings.Contains(text, "Redistribution and use in source and binary forms") && strings.Contains(text, "either the name of"),
			strings.Contains(text, "Redistribution and use in source and binary forms") && strings.Contains(text, "The names of its contributors may not"):
			return "BSD-3-Clause"
		case strings.Contains(text, "Redistribution and use in source and binary forms"):
			return "BSD-2-Clause"
		}
		t.Fatalf("%s: a licence that is not known here", filepath.Join(dir, f.Name()))
	}
	t.Fatalf("%s: no licence", dir)
	return ""
}
