// Package fleet is what many machines need of hookc: policy that comes as signed
// bundles, a policy server, and telemetry. It is a module of its own, because its
// dependencies would double hookc; hookcd is its program.
package fleet
