package agent

import "github.com/hookc/hookc/policy"

// geminiProfile is how Gemini CLI runs the hooks of its settings (docs/dialects,
// gemini §1.4, §1.6). Its documents rank the files; its code runs them in the
// order in which their lists are joined, and that is what counts. Hooks run at
// once, or one after another when a group that matches says so: the reader of
// the settings lays them out (package format).
var geminiProfile = &Profile{
	Protocol: policy.GeminiProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierManaged, Base: System, Path: "etc/gemini-cli/system-defaults.json", Format: "gemini"},
		{Tier: policy.TierUser, Base: Home, Path: ".gemini/settings.json", Format: "gemini", Env: "GEMINI_CLI_HOME"},
		{Tier: policy.TierProject, Base: Project, Path: ".gemini/settings.json", Format: "gemini"},
		{Tier: policy.TierManaged, Base: System, Path: "etc/gemini-cli/settings.json", Format: "gemini"},
		{Tier: policy.TierExtension, Base: Home, Path: ".gemini/extensions/*/hooks/hooks.json", Format: "gemini", Env: "GEMINI_CLI_HOME"},
	},
	Tools: []string{"activate_skill", "ask_user", "cli_help", "codebase_investigator", "complete_task", "enter_plan_mode", "exit_plan_mode",
		"get_internal_docs", "glob", "google_web_search", "grep_search", "invoke_agent", "list_directory", "list_mcp_resources", "read_file",
		"read_many_files", "read_mcp_resource", "replace", "run_shell_command", "save_memory", "search_file_content", "tracker_add_dependency",
		"tracker_create_task", "tracker_get_task", "tracker_list_tasks", "tracker_update_task", "tracker_visualize", "update_topic",
		"web_fetch", "write_file", "write_todos"},
	Open: []string{"mcp_*"},
	Rules: func(faithful bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for _, p := range geminiPoints {
			out.Strategies[p.event] = &policy.StrategySpec{
				Strategy: "gemini", Halt: policy.HaltNever, Fold: policy.FoldMax,
				Doc: "all run, at once unless a group that matches is sequential; " + geminiWord(p.event), Sink: geminiSink(p.event, faithful),
				Adjust: forkRow(p.may),
			}
		}
		return out
	},
}

// forkRow narrows an event's row to what an agent of this family obeys there.
// Inputs stay writable where hooks hand them on to each other.
func forkRow(may Power) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		keep := policy.Powers(0)
		for _, p := range []struct {
			theirs Power
			ours   policy.Powers
		}{{MayAllow, policy.MayAllow}, {MayAsk, policy.MayAsk}, {MayDeny, policy.MayDeny}, {MayEnd, policy.MayHalt}} {
			if may.Has(p.theirs) {
				keep |= p.ours
			}
		}
		s.Powers &= keep
		s.Context, s.Inject, s.Feedback, s.Retry = s.Context && may.Has(MayContext), false, false, false
		if s.Event == policy.PostToolExecution || s.Event == policy.PostToolExecutionFailure {
			s.Writes = nil
		}
	}
}

// geminiWord says in a few words how answers combine at an event.
func geminiWord(e policy.Event) string {
	switch e {
	case policy.PreLLMRequest, policy.PostLLMResponse:
		return "of each part the last answer holds"
	case policy.ToolSelection:
		return "offers are joined, NONE before ANY before AUTO"
	case policy.SessionStart:
		return "contexts are joined"
	case policy.SessionEnd, policy.Notify, policy.PreAutoCompact:
		return "nothing is decided"
	}
	return "any deny blocks"
}
