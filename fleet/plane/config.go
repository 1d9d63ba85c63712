package plane

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy/diag"
	"gopkg.in/yaml.v3"
)

// keys are those of OPA's configuration that mean something here.
var keys = []string{"services", "labels", "discovery", "bundles", "decision_logs", "status", "plugins", "keys", "persistence_directory", "caching", "default_decision"}

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// configured reads a configuration: ${NAME} is a variable of the environment, as in OPA's.
// What would be passed over in silence is an error with its place.
func (p *Plane) configured(text []byte) ([]byte, map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("the configuration is no YAML: %w", err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil, fmt.Errorf("1:1: the configuration must be a mapping with keys such as services and bundles")
	}
	top := doc.Content[0].Content
	for i := 0; i < len(top); i += 2 {
		switch key := top[i]; {
		case key.Value == "bundle":
			return nil, nil, fmt.Errorf("%d:%d: bundle is what bundles was called once: write bundles", key.Line, key.Column)
		case !slices.Contains(keys, key.Value):
			return nil, nil, fmt.Errorf("%d:%d: unknown key %q: %s", key.Line, key.Column, key.Value, diag.DidYouMean(key.Value, keys, "there are "+strings.Join(keys, ", ")))
		}
	}
	var unset error
	expand(&doc, &unset)
	if unset != nil {
		return nil, nil, unset
	}
	var out map[string]any
	if err := doc.Decode(&out); err != nil {
		return nil, nil, err
	}
	own, _ := out["plugins"].(map[string]any)
	if own == nil {
		own = map[string]any{}
		out["plugins"] = own
	}
	if own[Name] == nil {
		own[Name] = map[string]any{}
	}
	// What this file says counts above what is discovered, this too where it is the default.
	settings, ok := own[Name].(map[string]any)
	if ok && settings["require_signature"] == nil {
		settings["require_signature"] = true
	}
	if found, _ := out["discovery"].(map[string]any); found != nil && found["signing"] == nil && settings["require_signature"] == true {
		return nil, nil, fmt.Errorf("%s: discovery needs signing: whoever answers for its server would say which keys are right (plugins.hookc.require_signature: false takes it unsigned)", placeOf(top, "discovery"))
	}
	text, err := json.Marshal(out)
	return text, out, err
}

// placeOf is where a key stands.
func placeOf(top []*yaml.Node, key string) string {
	for i := 0; i < len(top); i += 2 {
		if top[i].Value == key {
			return fmt.Sprintf("%d:%d", top[i].Line, top[i].Column)
		}
	}
	return "1:1"
}

// expand puts the values of variables into texts.
func expand(n *yaml.Node, unset *error) {
	if n.Kind == yaml.ScalarNode {
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(ref string) string {
			value, ok := os.LookupEnv(ref[2 : len(ref)-1])
			if !ok && *unset == nil {
				*unset = fmt.Errorf("%d:%d: the variable in %s is not set", n.Line, n.Column, ref)
			}
			return value
		})
	}
	for _, below := range n.Content {
		expand(below, unset)
	}
}
