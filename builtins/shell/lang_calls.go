package shell

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/calls"
	"github.com/hookc/hookc/builtins/losses"
)

// langConstant is the value of a name that has one: the home, a variable of the
// environment.
func langConstant(name string) (langValue, bool) {
	for _, environment := range []string{"os.environ[", "process.env.", "process.env[", "ENV[", "$ENV[", "$_SERVER[", "$_ENV[", "Bun.env.", "import.meta.env."} {
		if variable, ok := strings.CutPrefix(name, environment); ok {
			return langVariable(strings.TrimSuffix(variable, "]")), true
		}
	}
	if environments()[name] {
		return langValue{origin: shOrigin{"environment", "env"}}, true
	}
	switch name {
	case "os.homedir", "Dir.home":
		return langValue{text: "~", known: true}, true
	case "os.sep", "path.sep":
		return langValue{text: "/", known: true}, true
	}
	return langValue{}, false
}

// environments are all variables at once.
var environments = losses.Words("os.environ os.environb process.env ENV %ENV $_ENV Deno.env Bun.env")

// langVariable is a variable of the environment.
func langVariable(name string) langValue {
	switch {
	case name == "HOME":
		return langValue{text: "~", known: true}
	case losses.SecretVariable(name):
		return langValue{origin: shOrigin{credential, "$" + name}}
	}
	return langValue{}
}

// langResult is what a call gives, for the calls that make texts.
func langResult(c langCall) langValue {
	first := c.arg(0)
	switch c.name {
	case "require", "import", "__import__", "importlib.import_module":
		return langValue{module: moduleName(first.text)}
	case "os.path.join", "path.join", "path.resolve", "File.join", "posixpath.join", "Path", "pathlib.Path", "Pathname", "pathlib.PosixPath", "Pathname.new", "path.posix.join":
		v := joinLang(c.args)
		v.path = true
		return v
	case "os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath", "path.normalize", "File.expand_path", "str", "String", "Array", "bytes", "glob.glob", "Dir.glob", "glob", "shlex.split", "File.realpath":
		if first.origin.kind != "environment" {
			first.origin = shOrigin{}
		}
		return first
	case "Path.home", "pathlib.Path.home", "os.homedir", "Dir.home":
		return langValue{text: "~", known: true, path: true}
	case "os.getenv", "os.environ.get", "getenv", "ENV.fetch", "Deno.env.get":
		return langVariable(first.text)
	case "keyring.get_password":
		return langValue{origin: shOrigin{credential, "the keyring"}}
	case "Object.keys", "os.environ.keys", "ENV.keys":
		return langValue{} // no more than names
	case "getattr":
		return langValue{module: strings.TrimPrefix(first.module+"."+c.arg(1).text, ".")}
	case "tempfile.mkdtemp", "tempfile.mktemp", "Dir.mktmpdir", "tempnam":
		return langValue{text: "/tmp/tmpXXXXXXXX", known: true, path: true}
	case "tempfile.gettempdir", "os.tmpdir", "Dir.tmpdir", "sys_get_temp_dir", "os.TempDir":
		return langValue{text: "/tmp", known: true, path: true}
	case "fs.mkdtempSync", "fs.mkdtemp", "fs.promises.mkdtemp":
		first.text += "XXXXXX"
		return first
	case "base64.b64decode", "base64_decode", "Base64.decode64", "Buffer.from", "atob", "MIME.Base64.decode_base64", "decode_base64":
		return decodeLang(first, c.arg(1))
	case "bytes.fromhex", "hex2bin", "binascii.unhexlify":
		out, err := hex.DecodeString(first.text)
		return langValue{text: string(out), known: err == nil && first.known}
	case "os.getcwd", "process.cwd", "Dir.pwd", "getcwd", "Path.cwd", "pathlib.Path.cwd":
		return langValue{text: ".", known: true, path: true}
	}
	v := langMethod(c)
	if act := calls.Actions()[c.name]; (act == calls.Shell || act == calls.Argv) && slices.ContainsFunc(flatten(c.args), func(v langValue) bool {
		return WordIn(strings.SplitN(v.text, " ", 2)[0], "curl wget fetch")
	}) {
		v.origin = shOrigin{"remote", "an address"}
	}
	if i := strings.LastIndexByte(c.name, '.'); v.text == "" && i > 0 && (environments()[c.name[:i]] || strings.HasPrefix(c.name, "ENV.to_")) {
		v.origin = shOrigin{"environment", "env"}
	}
	for _, arg := range append(c.args, c.recv) {
		if v.text == "" && v.origin.kind == "" && (arg.origin.kind == "environment" || arg.origin.kind == credential || arg.origin.kind == "remote") {
			v.origin = arg.origin // all of them in another form
		}
	}
	return v
}

// langMethod is what a method gives of the text it is called on.
func langMethod(c langCall) langValue {
	switch c.name {
	case ".decode", ".encode", ".toString", ".strip", ".trim", ".to_s", ".expanduser", ".resolve", ".absolute", ".as_posix", ".chomp":
		return c.recv
	case ".join":
		list, between := c.arg(0), c.recv
		if !list.isList {
			list, between = between, list
		}
		out := langValue{known: list.isList && between.known}
		for i, v := range list.list {
			if i > 0 {
				out.text += between.text
			}
			out.text += v.text
			out.known = out.known && v.known
		}
		return out
	case ".split":
		out := langValue{isList: c.recv.known}
		for word := range strings.FieldsSeq(c.recv.text) {
			out.list = append(out.list, langValue{text: word, known: true})
		}
		return out
	case ".joinpath":
		v := joinLang(append([]langValue{c.recv}, c.args...))
		v.path = true
		return v
	case ".read", ".text", ".content", ".body", ".read_text":
		return langValue{origin: c.recv.origin}
	case ".format", ".replace":
		return langValue{text: c.recv.text}
	}
	switch last := strings.ToLower(lastName(strings.TrimSuffix(c.name, ".new"))); {
	case WordIn(last, "all filter") && c.everything(), last == "query" && c.arg(0).text == "", losses.Elsewhere(last) && c.arg(0).text != "":
		return langValue{rows: true}
	}
	if calls.Actions()[c.name] == calls.Send {
		return langValue{origin: shOrigin{"remote", c.arg(0).text}}
	}
	return langValue{}
}

func decodeLang(v, how langValue) langValue {
	if !v.known {
		return langValue{origin: shOrigin{"decoded", ""}}
	}
	if how.text == "hex" {
		out, err := hex.DecodeString(v.text)
		return langValue{text: string(out), known: err == nil}
	}
	if how.known && how.text != "base64" {
		return v
	}
	out, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v.text))
	if err != nil {
		return langValue{origin: shOrigin{"decoded", ""}}
	}
	return langValue{text: string(out), known: true}
}
