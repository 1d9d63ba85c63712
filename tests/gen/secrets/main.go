// Command secrets writes builtins/secret/rules.json, the rules of secret.find, and
// rules.json.gz, which is compiled in,
// from the rule set of gitleaks (MIT license), whose version it names, and the rules
// of its own below. The rules
// come as data: its package config would bring a framework of configuration and
// four megabytes with it (docs/guards.md). Run it from the top of the module:
//
//	go run ./tests/gen/secrets
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const source = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// left are rules that are not taken: what they find is no secret on its own, so
// that ordinary work would be stopped.
var left = map[string]string{
	"generic-api-key":          "any long word beside the word key",
	"kubernetes-secret-yaml":   "a template as well as a secret",
	"sourcegraph-access-token": "any word of forty hexadecimal digits, such as a commit",
	"curl-auth-user":           "a name and password of a test server",
}

// own are rules of the project: tokens of which the prefix says everything, in the lengths that
// their makers give them.
var own = []rule{
	{"token-by-prefix", `\b(?:sk-(?:proj|svcacct|admin)-[A-Za-z0-9]{40,}|sk-or-v1-[a-f0-9]{64}|xai-[A-Za-z0-9]{70,}|gsk_[A-Za-z0-9]{48,}|r8_[A-Za-z0-9]{37,40}|sbp_[a-f0-9]{40}|` +
		`ntn_[A-Za-z0-9]{40,50}|figd_[\w-]{40,}|tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}|dckr_pat_[\w-]{27}|GOCSPX-[\w-]{28}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}|` +
		`e2b_[a-f0-9]{40}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|phx_[A-Za-z0-9]{40,})`, 3, 0,
		strings.Fields("sk-proj- sk-svcacct- sk-admin- sk-or-v1- xai- gsk_ r8_ sbp_ ntn_ figd_ tskey- dckr_pat_ gocspx- tvly- e2b_ lsv2_ phx_"), nil},
	{"discord-webhook", `discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{17,20}/([\w-]{60,})`, 3, 0, []string{"/webhooks/"}, nil},
	{"telegram-bot-address", `api\.telegram\.org/(?:file/)?bot(\d{5,16}:A[\w-]{33,35})\b`, 3, 0, []string{"api.telegram.org"}, nil},
}

// ruleSet is the part of gitleaks.toml that is read.
type ruleSet struct {
	Allowlist struct {
		Regexes   []string
		Stopwords []string
	}
	Rules []struct {
		ID          string
		Regex       string
		Path        string
		Entropy     float64
		SecretGroup int
		Keywords    []string
		Allowlists  []struct {
			Regexes     []string
			Stopwords   []string
			RegexTarget string
			Condition   string
			Paths       []string
		}
	}
}

// out is the file's form; builtins/secret/rules.go reads it.
type out struct {
	Source string   `json:"source"`
	Allow  []string `json:"allow"`
	Rules  []rule   `json:"rules"`
}

type rule struct {
	ID       string   `json:"id"`
	Regex    string   `json:"regex"`
	Entropy  float64  `json:"entropy,omitempty"`
	Group    int      `json:"group,omitempty"`
	Keywords []string `json:"keywords"`
	Allow    []string `json:"allow,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := download()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "config", "gitleaks.toml"))
	if err != nil {
		return err
	}
	var set ruleSet
	if err := toml.Unmarshal(text, &set); err != nil {
		return err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(convert(&set)); err != nil {
		return err
	}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(buf.Bytes())
	path := filepath.Join("builtins", "secret", "rules.json")
	return errors.Join(err, z.Close(), os.WriteFile(path, buf.Bytes(), 0o644), os.WriteFile(path+".gz", zipped.Bytes(), 0o644))
}

func download() (string, error) {
	data, err := exec.Command("go", "mod", "download", "-json", source).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", source, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(data, &module); err != nil {
		return "", fmt.Errorf("%s: %w", source, err)
	}
	return module.Dir, nil
}

func convert(set *ruleSet) out {
	o := out{Source: source, Allow: set.Allowlist.Regexes}
	for _, r := range set.Rules {
		if left[r.ID] != "" || r.Regex == "" || r.Path != "" || len(r.Keywords) == 0 {
			continue
		}
		to := rule{ID: r.ID, Regex: r.Regex, Entropy: r.Entropy, Group: r.SecretGroup, Keywords: r.Keywords}
		for _, a := range r.Allowlists {
			if a.RegexTarget == "" && a.Condition == "" && len(a.Paths) == 0 {
				to.Allow = append(to.Allow, a.Regexes...)
			}
			for _, w := range a.Stopwords {
				to.Allow = append(to.Allow, "(?i)"+regexp.QuoteMeta(w))
			}
		}
		o.Rules = append(o.Rules, to)
	}
	o.Rules = append(o.Rules, own...)
	return o
}
