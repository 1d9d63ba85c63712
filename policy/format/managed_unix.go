//go:build !windows

package format

func defaultManagedDir() string { return "/etc/hookc" }
