// Package calls finds the calls in code of programming languages, and knows what they do by their names.
package calls

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lazy"
)

// Action is what a call does; 0 is nothing that is known.
type Action uint8

// The actions.
const (
	Shell  Action = iota + 1 // its text is code of the shell; a list is a command
	Argv                     // its arguments are a command, in words
	Delete                   // deletes files
	Tree                     // deletes everything below
	Write
	Read
	Open // reads or writes, as its second argument says
	Move
	Copy
	Link
	Mode
	Send // talks to an address
	Eval // its text is code of the same language
	SelfDelete
	SelfTree
	SelfWrite
	SelfRead
)

// Actions say what calls do, by their name. A name that begins with a dot
// is a method of what it is called on.
var Actions = lazy.Value(func() map[string]Action {
	m := map[string]Action{}
	for _, row := range []struct {
		does  Action
		names string
	}{
		{Shell, losses.CallsShell},
		{Argv, losses.CallsArgv},
		{Tree, losses.CallsTree},
		{Delete, "os.remove os.unlink os.rmdir os.removedirs fs.unlink fs.unlinkSync fs.promises.unlink unlink rmdir File.delete File.unlink Dir.delete Dir.rmdir Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove os.Remove"},
		{Write, losses.CallsWrite},
		{Read, "fs.readFile fs.readFileSync fs.promises.readFile fs.createReadStream File.read IO.read IO.readlines File.readlines file_get_contents readfile dotenv_values dotenv.dotenv_values Deno.readTextFile Deno.readTextFileSync Bun.file io.lines file parse_ini_file fileinput.input fileinput.FileInput linecache.getlines linecache.getline"},
		{Open, "open io.open File.open fopen File.new fs.open fs.openSync codecs.open"},
		{Move, "shutil.move os.rename os.replace fs.rename fs.renameSync fs.promises.rename FileUtils.mv FileUtils.move File.rename rename"},
		{Copy, losses.CallsCopy},
		{Link, losses.CallsLink},
		{Mode, "os.chmod os.chown fs.chmod fs.chmodSync fs.chown fs.chownSync FileUtils.chmod FileUtils.chmod_R FileUtils.chown_R File.chmod chmod"},
		{Send, losses.CallsSend},
		{Eval, "exec eval execfile vm.runInNewContext vm.runInThisContext Function instance_eval class_eval assert loadstring load"},
		{SelfDelete, ".unlink .rmdir"}, {SelfTree, ".rmtree .rm_rf"}, {SelfWrite, ".write_text .write_bytes"}, {SelfRead, ".read_text .read_bytes"},
	} {
		for _, name := range strings.Fields(row.names) {
			m[name] = row.does
		}
	}
	return m
})

// Listing are calls that read names: 1 of their first argument, 2 of what they
// are called on, 3 of the arguments after the first.
var Listing = lazy.Value(func() map[string]int {
	m := map[string]int{}
	for i, names := range []string{`os.walk os.listdir os.scandir os.fwalk glob.glob glob.iglob glob fs.readdir fs.readdirSync fs.promises.readdir fs.opendir fs.opendirSync Deno.readDir Deno.readDirSync
		Dir.glob Dir.children Dir.entries Dir.each_child Dir.foreach Dir.new Find.find opendir scandir RecursiveDirectoryIterator DirectoryIterator FilesystemIterator filepath.Walk
		filepath.WalkDir filepath.Glob os.ReadDir ioutil.ReadDir path.filepath.Walk path.filepath.WalkDir globSync glob.sync glob.globSync fs.glob fs.globSync fs.promises.glob fast-glob.sync fg.sync lfs.dir walk readdirSync readdir`,
		".rglob .glob .iterdir .walk .each_child .children", "find finddepth File.Find.find"} {
		for _, name := range strings.Fields(names) {
			m[name] = i + 1
		}
	}
	return m
})

// Act is what a call does in a language: a few names mean something else
// in some of them.
func Act(lang tokens.Lang, name string) Action {
	act := Actions()[name]
	if lang == tokens.Lua && losses.In(name, "load loadstring dofile") {
		return Eval
	}
	switch name {
	case "exec", "eval":
		if lang == tokens.Python || lang == tokens.JS || name == "eval" {
			return Eval
		}
		return Shell
	case "system", "popen", "spawn", "unlink", "rmdir", "rename", "chmod", "open", "sh", "assert", "load", "del", "rmtree", "remove_tree", "fopen":
		if lang == tokens.JS || lang == tokens.Python && name != "open" || lang == tokens.Lua {
			return 0
		}
	case "file":
		if lang != tokens.PHP {
			return 0
		}
	case "rimraf.sync":
		return Tree
	}
	if act == 0 {
		// rm of a module that was loaded in a way that is not followed.
		switch last := name[strings.LastIndexByte(name, '.')+1:]; last {
		case "rmtree", "rmSync", "rmdirSync", "execSync", "spawnSync", "execFileSync", "unlinkSync", "rm_rf", "exec_command", "rimraf", "removeSync", "emptyDirSync", "system", "rm":
			for known, does := range Actions() {
				if strings.HasSuffix(known, "."+last) && !strings.HasPrefix(known, ".") {
					act = max(act, does)
				}
			}
		}
	}
	return act
}
