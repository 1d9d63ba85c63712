package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// artifact is one line of what goreleaser says that it made.
type artifact struct {
	Name, Path, Type string
	OS               string `json:"goos"`
	Arch             string `json:"goarch"`
}

// start is the program of the package hookc: it starts that of the platform, with
// its own arguments and streams. A failure is exit 3, and where an agent waits for an
// answer 2, which every agent reads as deny.
const start = `#!/usr/bin/env node
'use strict'
const { spawnSync } = require('node:child_process')
const { basename, join, dirname } = require('node:path')
const { constants } = require('node:os')
const name = basename(__filename, '.js')
const failed = name === 'hookgate' || process.argv.some(a => a.startsWith('--dialect')) ? 2 : 3
const platform = '@hookc/' + process.platform + '-' + process.arch
let program
try {
  program = join(dirname(require.resolve(platform + '/package.json')), process.platform === 'win32' ? name + '.exe' : name)
} catch {
  console.error('hookc: the package ' + platform + ' is not installed: npm must install optional dependencies, and hookc must be built for this platform')
  process.exit(failed)
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true })
if (ended.error) {
  console.error('hookc: ' + program + ' cannot be started: ' + ended.error.message)
  process.exit(failed)
}
process.exit(!ended.signal ? ended.status : failed === 2 ? 2 : 128 + constants.signals[ended.signal])
`

// npm lays out the packages: one for each platform with its programs, and hookc,
// which depends on all of them and starts the one that npm installed.
func npm(dist, dir string) error {
	var meta struct{ Version string }
	var made []artifact
	if err := errors.Join(readJSON(filepath.Join(dist, "metadata.json"), &meta), readJSON(filepath.Join(dist, "artifacts.json"), &made)); err != nil {
		return err
	}
	base := object{"version": meta.Version, "license": "Apache-2.0", "homepage": "https://github.com/hookc/hookc",
		"repository": object{"type": "git", "url": "git+https://github.com/hookc/hookc.git"}}
	optional := object{}
	for _, a := range made {
		if a.Type != "Binary" {
			continue
		}
		system := map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}[a.OS]
		arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[a.Arch]
		if system == "" || arch == "" {
			return fmt.Errorf("npm has no word for %s/%s", a.OS, a.Arch)
		}
		platform := system + "-" + arch
		data, err := os.ReadFile(a.Path)
		if err == nil {
			err = put(filepath.Join(dir, platform, filepath.Base(a.Path)), data, 0o755)
		}
		if err != nil {
			return err
		}
		optional["@hookc/"+platform] = meta.Version
		err = manifest(filepath.Join(dir, platform), base, object{"name": "@hookc/" + platform, "os": []string{system}, "cpu": []string{arch},
			"description": "hookc for " + a.OS + " on " + a.Arch + ": install the package hookc"})
		if err != nil {
			return err
		}
	}
	if len(optional) == 0 {
		return fmt.Errorf("%s names no program", dist)
	}
	readme := "# hookc\n\nA policy engine for the hooks of AI agents: `npx hookc init`. The documentation is at https://github.com/hookc/hookc.\n"
	return errors.Join(
		put(filepath.Join(dir, "hookc", "bin", "hookc.js"), []byte(start), 0o755),
		put(filepath.Join(dir, "hookc", "bin", "hookgate.js"), []byte(start), 0o755),
		put(filepath.Join(dir, "hookc", "README.md"), []byte(readme), 0o644),
		manifest(filepath.Join(dir, "hookc"), base, object{"name": "hookc", "description": "A policy engine for the hooks of AI agents",
			"bin": object{"hookc": "bin/hookc.js", "hookgate": "bin/hookgate.js"}, "optionalDependencies": optional, "engines": object{"node": ">=18"}}))
}

func manifest(dir string, base, more object) error {
	for k, v := range base {
		more[k] = v
	}
	text, err := json.MarshalIndent(more, "", "  ")
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	return errors.Join(put(filepath.Join(dir, "package.json"), append(text, '\n'), 0o644), put(filepath.Join(dir, "LICENSE"), license, 0o644))
}

func put(path string, data []byte, mode os.FileMode) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, mode))
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(path), err)
	}
	return nil
}
