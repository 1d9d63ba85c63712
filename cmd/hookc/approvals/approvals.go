// Package approvals has the commands of `hookc approvals`: a person sees what an agent
// could not ask, and answers it.
package approvals

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/approval"
	_ "github.com/hookc/hookc/internal/approval/judge" // for approval.source
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// Host has the commands.
type Host struct{}

// New is `hookc approvals`.
func (h *Host) New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Answer what an agent could not ask",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(h.list(), h.show(), h.answer(approval.Grant), h.answer(approval.Deny), h.watch(), h.key())
	return cmd
}

// store is where approvals are: on this machine alone where that is declared for while
// its fleet cannot be reached.
func (h *Host) store(cmd *cobra.Command) (*approval.Store, error) {
	home, err := state.Home()
	if err != nil {
		return nil, exit.Cannot("%v", err)
	}
	s := approval.Open(home)
	fleet, err := share.Open(home)
	if fleet != nil {
		err = fleet.Reached(cmd.Context())
	}
	if alone := s.Reach(err); alone != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "hookc: these are of this machine alone: %v\n", err)
		return alone, nil
	}
	if err != nil {
		return nil, exit.Cannot("%v", err)
	}
	return s, nil
}

func (h *Host) list() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "list", Short: "What waits for an answer", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := h.store(cmd)
			if err != nil {
				return err
			}
			found, failed := s.List()
			shown := []*approval.Approval{}
			for _, a := range found {
				if all || a.State == approval.Pending {
					shown = append(shown, a)
				}
			}
			if asJSON {
				err = exit.JSON(cmd.OutOrStdout(), shown)
			} else {
				for _, a := range shown {
					err = errors.Join(err, line(cmd.OutOrStdout(), a))
				}
				if len(shown) == 0 && failed == nil {
					fmt.Fprintln(cmd.OutOrStdout(), "nothing waits for an answer")
				}
			}
			if failed != nil {
				return exit.Cannot("%v", failed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "a JSON array")
	cmd.Flags().BoolVar(&all, "all", false, "those answered and expired, too")
	return cmd
}

// line writes an approval as one line.
func line(w io.Writer, a *approval.Approval) error {
	what, err := policy.EncodeJSON(a.Call.Input)
	if err != nil {
		return err
	}
	beside := ""
	if input, ok := a.Call.Input.(map[string]any); ok {
		if command, ok := input["command"].(string); ok {
			what = []byte(command)
			for _, key := range lists.Keys(input) {
				if key != "command" {
					beside += ", " + key
				}
			}
		}
	}
	runes := []rune(string(what))
	if len(runes) > 100 {
		runes = append(runes[:99], '…')
	}
	if beside != "" { // all that is not shown is named: hookc approvals show
		runes = append(runes, []rune(" with "+beside[2:])...)
	}
	_, err = fmt.Fprintln(w, spell.Line(fmt.Sprintf("%s  %-8s  %s  %s %s  (%s)", a.ID, stateOf(a), a.Created.Local().Format("2006-01-02 15:04:05"), a.Call.Tool, string(runes), a.Rules[0])))
	return err
}

func stateOf(a *approval.Approval) string {
	if a.Spent() {
		return "used"
	}
	return string(a.State)
}

func (h *Host) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "One approval: the exact call, and which rule asked", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := h.store(cmd)
			if err != nil {
				return err
			}
			a, err := s.Get(args[0])
			if err != nil {
				return h.failed(err)
			}
			if asJSON {
				return exit.JSON(cmd.OutOrStdout(), a)
			}
			return write(cmd.OutOrStdout(), a)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "a JSON object")
	return cmd
}

