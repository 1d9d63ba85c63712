package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/agent"
)

// canaryWait bounds one canary.
const canaryWait = 30 * time.Second

// canaries runs each entry's own command, as the agent would, on a made-up
// event that must be refused.
func (d *doctor) canaries() {
	if _, err := exec.LookPath("sh"); err != nil && len(d.entries) > 0 {
		d.say("canary", checkFail, "", "the hook cannot be tried: %v", err)
		return
	}
	for _, e := range d.entries {
		for _, at := range d.Dialect.Entries(d.Place) {
			if at.Native == e.Event && at.Refusable() {
				d.canary(e, at)
				break
			}
		}
	}
}

func (d *doctor) canary(e ownEntry, at agent.Entry) {
	nonce := rand.Text()
	input := d.Dialect.Sample(at.Native, "Bash", d.Dir)
	begun := time.Now()
	got, err := d.fire(e.Command, input, nonce)
	took := time.Since(begun)
	want, wrong := d.expected(at, input, nonce)
	limit := lists.First(e.Timeout, d.Place.Standard)
	hint := "run it yourself: echo '" + string(input) + "' | " + decide.CanaryEnv + "=x " + e.Command
	switch {
	case err != nil:
		d.say("canary", checkFail, hint, "%s: the command at %s does not run: %v", at.Native, e.at(), err)
	case wrong != nil:
		d.say("canary", checkFail, "", "%s: the canary is not an event of %s: %v", at.Native, d.Dialect.ID, wrong)
	case got.Exit != want.Exit || !bytes.Equal(got.Stdout, want.Stdout) || !strings.Contains(string(got.Stdout)+got.Stderr, nonce):
		d.say("canary", checkFail, hint, "%s: the command at %s does not refuse the canary: %s", at.Native, e.at(), got)
	case took >= limit:
		d.say("canary", checkFail, "", "%s: the refusal came after %s, the agent waits %s", at.Native, took.Round(time.Millisecond), limit)
	default:
		d.say("canary", checkOK, "", "%s: refused in %s", at.Native, took.Round(time.Millisecond))
	}
}

// heard is what a command answered.
type heard agent.Wire

// String shows the answer in a line.
func (h heard) String() string {
	text := fmt.Sprintf("exit %d", h.Exit)
	for _, part := range []struct{ name, text string }{{"stdout", string(h.Stdout)}, {"stderr", h.Stderr}} {
		if t := strings.TrimSpace(part.text); t != "" {
			if len(t) > 400 {
				t = strings.ToValidUTF8(t[:400], "") + " …"
			}
			text += ", " + part.name + " " + strings.ReplaceAll(t, "\n", " ⏎ ")
		}
	}
	return text
}

// fire runs a command line as agents do.
func (d *doctor) fire(line string, input []byte, nonce string) (heard, error) {
	ctx, cancel := context.WithTimeout(d.cmd.Context(), canaryWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.Dir, append(os.Environ(), decide.CanaryEnv+"="+nonce), time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return heard{}, fault.Errorf("it did not answer within %s", canaryWait)
	}
	if err != nil && !errors.As(err, &exit) {
		return heard{}, err
	}
	return heard{stdout.Bytes(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}

// expected is the refusal in the agent's own protocol.
func (d *doctor) expected(at agent.Entry, input []byte, nonce string) (agent.Wire, error) {
	call, err := d.Dialect.Decode(input, at.Native, func(string) string { return "" })
	if err != nil {
		return agent.Wire{}, err
	}
	return call.Encode(refusal(call.Event(), nonce)), nil
}
