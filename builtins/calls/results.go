package calls

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

// constant is the value of a name that has one: the home, a variable of the
// environment.
func constant(name string) (Value, bool) {
	for _, environment := range []string{"os.environ[", "process.env.", "process.env[", "ENV[", "$ENV[", "$_SERVER[", "$_ENV[", "Bun.env.", "import.meta.env.", "app.config[", "current_app.config["} {
		if variable, ok := spell.CutPrefix(name, environment); ok {
			return ofVariable(strings.TrimSuffix(variable, "]")), true
		}
	}
	if environments()[name] {
		return Value{Origin: Origin{"environment", "env"}}, true
	}
	switch name {
	case "os.homedir", "Dir.home":
		return Value{Text: "~", Known: true}, true
	case "os.sep", "path.sep":
		return Value{Text: "/", Known: true}, true
	}
	return Value{}, false
}

// environments are all variables at once.
var environments = losses.Words("os.environ os.environb process.env ENV %ENV $_ENV Deno.env Bun.env")

// asks are the last names of calls that say something of a text, and not the text.
const asks = "len bool Boolean gettype isinstance key? has has_key has_key? include? includes member? hasOwnProperty hasOwn exists isset empty is_null isEmpty nil? empty? blank? present? startswith startsWith start_with? endswith endsWith isdigit length size strlen mb_strlen test __contains__"

// ofVariable is a variable of the environment.
func ofVariable(name string) Value {
	switch {
	case name == "HOME":
		return Value{Text: "~", Known: true}
	case losses.SecretVariable(name):
		return Value{Origin: Origin{"read-secret", "$" + name}}
	}
	return Value{}
}

// result is what a call gives, for the calls that make texts.
func result(c Call) Value {
	if losses.In(Last(c.Name), asks) {
		return Value{Asked: true}
	}
	first := c.Arg(0)
	switch c.Name {
	case "require", "import", "__import__", "importlib.import_module":
		return Value{Module: moduleName(first.Text)}
	case "os.Path.join", "path.join", "path.resolve", "File.join", "posixpath.join", "Path", "pathlib.Path", "Pathname", "pathlib.PosixPath", "Pathname.new", "path.posix.join":
		v := join(c.Args)
		v.Path = true
		return v
	case "os.Path.expanduser", "os.Path.expandvars", "os.Path.abspath", "os.Path.realpath", "path.normalize", "File.expand_path", "str", "String", "Array", "bytes", "glob.glob", "Dir.glob", "glob", "shlex.split", "File.realpath":
		if first.Origin.Kind != "environment" {
			first.Origin = Origin{}
		}
		return first
	case "Path.home", "pathlib.Path.home", "os.homedir", "Dir.home":
		return Value{Text: "~", Known: true, Path: true}
	case "os.getenv", "os.environ.get", "getenv", "ENV.fetch", "Deno.env.get", "env", "System.get_env", "System.fetch_env!":
		return ofVariable(first.Text)
	case "keyring.get_password":
		return Value{Origin: Origin{"read-secret", "the keyring"}}
	case "Object.keys", "os.environ.keys", "ENV.keys":
		return Value{} // no more than names
	case "getattr":
		return Value{Module: strings.TrimPrefix(first.Module+"."+c.Arg(1).Text, ".")}
	case "tempfile.mkdtemp", "tempfile.mktemp", "Dir.mktmpdir", "tempnam":
		return Value{Text: "/tmp/tmpXXXXXXXX", Known: true, Path: true}
	case "tempfile.gettempdir", "os.tmpdir", "Dir.tmpdir", "sys_get_temp_dir", "os.TempDir":
		return Value{Text: "/tmp", Known: true, Path: true}
	case "fs.mkdtempSync", "fs.mkdtemp", "fs.promises.mkdtemp":
		first.Text += "XXXXXX"
		return first
	case "base64.b64decode", "base64_decode", "Base64.decode64", "Buffer.from", "atob", "MIME.Base64.decode_base64", "decode_base64":
		return decode(first, c.Arg(1))
	case "bytes.fromhex", "hex2bin", "binascii.unhexlify":
		out, err := hex.DecodeString(first.Text)
		return Value{Text: string(out), Known: err == nil && first.Known}
	case "os.getcwd", "process.cwd", "Dir.pwd", "getcwd", "Path.cwd", "pathlib.Path.cwd":
		return Value{Text: ".", Known: true, Path: true}
	}
	v := method_(c)
	if act := Actions()[c.Name]; (act == Shell || act == Argv) && slices.ContainsFunc(Flatten(c.Args), func(v Value) bool {
		return losses.In(strings.SplitN(v.Text, " ", 2)[0], "curl wget fetch")
	}) {
		v.Origin = Origin{"remote", "an address"}
	}
	if i := strings.LastIndexByte(c.Name, '.'); v.Text == "" && i > 0 && (environments()[c.Name[:i]] || strings.HasPrefix(c.Name, "ENV.to_")) {
		v.Origin = Origin{"environment", "values"}
	}
	for _, arg := range append(c.Args, c.Recv) {
		if names := arg.Origin.From == "env" && losses.In(c.Name, "sorted list set tuple .join"); !names && v.Text == "" && v.Origin.Kind == "" && (arg.Origin.Kind == "environment" || arg.Origin.Kind == "read-secret" || arg.Origin.Kind == "remote") {
			v.Origin = arg.Origin // all of them in another form
		}
	}
	return v
}

// method_ is what a method gives of the text it is called on.
func method_(c Call) Value {
	switch c.Name {
	case ".decode", ".encode", ".toString", ".strip", ".trim", ".to_s", ".expanduser", ".resolve", ".absolute", ".as_posix", ".chomp":
		return c.Recv
	case ".join":
		list, between := c.Arg(0), c.Recv
		if !list.IsList {
			list, between = between, list
		}
		out := Value{Known: list.IsList && between.Known}
		for i, v := range list.List {
			if i > 0 {
				out.Text += between.Text
			}
			out.Text += v.Text
			out.Known = out.Known && v.Known
		}
		return out
	case ".split":
		out := Value{IsList: c.Recv.Known}
		for word := range strings.FieldsSeq(c.Recv.Text) {
			out.List = append(out.List, Value{Text: word, Known: true})
		}
		return out
	case ".joinpath":
		v := join(append([]Value{c.Recv}, c.Args...))
		v.Path = true
		return v
	case ".read", ".text", ".content", ".body", ".read_text":
		return Value{Origin: c.Recv.Origin}
	case ".format", ".replace":
		return Value{Text: c.Recv.Text}
	}
	switch last := strings.ToLower(Last(strings.TrimSuffix(c.Name, ".new"))); {
	case losses.In(last, "all filter") && c.Everything(), last == "query" && c.Arg(0).Text == "", losses.Elsewhere(last) && c.Arg(0).Text != "":
		return Value{Rows: true}
	}
	if Actions()[c.Name] == Send {
		return Value{Origin: Origin{"remote", c.Arg(0).Text}}
	}
	return Value{}
}

func decode(v, how Value) Value {
	if !v.Known {
		return Value{Origin: Origin{"decoded", ""}}
	}
	if how.Text == "hex" {
		out, err := hex.DecodeString(v.Text)
		return Value{Text: string(out), Known: err == nil}
	}
	if how.Known && how.Text != "base64" {
		return v
	}
	out, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v.Text))
	if err != nil {
		return Value{Origin: Origin{"decoded", ""}}
	}
	return Value{Text: string(out), Known: true}
}
