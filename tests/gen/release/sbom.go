package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type object = map[string]any

// sbom writes what a program says that it is built of (go version -m) as CycloneDX.
// It names no time and no number of its own, so that it is the same for the same
// program.
func sbom(program, to string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	main := component("application", info.Main.Path, info.Main.Version)
	main["name"] = name
	main["hashes"] = []object{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}}
	var settings []object
	for _, s := range info.Settings {
		settings = append(settings, object{"name": "go:" + s.Key, "value": s.Value})
	}
	main["properties"] = settings
	parts := []object{component("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		c := component("library", d.Path, d.Version)
		// A sum of go.sum is one of all the files of a module, so no hash of CycloneDX's.
		c["properties"] = []object{{"name": "go:sum", "value": d.Sum}}
		parts = append(parts, c)
	}
	var refs []string
	for _, p := range parts {
		refs = append(refs, p["bom-ref"].(string))
	}
	text, err := json.MarshalIndent(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{"component": main}, "components": parts,
		"dependencies": []object{{"ref": main["bom-ref"], "dependsOn": refs}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}

func component(kind, path, version string) object {
	url := fmt.Sprintf("pkg:golang/%s@%s", path, strings.ReplaceAll(version, "+", "%2B"))
	return object{"type": kind, "bom-ref": url, "name": path, "version": version, "purl": url}
}
