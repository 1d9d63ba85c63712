package winshell

import (
	"slices"
	"strings"
)

// switches are the words of a program of Windows: those that begin with a slash,
// in lower case and up to a colon, and the others.
func switches(words []word) (on map[string]string, rest []word) {
	on = map[string]string{}
	for _, w := range words {
		s := strings.ToLower(strings.Replace(w.lit, "//", "/", 1))
		if w.known && len(s) > 1 && (s[0] == '/' || s[0] == '-') && strings.Count(s, "/") < 2 {
			name, value, _ := strings.Cut(s[1:], ":")
			on[name] = value
			continue
		}
		rest = append(rest, w)
	}
	return on, rest
}

func has(on map[string]string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := on[n]; return ok })
}

// registryKey is a key as a path: HKLM\Software as HKLM:/Software.
func registryKey(w word) word {
	hive, rest, _ := strings.Cut(w.lit, "/")
	for short, long := range map[string]string{"HKLM": "HKEY_LOCAL_MACHINE", "HKCU": "HKEY_CURRENT_USER", "HKCR": "HKEY_CLASSES_ROOT", "HKU": "HKEY_USERS"} {
		if strings.EqualFold(hive, short) || strings.EqualFold(hive, long) {
			return literal(short + ":/" + rest)
		}
	}
	return word{code: "HKLM:/" + w.code}
}

// native is a program of Windows as programs that do the same to what lies at
// the same kind of place; false for one that is not listed.
func native(name string, words []word) (string, bool) {
	on, rest := switches(words)
	if has(on, "?", "help") {
		return ":", true
	}
	verb := ""
	if len(rest) > 0 {
		verb = strings.ToLower(rest[0].lit)
	}
	at := func(i int) word {
		if i < len(rest) {
			return rest[i]
		}
		return literal("")
	}
	second := strings.ToLower(at(1).lit)
	all := strings.ToLower(text(words))
	switch name {
	case "format":
		if len(verb) != 2 || verb[1] != ':' {
			return "", false
		}
		return "mkfs /dev/" + verb[:1], true
	case "diskpart":
		return "wipefs -a /dev/disk", true
	case "reg":
		switch verb {
		case "delete", "unload":
			return "rm -rf -- " + registryKey(at(1)).code, true
		case "add", "copy", "restore", "load":
			return "tee -- " + registryKey(at(1)).code, true
		case "import":
			return "tee HKLM:/", true
		}
		return ":", true
	case "regedit":
		return "tee HKLM:/", len(on) > 0 || len(rest) > 0
	case "sc", "net", "net1":
		return serviceOrAccount(name, verb, second, on, rest), true
	case "schtasks":
		return pick(has(on, "delete"), "crontab -r", pick(has(on, "create", "change"), "crontab task", ":")), true
	case "vssadmin", "wbadmin", "diskshadow":
		return pick(strings.Contains(all, "delete") || verb == "resize", "lvremove -f /dev/shadows", ":"), true
	case "wmic":
		switch {
		case strings.Contains(all, "shadowcopy") && strings.Contains(all, "delete"):
			return "lvremove -f /dev/shadows", true
		case strings.Contains(all, "call create"):
			return "invoke-expression " + rest[len(rest)-1].code, true
		}
		return pick(strings.Contains(all, "delete") || strings.Contains(all, "uninstall"), "wmic-delete", ":"), true
	case "bcdedit", "bootrec", "bootsect":
		return pick(len(on) > 0 && !has(on, "enum", "v"), "efibootmgr -B", ":"), true
	case "wevtutil":
		return pick(verb == "cl" || verb == "clear-log", "rm -rf /var/log/"+at(1).code, ":"), true
	case "netsh":
		off := strings.Contains(all, "state off") || strings.Contains(all, "firewall reset") || strings.Contains(all, "delete rule") || strings.Contains(all, "opmode") && strings.Contains(all, "disable") ||
			strings.Contains(all, "winsock reset") || strings.Contains(all, "int ip reset") || strings.Contains(all, "disable")
		return pick(off, "ufw reset", ":"), true
	case "cipher":
		return pick(has(on, "w"), "shred /dev/disk", ":"), true
	case "takeown":
		return "chown " + pick(has(on, "r"), "-R ", "") + "me -- " + codes(rest), true
	case "icacls", "cacls", "xcacls":
		if !has(on, "grant", "grant:r", "reset", "deny", "setowner", "remove", "g", "inheritance") {
			return ":", true
		}
		return "chmod " + pick(has(on, "t", "c"), "-R ", "") + "a+w -- " + at(0).code, true
	case "taskkill":
		return pick(strings.Contains(all, "*"), "kill -9 -1", "pkill "+codes(rest)), true
	case "shutdown", "logoff":
		return pick(has(on, "a"), ":", "poweroff"), true
	case "certutil":
		switch {
		case has(on, "urlcache") && len(rest) > 1:
			return "curl -o " + rest[1].code + " " + rest[0].code, true
		case has(on, "decode") && len(rest) > 1:
			return "base64 -d " + rest[0].code + " | tee -- " + rest[1].code, true
		}
		return ":", true
	case "bitsadmin":
		return "curl -o " + at(len(rest)-1).code + " " + at(len(rest)-2).code, len(rest) > 1
	case "mshta", "regsvr32", "rundll32", "wscript", "cscript", "msiexec", "installutil":
		for _, w := range words {
			if i := strings.Index(strings.ToLower(w.lit), "http"); i >= 0 {
				return "curl " + quote(w.lit[i:]) + " | bash", true
			}
			if strings.Contains(strings.ToLower(w.lit), "script:") {
				return "invoke-expression " + w.code, true
			}
		}
		return pick(has(on, "x"), "msi-remove", ":"), true
	case "robocopy":
		copies := codes(rest[:min(2, len(rest))])
		return pick(has(on, "mir", "purge"), "rsync -a --delete ", pick(has(on, "mov", "move"), "mv ", "cp -r ")) + copies, !has(on, "l")
	case "xcopy":
		return "cp -r -- " + codes(rest), true
	case "mklink":
		return "ln -s -- " + at(1).code + " " + at(0).code, true
	case "attrib":
		return "chmod u+w -- " + codes(slices.DeleteFunc(rest, func(w word) bool { return strings.HasPrefix(w.lit, "+") || strings.HasPrefix(w.lit, "-") })), true
	case "fsutil":
		return pick(strings.Contains(all, "delete") || strings.Contains(all, "setzerodata") || verb == "dirty", "wipefs -a /dev/disk", ":"), true
	case "dism", "chkdsk", "sfc", "defrag", "where", "tasklist", "systeminfo", "ipconfig", "ver", "vol", "tree", "fc", "title", "color", "cls", "pause", "setlocal", "endlocal":
		return pick(has(on, "remove-package", "disable-feature"), "feature-remove --force", ":"), true
	case "setx":
		return pick(has(on, "m"), "tee 'HKLM:/Environment'", ":"), true
	case "wsl":
		return linux(words), true
	case "powershell", "pwsh", "cmd":
		for _, w := range words {
			if w.isBlock {
				return group(w.block), true
			}
		}
		return quote(name) + " " + codes(words), true
	}
	return "", false
}

