package main

import (
	"os"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	event, dialect, socket, unavailable string
	// artifact is the compiled policy, "" if there is none; it is in rest too.
	artifact string
	// program is hookc, "" for the one beside hookgate.
	program  string
	deadline time.Duration
	start    bool
	help     bool
	// rest is passed on to hookc run as it is.
	rest []string
}

// defaultDeadline is below what agents grant a hook by default.
const defaultDeadline = 5 * time.Second

const help = `hookgate answers one event of an agent, as its hook.

Usage:
  hookgate [EVENT] --dialect AGENT [flags] < event.json
  hookgate version [--json]     that of the hookc beside it

It asks the resident hookc serve, which answers what hookc run --dialect AGENT
would; without a server it runs hookc run itself. When nothing answers before
the deadline it answers with the declared posture, in the agent's protocol.

Flags:
      --dialect AGENT          whose protocol: see hookc list dialect
      --deadline 5s            answer at the latest after this time; keep it below the agent's own limit
      --on-unavailable WHAT    deny (default), ask or proceed, when nothing can answer; deny where the
                               agent lets a hook refuse, elsewhere a message
      --start                  start hookc serve, for the next event, when there is none
      --socket PATH            the server's socket (default: that of the hookc beside hookgate)
      --hookc PATH             the hookc to run without a server (default: the one beside hookgate)
      --artifact FILE          the policy is this one, made by hookc compile -o: as -f FILE, and without a
                               server the gate itself answers events that no hook concerns, or
                               only rules in Rego that it can evaluate
  -f, --file PATH, --format NAME, --profile AGENT, --user-policy FILE, --faithful, --server URL,
  --server-token, --server-ca, --server-cert, --server-timeout, --on-unreachable
                               as for hookc run

Exit codes are the agent's own: what hookc run --dialect AGENT exits with.

Examples:
  hookgate PreToolUse --dialect claude < event.json
  hookgate pre_tool_execution --dialect jcli --start --deadline 8s
`

// parse reads the command line; wrong says what is not understood in it. What
// is understood counts all the same: the refusal is in that dialect.
func parse(args []string) (o options, wrong string) {
	o.deadline = defaultDeadline
	o.unavailable = "deny"
	for i := 0; i < len(args); i++ {
		name, value, joined := split(args[i])
		take := func() string {
			if !joined {
				if i+1 == len(args) {
					wrong = name + " needs a value"
					return ""
				}
				i++
				value = args[i]
			}
			return value
		}
		switch name {
		case "":
			if o.event != "" {
				wrong = "there are two events"
			}
			o.event = args[i]
		case "-h", "--help":
			o.help = true
		case "--dialect":
			o.dialect = take()
		case "--socket":
			o.socket = take()
		case "--hookc":
			o.program = take()
		case "--on-unavailable":
			if o.unavailable = take(); !isPosture(o.unavailable) {
				o.unavailable, wrong = "deny", "--on-unavailable is deny, ask or proceed"
			}
		case "--deadline":
			d, err := time.ParseDuration(take())
			if err != nil || d <= 0 {
				d, wrong = defaultDeadline, "--deadline is a time such as 5s"
			}
			o.deadline = d
		case "--start":
			o.start = true
		case "--artifact":
			if o.artifact != "" {
				wrong = "there are two artifacts"
			}
			if o.artifact = take(); o.artifact != "" {
				o.rest = append(o.rest, "-f", o.artifact)
			}
		case "-f", "--file", "--format", "--profile", "--user-policy", "--server", "--server-token", "--server-ca", "--server-cert", "--server-timeout", "--on-unreachable":
			o.rest = append(o.rest, name, take())
		case "--faithful":
			o.rest = append(o.rest, name)
		default:
			wrong = "unknown flag " + name
		}
	}
	return o, wrong
}

// split cuts --name=value; the name is "" for what is no flag.
func split(arg string) (name, value string, joined bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	return strings.Cut(arg, "=")
}

// words is the command line of hookc run for the event.
func (o *options) words() []string {
	out := append(make([]string, 0, 4+len(o.rest)), "run")
	if o.event != "" {
		out = append(out, o.event)
	}
	return append(append(out, "--dialect", o.dialect), o.rest...)
}

// findHookc looks for the hookc that belongs to the gate: the one named, else the one beside this program.
// It is not looked for on PATH, which is whoever's who started the agent.
func (o *options) findHookc() string {
	path := o.program
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return ""
		}
		end := len(self)
		for end > 0 && !os.IsPathSeparator(self[end-1]) {
			end--
		}
		path = self[:end] + "hookc" + exeSuffix
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return ""
	}
	return path
}
