//go:build !windows

package source

func defaultManagedDir() string { return "/etc/hookc" }
