package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
)

// explainWitnesses shows an event for each rule.
func explainWitnesses(cmd *cobra.Command, s *sources, asJSON bool) error {
	program, found, err := s.compile(cmd, nil, hookc.AsFound())
	if err != nil {
		return err
	}
	if program == nil {
		return exitError{Code: exitFindings, Text: found.Render()}
	}
	return writeWitnesses(cmd, witness.Find(cmd.Context(), program, program.Tools), asJSON)
}

// witnessReport is what was found of rules, as JSON.
type witnessReport struct {
	Rules  []witness.Rule `json:"rules"`
	Counts witness.Counts `json:"counts"`
}

// writeWitnesses shows what was found of rules.
func writeWitnesses(cmd *cobra.Command, rules []witness.Rule, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		if rules == nil {
			rules = []witness.Rule{}
		}
		return writeJSON(out, witnessReport{rules, witness.Count(rules)})
	}
	for _, r := range rules {
		fmt.Fprintf(out, "%-8s %s  %s  %s\n", r.Status, r.Hook, r.Rule, r.Place)
		if r.Witness != nil {
			text, err := policy.EncodeJSON(r.Witness)
			if err != nil {
				return cannot("%v", err)
			}
			fmt.Fprintf(out, "         %s\n", text)
		}
		if len(r.Why) > 0 {
			fmt.Fprintf(out, "         %s\n", strings.Join(r.Why, "; "))
		}
	}
	fmt.Fprintln(out, witness.Count(rules))
	return nil
}
