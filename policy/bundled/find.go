package bundled

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeBundles = diag.Define("HK231", diag.Error, "bundles in force that cannot be read").Unprovoked("It depends on the machine's own folder, so there is no example.")
var codeStale = diag.Define("HK232", diag.Warning, "fleet's policy that is not current").Guarding().Unprovoked("It depends on the machine's own folder, so there is no example.")

// Place is one policy to load: a folder, or a text that means the file.
type Place struct {
	Path    string
	Content []byte
}

// Find finds the policies that hookcd put in force below the folder of the managed
// tier; at is the beginning of its index. A folder that is gone is found all the same,
// and loading it says what is wrong.
func Find(dir string, at diag.Span, check func(fs.FileInfo) error) (places []Place, found diag.List) {
	list, err := Read(dir, check)
	if err != nil {
		return nil, diag.List{codeBundles.Report(at, "%v", err)}
	}
	if len(list) == 0 {
		return nil, nil
	}
	contacts, now := ReadContacts(dir, check), time.Now()
	for i := range list {
		b := &list[i]
		places = append(places, Place{Path: filepath.Join(dir, Folders, b.Folder)})
		contact := contacts[b.Name]
		if contact.Refused != "" {
			found.Add(codeStale.Report(at, "%s %s stays in force, what the server has is refused: %s", b.Name, b.Revision, contact.Refused))
		}
		why := b.Stale(contact, now)
		if why == "" {
			continue
		}
		found.Add(codeStale.Report(at, "%s", why).WithHint("see that hookcd runs and reaches its server"))
		if b.OnStale == Deny {
			places = append(places, Place{filepath.Join(dir, Index), denies(b.Name, why)})
		}
	}
	return places, found
}

// NotCurrent are the warnings about bundles among findings: every decision has them.
func NotCurrent(found diag.List) (out []policy.Warning) {
	for _, d := range found {
		if d.Code == codeStale {
			out = append(out, policy.Warning{Code: codeStale, Text: d.Text})
		}
	}
	return out
}

// denies is a policy that refuses whatever is guarded.
func denies(name, why string) []byte {
	hook := []map[string]any{{"name": "age of " + name, "deny": "true", "reason": why, "locked": true}}
	text, err := json.Marshal(map[policy.Event]any{policy.PreToolExecution: hook, policy.PermissionRequest: hook, policy.SubagentStart: hook})
	if err != nil {
		panic("bundled: " + err.Error())
	}
	return text
}