func pick(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

func serviceOrAccount(name, verb, second string, on map[string]string, rest []word) string {
	target := ":"
	if len(rest) > 1 {
		target = rest[1].code
	}
	switch {
	case name == "sc" && verb == "delete":
		return "rm -rf HKLM:/Services/" + target
	case name == "sc" && verb == "config" && strings.Contains(strings.ToLower(text(rest)), "disabled"), verb == "stop":
		return "systemctl stop " + target
	case name == "sc" && verb == "create":
		return "tee HKLM:/Services/" + target
	case verb == "user" && has(on, "delete"):
		return "userdel " + target
	case verb == "user" && (has(on, "add", "active") || len(rest) > 2):
		return "useradd -G x " + target
	case verb == "localgroup" && has(on, "add", "delete"):
		return "usermod -aG " + pick(strings.HasPrefix(second, "admin"), "sudo", "x") + " user"
	case verb == "share" && has(on, "delete"), verb == "accounts":
		return "userdel share"
	}
	return ":"
}

// linux is what wsl runs.
func linux(words []word) string {
	for i := 0; i < len(words); i++ {
		switch w := strings.ToLower(words[i].lit); {
		case w == "--unregister":
			return "rm -rf C:/Users/wsl/distribution"
		case w == "--shutdown" || w == "--terminate" || w == "-t" || w == "--list" || w == "-l" || w == "--status" || w == "--install" || w == "--update":
			return ":"
		case w == "-d" || w == "-u" || w == "--distribution" || w == "--user" || w == "--cd":
			i++
		case w == "-e" || w == "--exec" || w == "--":
			return codes(words[i+1:])
		default:
			return codes(words[i:])
		}
	}
	return ":"
}
