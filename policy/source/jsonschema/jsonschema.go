// Package jsonschema writes the schema of hooks.yaml as a JSON Schema, for editors.
package jsonschema

import (
	"encoding/json"

	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// object is one JSON Schema.
type object = map[string]any

// Make is the schema of hooks.yaml as a JSON Schema (draft 2020-12), for
// editors: indented, keys sorted, the same bytes every time. It accepts all
// that the reader accepts but what needs several keys at once to judge.
func Make() []byte {
	defs := object{}
	for _, p := range source.Places() {
		if p != source.InFile {
			defs[string(p)] = placeSchema(p)
		}
	}
	defs["duration"] = object{
		"description": "seconds, or a text such as 500ms, 2m or 1h30m",
		"anyOf": []any{
			object{"type": "number", "exclusiveMinimum": 0, "maximum": source.MaxDuration.Seconds()},
			object{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`},
		},
	}
	defs["hooks"] = object{"type": "array", "items": object{
		"if":   object{"required": []string{"parallel"}},
		"then": object{"$ref": "#/$defs/group"},
		"else": object{"$ref": "#/$defs/hook"},
	}}
	root := placeSchema(source.InFile)
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
func placeSchema(p source.Place) object {
	properties := object{}
	var required []string
	for _, k := range source.Schema() {
		if k.Place != p {
			continue
		}
		properties[k.Name] = keySchema(&k)
		if k.Name == "parallel" {
			required = []string{k.Name}
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	if p == source.InHook {
		// A builtin has options of its own.
		delete(out, "additionalProperties")
		out["if"] = object{"anyOf": []any{object{"required": []string{"use"}}, object{"required": []string{"type"}, "properties": object{"type": object{"const": "builtin"}}}}}
		out["else"] = object{"propertyNames": object{"enum": hookKeys()}}
	}
	return out
}

// schema is the schema of a key's value.
func keySchema(k *source.Key) object {
	out := valueSchema(k)
	out["description"] = k.Note
	if k.Default != "" {
		out["description"] = k.Note + " (default: " + k.Default + ")"
	}
	return out
}

func valueSchema(k *source.Key) object {
	texts := object{"type": "array", "items": object{"type": "string", "pattern": `\S`}}
	switch k.Type {
	case source.TypeText:
		return object{"type": "string", "pattern": `\S`}
	case source.TypeTexts:
		return object{"anyOf": []any{texts, object{"type": "string", "pattern": `\S`}}}
	case source.TypeDocuments:
		one := object{"anyOf": []any{object{"type": "string", "pattern": `\S`}, object{"$ref": "#/$defs/document"}}}
		return object{"anyOf": []any{object{"type": "array", "items": one}, object{"type": "string", "pattern": `\S`}}}
	case source.TypeWord:
		return wordSchema(k)
	case source.TypeExpr:
		return object{"type": []string{"string", "boolean", "number"}}
	case source.TypeBool:
		return object{"type": "boolean"}
	case source.TypeInt:
		return object{"type": "integer"}
	case source.TypeCount:
		return object{"type": "integer", "minimum": 0}
	case source.TypeAtLeast1:
		return object{"type": "integer", "minimum": 1}
	case source.TypeDuration:
		if k.Place == source.InApproval && k.Name == "wait" {
			return object{"anyOf": []any{object{"const": 0}, object{"$ref": "#/$defs/duration"}}}
		}
		return object{"$ref": "#/$defs/duration"}
	case source.TypePostures:
		word := wordSchema(k)
		kinds := object{}
		for _, kind := range append(policy.KindNames(), source.KindAlias) {
			kinds[kind] = word
		}
		return object{"anyOf": []any{word, object{"type": "object", "properties": kinds, "additionalProperties": false}}}
	case source.TypeSeverities:
		return severitiesSchema(k)
	case source.TypeShare:
		return object{"type": "string", "pattern": source.SharePattern}
	case source.TypeRollouts:
		tiers := object{}
		for _, tier := range source.RolloutTiers {
			tiers[tier] = object{"anyOf": []any{object{"enum": k.Words}, object{"type": "string", "pattern": source.SharePattern}}}
		}
		return object{"type": "object", "properties": tiers, "additionalProperties": false}
	case source.TypeEnv:
		return object{"type": "object", "additionalProperties": object{"type": []string{"string", "boolean", "number"}}}
	case source.TypeExprs:
		return object{"type": "object", "additionalProperties": object{"type": []string{"string", "boolean", "number"}}}
	case source.TypeList:
		return listSchema(k)
	case source.TypeMap:
		return mapSchema(k)
	}
	panic("source: no schema for type " + string(k.Type))
}

// wordSchema offers the words; other spellings that the reader takes are
// accepted without being offered.
//
//go:noinline
func wordSchema(k *source.Key) object {
	if k.Place == source.InFile && k.Name == "version" {
		return object{"enum": []any{1, "1"}}
	}
	words := object{"enum": k.Words}
	if k.Also == "" {
		return words
	}
	return object{"anyOf": []any{words, object{"type": "string", "pattern": k.Also}}}
}

func listSchema(k *source.Key) object {
	items := "#/$defs/rule"
	switch k.Name {
	case "hooks":
		return object{"anyOf": []any{object{"$ref": "#/$defs/hooks"}, object{"type": "null"}}}
	case "parallel":
		items = "#/$defs/hook"
	case "require":
		items = "#/$defs/require"
	}
	return object{"type": "array", "minItems": 1, "items": object{"$ref": items}}
}

func mapSchema(k *source.Key) object {
	ref := object{"$ref": "#/$defs/" + k.Name}
	if k.Name == "facts" {
		word := wordSchema(source.FindKey(source.InFact, "type"))
		ref = object{"type": "object", "additionalProperties": object{"anyOf": []any{word, object{"$ref": "#/$defs/fact"}}}}
	}
	if k.Name == "groups" {
		people := object{"type": "array", "minItems": 1, "items": object{"type": "string", "minLength": 1}}
		return object{"type": "object", "additionalProperties": people}
	}
	if k.Place == source.InFile {
		return object{"anyOf": []any{ref, object{"type": "null"}}}
	}
	return ref
}

// severitiesSchema names every code with what it may become.
func severitiesSchema(k *source.Key) object {
	codes := object{}
	for _, c := range diag.Codes() {
		words := append(k.Words, "hint")
		if severity.Firm(c) {
			words = k.Words[:c.Severity+1]
		}
		codes[c.ID] = object{"enum": words, "description": c.Title}
	}
	return object{"type": "object", "properties": codes, "additionalProperties": false}
}

// hookKeys are the names of the keys of hooks.
func hookKeys() (out []string) {
	for _, k := range source.Schema() {
		if k.Place == source.InHook {
			out = append(out, k.Name)
		}
	}
	return out
}
