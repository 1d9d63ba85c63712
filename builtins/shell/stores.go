package shell

// The stores of secrets that people keep on their machines.

func fillStores() {
	rulesFor(shTool{}, []shRule{
		{"security", "find-generic-password|find-internet-password", "-w -g", "", EffectRead, DomainCloud, "read-secret"},
		{"security", "export|dump-keychain", "", "", EffectRead, DomainCloud, "read-secret"},
		{"pass gopass", "show", "", "", EffectRead, DomainCloud, "read-secret"},
		{"bw", "get password|item|totp", "", "", EffectRead, DomainCloud, "read-secret"},
		{"lpass", "show", "", "", EffectRead, DomainCloud, "read-secret"},
		{"secret-tool", "lookup", "", "", EffectRead, DomainCloud, "read-secret"},
		{"aws", "configure export-credentials", "", "", EffectRead, DomainCloud, "read-secret"},
	})
}
