package jsonschema

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

func TestJSONSchema(t *testing.T) {
	assert.Equal(t, string(Make()), string(Make()))
	var root struct {
		Schema     string `json:"$schema"`
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Make(), &root))
	assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", root.Schema)
	want := map[source.Place][]string{source.InFile: policy.EventNames()}
	for _, k := range source.Schema() {
		of := root.Defs[string(k.Place)].Properties
		if k.Place == source.InFile {
			of = root.Properties
		}
		if assert.Contains(t, of, k.Name) {
			assert.Contains(t, of[k.Name].Description, k.Note)
		}
		want[k.Place] = append(want[k.Place], k.Name)
	}
	assert.ElementsMatch(t, want[source.InFile], slices.Collect(maps.Keys(root.Properties)))
}