// write shows an approval to a person, with nothing of the call left out.
func write(w io.Writer, a *approval.Approval) error {
	input, err := policy.EncodeJSON(a.Call.Input)
	if err != nil {
		return err
	}
	may := "anybody"
	if !a.Terms.Anyone {
		may = strings.Join(a.Terms.Approvers, ", ")
	}
	when := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
	rows := [][2]string{{"approval", a.ID + "  " + stateOf(a)}, {"tool", a.Call.Tool}, {"input", string(input)}, {"cwd", a.Call.Cwd},
		{"machine", a.Machine}, {"session", a.Session}, {"agent", a.Agent}, {"asked by", strings.Join(a.Rules, ", ")}, {"because", strings.Join(a.Reasons, "\n")},
		{"asked at", when(a.Created)}, {"until", when(a.Until)}, {"approvers", may}, {"quorum", fmt.Sprint(a.Terms.Quorum)}, {"policy", a.Policy}, {"digest", a.Digest}}
	for _, v := range a.Votes {
		text := fmt.Sprintf("%s by %s, %s", v.Verdict, v.By, when(v.At))
		if v.Verdict == approval.Grant {
			text += ", " + v.Scope.String()
		}
		if v.Reason != "" {
			text += ": " + v.Reason
		}
		rows = append(rows, [2]string{"answer", text})
	}
	if a.Used > 0 {
		rows = append(rows, [2]string{"used", fmt.Sprint(a.Used)})
	}
	for _, r := range rows {
		if r[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-10s %s\n", r[0], spell.Line(r[1])); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) answer(verdict approval.Verdict) *cobra.Command {
	var scope approval.Scope
	var reason string
	cmd := &cobra.Command{
		Use: "grant ID", Short: "Let one call go ahead", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := h.store(cmd)
			if err != nil {
				return err
			}
			who := paths.Name() // no variable says who answers
			if who == "" {
				return exit.Cannot("it cannot be told who answers")
			}
			if cmd.Flags().Changed("for") && scope.For <= 0 {
				return exit.Cannot("--for is a time above zero, such as 1h")
			}
			a, err := s.Answer(cmd.Context(), args[0], who, verdict, scope, reason)
			if err != nil {
				return h.failed(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said(a))
			return err
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the agent and the log")
	if verdict == approval.Deny {
		cmd.Use, cmd.Short = "deny ID", "Refuse one call"
		return cmd
	}
	cmd.Flags().DurationVar(&scope.For, "for", 0, "every such call goes ahead for this `TIME`, such as 1h")
	cmd.Flags().BoolVar(&scope.Session, "session", false, "every such call of this session goes ahead")
	cmd.MarkFlagsMutuallyExclusive("for", "session")
	return cmd
}

// said is what has come of an answer.
func said(a *approval.Approval) string {
	switch a.State {
	case approval.Pending:
		return fmt.Sprintf("%s: %d of %d have granted it", a.ID, len(a.Votes), a.Terms.Quorum)
	case approval.Denied:
		return a.ID + " is denied"
	}
	return fmt.Sprintf("%s is granted %s, until %s: the agent makes the same call again", a.ID, a.Scope, a.Until.Local().Format("2006-01-02 15:04:05"))
}

// failed is the exit for an answer that does not count: 1 where somebody else was
// first or there is nothing to answer, 3 otherwise.
func (h *Host) failed(err error) error {
	var late *approval.AnsweredError
	if errors.As(err, &late) || errors.Is(err, approval.ErrNone) {
		return exit.Error{Code: 1, Text: "hookc: " + err.Error() + ": see hookc approvals list --all"}
	}
	return exit.Cannot("%v", err)
}

func (h *Host) watch() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "watch", Short: "Show approvals as they come and change, until interrupted", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := h.store(cmd)
			if err != nil {
				return err
			}
			err = s.Watch(cmd.Context(), func(a *approval.Approval) error {
				if asJSON {
					text, err := policy.EncodeJSON(a)
					if err == nil {
						_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
					}
					return err
				}
				return line(cmd.OutOrStdout(), a)
			})
			if err != nil {
				return exit.Cannot("%v", err)
			}
			return exit.Error{Code: 130, Text: ""}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON each")
	return cmd
}

func (h *Host) key() *cobra.Command {
	var set bool
	cmd := &cobra.Command{
		Use: "key", Short: "Show the key that webhooks are signed with, or set it from stdin", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := h.store(cmd)
			if err != nil {
				return err
			}
			if set {
				key, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 4096))
				if err == nil {
					err = s.SetKey([]byte(strings.TrimSpace(string(key))))
				}
				if err != nil {
					return exit.Cannot("the key is not set: %v", err)
				}
				return nil
			}
			key, err := s.Key()
			if err != nil {
				return exit.Cannot("%v", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", key)
			return err
		},
	}
	cmd.Flags().BoolVar(&set, "set", false, "take the key from stdin: 16 bytes or more")
	return cmd
}
