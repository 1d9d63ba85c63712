package logs

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

func (h *Host) tail() *cobra.Command {
	f := filter{Host: h}
	var n int
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "The newest decisions, and with --follow those that come",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 0 {
				return exit.Cannot("-n is not negative")
			}
			f.newest = true
			var last []*decisionlog.Entry
			enough := errors.New("enough")
			err := f.each(cmd, func(e *decisionlog.Entry) error {
				if len(last) == n {
					return enough
				}
				last = append(last, e)
				return nil
			})
			if err != nil && err != enough {
				return err
			}
			for _, e := range slices.Backward(last) {
				if err := h.sayEntry(cmd.OutOrStdout(), e, asJSON); err != nil {
					return err
				}
			}
			if !follow {
				return nil
			}
			return f.follow(cmd, asJSON)
		},
	}
	f.flags(cmd)
	cmd.Flags().IntVarP(&n, "lines", "n", 20, "how many")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with those that come, until interrupted")
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON each")
	return cmd
}

// follow says what is logged from now on.
func (f *filter) follow(cmd *cobra.Command, asJSON bool) error {
	home, err := f.home()
	if err != nil {
		return err
	}
	err = decisionlog.Follow(cmd.Context(), decisionlog.Folder(home), func(e *decisionlog.Entry) error {
		if !f.takes(e) {
			return nil
		}
		return f.sayEntry(cmd.OutOrStdout(), e, asJSON)
	})
	if cmd.Context().Err() != nil {
		return exit.Error{Code: 130}
	}
	return err
}

// sayEntry writes an entry as a line: when, what was decided, of what, by whom.
func (h *Host) sayEntry(w io.Writer, e *decisionlog.Entry, asJSON bool) error {
	if asJSON {
		text, err := policy.EncodeJSON(e)
		if err != nil {
			return exit.Cannot("%v", err)
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	action := actionOf(e)
	mark := ""
	if h.Colour(w) {
		switch action {
		case string(policy.Proceed):
			mark = "\x1b[32m"
		case string(policy.AskUser), string(policy.DeferCall):
			mark = "\x1b[33m"
		default:
			mark = "\x1b[31m"
		}
	}
	line := fmt.Sprintf("%s  %s  %s%-8s", e.Timestamp.Local().Format("2006-01-02 15:04:05"), e.ID, mark, action)
	if mark != "" {
		line += "\x1b[0m"
	}
	line += "  " + e.Path
	if tool, _ := e.Input["tool_name"].(string); tool != "" {
		line += " " + tool
	}
	if what := subjectText(e); what != "" {
		line += "  " + what
	}
	if by, _ := e.Result["by"].(string); by != "" {
		line += "  by " + by
	}
	if e.Error != "" {
		line += "  " + e.Error
	}
	_, err := fmt.Fprintln(w, spell.Line(line))
	return err
}

// subjectText is what a call is about, shortened.
func subjectText(e *decisionlog.Entry) string {
	input, _ := e.Input["tool_input"].(map[string]any)
	for _, key := range []string{"command", "file_path", "url", "query"} {
		if text, _ := input[key].(string); text != "" {
			if runes := []rune(text); len(runes) > 60 {
				return string(runes[:59]) + "…"
			}
			return text
		}
	}
	return ""
}

func (h *Host) show() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "One decision, whole", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var found []*decisionlog.Entry
			f := &filter{Host: h}
			err := f.each(cmd, func(e *decisionlog.Entry) error {
				if strings.HasPrefix(e.ID, args[0]) {
					found = append(found, e)
				}
				return nil
			})
			switch {
			case err != nil:
				return err
			case len(found) == 0:
				return exit.Error{Code: 1, Text: fmt.Sprintf("hookc: no decision is called %s: `hookc log tail` shows their names", args[0])}
			case len(found) > 1 && found[0].ID != args[0]:
				return exit.Cannot("%s are called %s…: give more of the name, such as %s", spell.Count(len(found), "decision"), args[0], found[0].ID)
			}
			return exit.JSON(cmd.OutOrStdout(), found[0])
		},
	}
}

func (h *Host) grep() *cobra.Command {
	f := filter{Host: h}
	var where string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "grep [REGEXP] [--where EXPR]", Short: "The decisions whose entry holds a text, or of which an expr is true",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && where == "" {
				return exit.Cannot("give a regular expression, or --where with an expr")
			}
			re, err := regexp.Compile(strings.Join(args, ""))
			if err != nil {
				return exit.Cannot("%v", err)
			}
			found, asked := false, question{text: where, of: map[string]*dag.Plan{}}
			err = f.each(cmd, func(e *decisionlog.Entry) error {
				if len(args) > 0 && !holds(re, e.Input) && !holds(re, e.Result) && !re.MatchString(e.Error) {
					return nil
				}
				if is, err := asked.holds(e); err != nil || !is {
					if err != nil {
						return exit.Cannot("--where: %v", err)
					}
					return nil
				}
				found = true
				return h.sayEntry(cmd.OutOrStdout(), e, asJSON)
			})
			if err == nil && !found {
				return exit.Error{Code: 1, Text: ""}
			}
			return err
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&where, "where", "", "only those of which this `EXPR` is true")
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON each")
	return cmd
}

