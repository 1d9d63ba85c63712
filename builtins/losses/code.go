package losses

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
)

// AppleLosses are the words with which a script of macOS destroys.
var AppleLosses = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`\bdelete (every|item|folder|file|disk|home|alias|\()|\bempty\b.*\btrash\b|\b(shut down|restart|log out)\b|\berase\b|\bmake (?:new )?login item\b`)
})

// CodeRuns are the words with which code of any language starts programs, CodeDeletes those with
// which it deletes.
var (
	CodeRuns = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)system|exec|shell|spawn|popen|cmd|command|process|\brun|\bsh\b`)
	})
	CodeDeletes = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(rm|rmtree|rmdir|unlink|remove\w*|delete\w*|rm_rf|file:del\w*)\b`)
	})
)

// PerlGlob is a list of names as Perl writes one: </srv/*>.
var PerlGlob = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`<(/[^<>\s"]*)>`) })

// HandsOverShell reports whether a program connects a shell to a socket: it
// has one, and makes it the input of what it starts.
func HandsOverShell(text string) bool {
	return (strings.Contains(strings.ToLower(text), "socket") || strings.Contains(text, "net.")) && slices.ContainsFunc(
		[]string{"dup2(", "pty.spawn(", "/bin/sh", "/bin/bash", `STDIN,">&`}, func(mark string) bool { return strings.Contains(text, mark) })
}

// ImageProgram is the program that an image is named after: hashicorp/terraform:1.9.
func ImageProgram(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimSuffix(name, "-cli")
}

// MountFields are where a mount of a container comes from and where it is seen.
func MountFields(text string) (from, to string) {
	for field := range strings.SplitSeq(text, ",") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "source", "src":
			from = value
		case "target", "dst", "destination":
			to = value
		}
	}
	return from, to
}

// KubeLosses are the kinds whose loss takes much with it, in the singular.
var KubeLosses = map[string]string{
	"n": "delete-namespace", "namespace": "delete-namespace", "pvc": "delete-volume", "pv": "delete-volume", "persistentvolume": "delete-volume", "persistentvolumeclaim": "delete-volume",
	"crd": "delete-crd", "customresourcedefinition": "delete-crd", "node": "delete-node", "no": "delete-node", "all": "delete-all",
}

// EditorScripts put what scripts of editors call the way PHP has it.
var EditorScripts = strings.NewReplacer("(delete-directory ", "rmtree(", "(delete-file ", "unlink(", "(shell-command ", "system(", "(shell-command-to-string ", "system(", "(f-delete ", "rmtree(", "(call-process-shell-command ", "system(", "(start-process-shell-command ", "system(",
	"delete(", "rmtree(", "expand(", "os.path.expanduser(", "systemlist(", "system(", "vim.fn.", "", "os.execute(", "system(", ":call ", " ", "call ", " ", "silent! ", "", "silent ", "", "lua ", " ")

// showsEnvironment is code that prints all variables of the environment.
var showsEnvironment = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:print_r|var_dump|var_export|json_encode)\(\s*(?:getenv\(\)|\$_ENV|\$_SERVER)|pp?rint\w*\((?:dict\()?os\.environ\)|keys\s*%ENV|(?:each|map)\W{1,3}%ENV|\bin ENVIRON\b.*\bprint|System\.get_env\(\)|Sys\.getenv\(\)|System\.getenv\(\)|print\(ProcessInfo\.processInfo\.environment\)|pairs\(os\.environ`)
})

// ShowsEnvironment reports whether code prints all variables of the environment.
func ShowsEnvironment(code string) bool {
	return Holds(code, "env") && showsEnvironment().MatchString(code)
}
