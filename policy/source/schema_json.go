package source

import (
	"encoding/json"

	"github.com/hookc/hookc/policy"
)

// object is one JSON Schema.
type object = map[string]any

// JSONSchema is the schema of hooks.yaml as a JSON Schema (draft 2020-12), for
// editors: indented, keys sorted, the same bytes every time. It accepts all
// that the reader accepts but what needs several keys at once to judge.
func JSONSchema() []byte {
	defs := object{}
	for _, p := range Places() {
		if p != InFile {
			defs[string(p)] = placeSchema(p)
		}
	}
	defs["duration"] = object{
		"description": "seconds, or a text such as 500ms, 2m or 1h30m",
		"anyOf": []any{
			object{"type": "number", "exclusiveMinimum": 0, "maximum": MaxDuration.Seconds()},
			object{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`},
		},
	}
	defs["hooks"] = object{"type": "array", "items": object{
		"if":   object{"required": []string{"parallel"}},
		"then": object{"$ref": "#/$defs/group"},
		"else": object{"$ref": "#/$defs/hook"},
	}}
	root := placeSchema(InFile)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "hooks.yaml"
	root["$defs"] = defs
	events := root["properties"].(object)
	list := object{"anyOf": []any{object{"$ref": "#/$defs/hooks"}, object{"type": "null"}, object{"$ref": "#/$defs/event"}}}
	for _, name := range policy.EventNames() {
		events[name] = list
	}
	root["patternProperties"] = object{`^ext\..`: list}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("source: the schema does not marshal: " + err.Error())
	}
	return append(out, '\n')
}

// placeSchema is the schema of the map of one place.
func placeSchema(p Place) object {
	properties := object{}
	var required []string
	for _, k := range schema() {
		if k.Place != p {
			continue
		}
		properties[k.Name] = k.schema()
		if k.Name == "parallel" {
			required = []string{k.Name}
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	if p == InHook {
		// A builtin has options of its own.
		delete(out, "additionalProperties")
		out["if"] = object{"anyOf": []any{object{"required": []string{"use"}}, object{"required": []string{"type"}, "properties": object{"type": object{"const": "builtin"}}}}}
		out["else"] = object{"propertyNames": object{"enum": keyNames(InHook, "")}}
	}
	return out
}

// schema is the schema of a key's value.
func (k *Key) schema() object {
	out := k.valueSchema()
	out["description"] = k.Note
	if k.Default != "" {
		out["description"] = k.Note + " (default: " + k.Default + ")"
	}
	return out
}

func (k *Key) valueSchema() object {
	texts := object{"type": "array", "items": object{"type": "string", "pattern": `\S`}}
	switch k.Type {
	case TypeText:
		return object{"type": "string", "pattern": `\S`}
	case TypeTexts:
		return object{"anyOf": []any{texts, object{"type": "string", "pattern": `\S`}}}
	case TypeDocuments:
		one := object{"anyOf": []any{object{"type": "string", "pattern": `\S`}, object{"$ref": "#/$defs/document"}}}
		return object{"anyOf": []any{object{"type": "array", "items": one}, object{"type": "string", "pattern": `\S`}}}
	case TypeWord:
		return k.wordSchema()
	case TypeExpr:
		return object{"type": []string{"string", "boolean", "number"}}
	case TypeBool:
		return object{"type": "boolean"}
	case TypeInt:
		return object{"type": "integer"}
	case TypeCount:
		return object{"type": "integer", "minimum": 0}
	case TypeAtLeast1:
		return object{"type": "integer", "minimum": 1}
	case TypeDuration:
		return object{"$ref": "#/$defs/duration"}
	case TypePostures:
		word := k.wordSchema()
		kinds := object{}
		for _, kind := range append(policy.KindNames(), kindAlias) {
			kinds[kind] = word
		}
		return object{"anyOf": []any{word, object{"type": "object", "properties": kinds, "additionalProperties": false}}}
	case TypeSeverities:
		return k.severitiesSchema()
	case TypeEnv:
		return object{"type": "object", "additionalProperties": object{"type": []string{"string", "boolean", "number"}}}
	case TypeExprs:
		return object{"type": "object", "additionalProperties": object{"type": []string{"string", "boolean", "number"}}}
	case TypeList:
		return k.listSchema()
	case TypeMap:
		return k.mapSchema()
	}
	panic("source: no schema for type " + string(k.Type))
}

// wordSchema offers the words; other spellings that the reader takes are
// accepted without being offered.
func (k *Key) wordSchema() object {
	if k.Place == InFile && k.Name == "version" {
		return object{"enum": []any{1, "1"}}
	}
	words := object{"enum": k.Words}
	if k.Also == "" {
		return words
	}
	return object{"anyOf": []any{words, object{"type": "string", "pattern": k.Also}}}
}

func (k *Key) listSchema() object {
	items := "#/$defs/rule"
	switch k.Name {
	case "hooks":
		return object{"anyOf": []any{object{"$ref": "#/$defs/hooks"}, object{"type": "null"}}}
	case "parallel":
		items = "#/$defs/hook"
	}
	return object{"type": "array", "minItems": 1, "items": object{"$ref": items}}
}

func (k *Key) mapSchema() object {
	ref := object{"$ref": "#/$defs/" + k.Name}
	if k.Name == "facts" {
		word := FindKey(InFact, "type").wordSchema()
		ref = object{"type": "object", "additionalProperties": object{"anyOf": []any{word, object{"$ref": "#/$defs/fact"}}}}
	}
	if k.Place == InFile {
		return object{"anyOf": []any{ref, object{"type": "null"}}}
	}
	return ref
}