// holds reports whether a text in a value matches.
func holds(re *regexp.Regexp, v any) bool {
	switch v := v.(type) {
	case string:
		return re.MatchString(v)
	case []any:
		for _, e := range v {
			if holds(re, e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if holds(re, e) {
				return true
			}
		}
	}
	return false
}

// tally is one row of the statistics.
type tally struct {
	Name    string         `json:"name"`
	Count   int            `json:"count"`
	Actions map[string]int `json:"actions"`
}

func (h *Host) stats() *cobra.Command {
	f := filter{Host: h}
	var by string
	var asJSON, markdown bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "How often what was decided",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, ok := statsBy[by]
			if !ok {
				return exit.Cannot("--by is one of hook, tool, agent, event, session, and not %q", by)
			}
			rows := map[string]*tally{}
			err := f.each(cmd, func(e *decisionlog.Entry) error {
				key := lists.First(name(e), "(none)")
				if rows[key] == nil {
					rows[key] = &tally{Name: key, Actions: map[string]int{}}
				}
				rows[key].Count++
				rows[key].Actions[actionOf(e)]++
				return nil
			})
			if err != nil {
				return err
			}
			return h.sayStats(cmd.OutOrStdout(), by, rows, asJSON, markdown)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&by, "by", "tool", "a row for each `WHAT`: hook (which decided), tool, agent, event or session")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "as a table in Markdown")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	h.Complete(cmd, "by", []string{"hook", "tool", "agent", "event", "session"})
	return cmd
}

// statsBy are what statistics count by.
var statsBy = map[string]func(e *decisionlog.Entry) string{
	"hook":    func(e *decisionlog.Entry) string { by, _ := e.Result["by"].(string); return by },
	"tool":    func(e *decisionlog.Entry) string { tool, _ := e.Input["tool_name"].(string); return tool },
	"agent":   func(e *decisionlog.Entry) string { return e.Labels["agent"] },
	"event":   func(e *decisionlog.Entry) string { return e.Path },
	"session": func(e *decisionlog.Entry) string { return e.Session },
}

func (h *Host) sayStats(w io.Writer, by string, rows map[string]*tally, asJSON, markdown bool) error {
	list := []*tally{}
	actions := map[string]bool{}
	for _, row := range rows {
		list = append(list, row)
		for a := range row.Actions {
			actions[a] = true
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Count > list[j].Count || list[i].Count == list[j].Count && list[i].Name < list[j].Name
	})
	if asJSON {
		return exit.JSON(w, list)
	}
	columns := lists.Keys(actions)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	begin, between, end := "", "\t", ""
	if markdown {
		t, begin, between, end = tabwriter.NewWriter(w, 0, 0, 0, ' ', 0), "| ", " | ", " |"
	}
	write := func(cells []string) {
		for i, c := range cells {
			cells[i] = spell.Line(strings.ReplaceAll(c, "|", `\|`))
		}
		fmt.Fprintln(t, begin+strings.Join(cells, between)+end)
	}
	write(append([]string{by, "all"}, columns...))
	if markdown {
		fmt.Fprintln(t, "|---"+strings.Repeat("|---", len(columns)+1)+"|")
	}
	for _, row := range list {
		cells := []string{row.Name, strconv.Itoa(row.Count)}
		for _, c := range columns {
			cells = append(cells, strconv.Itoa(row.Actions[c]))
		}
		write(cells)
	}
	return t.Flush()
}

func (h *Host) export() *cobra.Command {
	f := filter{Host: h}
	var format, output string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "The decisions for other programs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			w := cmd.OutOrStdout()
			if output != "" {
				file, err := os.OpenFile(h.Path(cmd.Context(), output), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
				if err != nil {
					return exit.Cannot("%v", err)
				}
				defer file.Close()
				w = file
			}
			write, end, err := h.exporter(h.Exact(w), format)
			if err != nil {
				return err
			}
			if err := f.each(cmd, write); err != nil {
				return err
			}
			return end()
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "jsonl", "`jsonl`, csv or ocsf")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE`, readable by you alone")
	h.Complete(cmd, "format", []string{"jsonl", "csv", "ocsf"})
	return cmd
}

// exporter writes entries in a format.
func (h *Host) exporter(w io.Writer, format string) (write func(*decisionlog.Entry) error, end func() error, err error) {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	switch format {
	case "jsonl":
		return func(e *decisionlog.Entry) error { return lines.Encode(e) }, func() error { return nil }, nil
	case "ocsf":
		return func(e *decisionlog.Entry) error { return lines.Encode(e.OCSF()) }, func() error { return nil }, nil
	case "csv":
		table := csv.NewWriter(w)
		err := table.Write([]string{"timestamp", "decision_id", "agent", "session_id", "event", "tool", "action", "by", "reason", "us"})
		return func(e *decisionlog.Entry) error {
				tool, _ := e.Input["tool_name"].(string)
				by, _ := e.Result["by"].(string)
				reasons := e.Error
				if list, ok := e.Result["reasons"].([]any); ok && len(list) > 0 {
					reasons = fmt.Sprint(list[0])
				}
				cells := []string{e.Timestamp.Format(time.RFC3339Nano), e.ID, e.Labels["agent"], e.Session, e.Path, tool, actionOf(e), by, reasons, strconv.FormatInt(e.Micros, 10)}
				for i, c := range cells {
					if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
						cells[i] = "'" + c // else a spreadsheet takes it for a formula
					}
				}
				return table.Write(cells)
			}, func() error {
				table.Flush()
				return table.Error()
			}, err
	}
	return nil, nil, exit.Cannot("--format is jsonl, csv or ocsf, and not %q", format)
}
