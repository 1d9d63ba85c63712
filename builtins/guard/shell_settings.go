package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
)

// deletedThere reports whether what a command moves is deleted at its new place.
func deletedThere(s *shell.Line, e *shell.Effect) bool {
	return shell.AnyEffect(s.Effects, func(w *shell.Effect) bool {
		return w.Kind == shell.EffectWrite && w.Op == "move" && w.Command == e.Command && shell.AnyEffect(s.Effects, func(d *shell.Effect) bool {
			return d.Kind == shell.EffectDelete && d.Op != "move" && d.Offset > w.Offset && losses.IsUnder(strings.TrimSuffix(d.Target, "/*"), w.Target)
		})
	})
}

// hookcFiles are the policy of a project and hookc's programs.
var hookcFiles = map[string]bool{"hooks.yaml": true, "hooks.yml": true, "hookc": true, "hookgate": true}

// hookcFolders are where hookc keeps its own files, as settingsOf has them.
var hookcFolders = []string{".hookc", ".config/hookc", ".local/state/hookc"}

// settingsAdvice is about a change of settings: what is hookc's own is asked about,
// for its own guard decides on it.
func settingsAdvice(e *shell.Effect) *shellAdvice {
	if hookcFiles[path.Base(e.Target)] || slices.ContainsFunc(hookcFolders, func(dir string) bool { return strings.Contains(e.Target+"/", "/"+dir+"/") }) {
		return adviceHookc
	}
	return adviceAgentSettings
}

// settingsOf are the files in which agents keep who watches them, with the folders
// of their hooks, relative to a home or a project.
var settingsOf = lazy.Value(func() []string {
	out := lists.Copy(hookcFolders)
	for _, a := range agent.All() {
		for _, f := range a.Files {
			rel := strings.TrimSuffix(f.Path, "/*.json")
			if dir, _, ok := spell.Cut(rel, "/"); ok && f.Base != agent.System && strings.HasPrefix(dir, ".") {
				out = append(out, rel, dir+"/hooks")
			}
		}
	}
	return lists.Distinct(out)
})

// agentSettings reports whether an effect changes the settings of an agent, or takes
// the folder away that they lie in.
func agentSettings(e *shell.Effect) bool {
	if base := path.Base(e.Target); e.Host == "" && hookcFiles[base] && e.Place != shell.ZoneTemp && (e.Place == shell.ZoneProject) == strings.HasSuffix(base, "ml") {
		return true
	}
	last := path.Base(e.Target)
	named := e.Certainty == shell.CertainPattern && (last[:1] == "." || len(strings.Join(losses.Tokens(last), "")) > 3) // *claude*, .c*
	if e.Host == "" && (named && last[0] != '*' && e.Place == shell.ZoneProject && losses.GlobMatch(last, "hooks.yaml") || strings.HasPrefix(e.Target, "/run/user/") && strings.Contains(e.Target, "/hookc")) {
		return true
	}
	if e.Host != "" || !named && !strings.Contains(e.Target, "/.") || e.Op == "create" {
		return false
	}
	return slices.ContainsFunc(settingsOf(), func(rel string) bool {
		if i := strings.Index(e.Target+"/", "/"+rel+"/"); i >= 0 {
			return true
		}
		dir, _, _ := spell.Cut(rel, "/")
		if i := strings.Index(e.Target, "/"+dir+"/**/"); i >= 0 && losses.GlobMatch(strings.Replace(e.Target[i+1:], "**/", "", 1), rel) {
			return true
		}
		return (e.Kind == shell.EffectDelete || e.Op == "lock-mode" || e.Op == "link-force" || e.Op == "extract" || e.Op == "mount") && (named && losses.GlobMatch(last, dir) || strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(e.Target, "{tests}"), "*/"), "/"+dir))
	})
}
