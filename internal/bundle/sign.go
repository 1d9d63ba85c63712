package bundle

import (
	"encoding/json"
	"maps"
	"os"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/hookc/hookc/internal/lists"
)

// Key is a key on the command line, in the words of opa sign and opa build.
type Key struct{ File, ID, Algorithm, Scope string }

// Sign signs a bundle again; opa verifies it too.
func Sign(b *opa.Bundle, k Key) error {
	if _, err := os.Stat(k.File); err != nil {
		return bad(k.File, "name the file of a private key in PEM, or of a secret", "the key cannot be read: %v", err)
	}
	c := opa.NewSigningConfig(k.File, k.Algorithm, "")
	c.Plugin = ""
	if k.Scope != "" {
		claims, err := os.CreateTemp("", "hookc-claims-*")
		if err != nil {
			return err
		}
		defer os.Remove(claims.Name())
		err = json.NewEncoder(claims).Encode(map[string]string{"scope": k.Scope, "keyid": k.ID})
		if closed := claims.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		c.ClaimsPath = claims.Name()
	}
	sortModules(b)
	b.Signatures = opa.SignaturesConfig{}
	if err := b.GenerateSignature(c, k.ID, true); err != nil {
		return bad(k.File, "ES256 and RS256 take a private key in PEM, HS256 a secret", "the key cannot sign by %s: %v", c.Algorithm, err)
	}
	return nil
}

// Verification is what a bundle is verified by.
func (k Key) Verification() (*opa.VerificationConfig, error) {
	text, err := os.ReadFile(k.File)
	if err != nil {
		return nil, bad(k.File, "name the file of a public key in PEM, or of a secret", "the key cannot be read: %v", err)
	}
	id, algorithm := lists.First(k.ID, "default"), lists.First(k.Algorithm, "RS256")
	return opa.NewVerificationConfig(map[string]*opa.KeyConfig{id: {Key: string(text), Algorithm: algorithm, Scope: k.Scope}}, id, k.Scope, nil), nil
}

// About is what hookc writes into the manifest of a bundle: metadata.hookc.
type About struct {
	// Plan is the hash of the compiled policy, and Hookc what compiled it: another
	// machine compiles it again, and says where it has another plan.
	Plan  string `json:"plan"`
	Hookc string `json:"hookc"`
	// Serial grows from revision to revision; 0 is none.
	Serial int64 `json:"serial,omitempty"`
}

// Describe fills in the manifest of a bundle that was made of a folder. No roots are
// those of all it holds.
func Describe(b *opa.Bundle, revision string, roots []string, about About) error {
	files, err := Files(revision, b)
	if err != nil {
		return err
	}
	if revision == "" {
		revision = Digest(files)[:12]
	}
	if len(roots) == 0 {
		roots = slices.Collect(maps.Keys(b.Data))
		for _, m := range b.Modules {
			if at := m.Parsed.Package.Path; len(at) > 1 {
				roots = append(roots, string(at[1].Value.(ast.String)))
			}
		}
	}
	roots = lists.Distinct(roots)
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	var own map[string]any
	if err := util.UnmarshalJSON(text, &own); err != nil {
		return err
	}
	b.Manifest.Revision, b.Manifest.Roots, b.Manifest.Metadata = revision, &roots, map[string]any{root: own}
	return nil
}

// Of is what the manifest of a bundle says, nothing for one that hookc did not build.
func Of(b *opa.Bundle) (about About) {
	text, err := json.Marshal(b.Manifest.Metadata[root])
	if err != nil || json.Unmarshal(text, &about) != nil {
		return About{}
	}
	return about
}
