// Command hookgate is what agents start on every event: it asks the resident
// `hookc serve` and passes its answer on, byte for byte; what a terminal may
// be shown has its control characters spelled out. Without one it runs
// `hookc run`, and when nothing answers in time it takes the declared posture
// in the agent's own protocol (docs/reference/cli.md "hookgate"). It is the standard
// library's smallest parts and nothing else, since starting is all it costs.
package main

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hookc/hookc/internal/spell"
)

// maxInput is the largest event, in bytes; the same as hookc's.
const maxInput = 32 << 20

// Why nothing answered. These are plain ASCII without quotes, since they are
// put into answers as they are.
const (
	noTime    = "hookgate: no answer before the deadline"
	noInput   = "hookgate: the event cannot be read"
	tooLarge  = "hookgate: the event is larger than 32 MiB"
	noHookc   = "hookgate: no server answers and there is no hookc beside hookgate"
	noAnswer  = "hookgate: hookc run gave no answer"
	noStart   = "hookgate: hookc run cannot be started"
	badFlags  = "hookgate: the command line is not understood"
	noPanic   = "hookgate: internal error"
	cutOff    = "hookgate: it was interrupted by a signal"
	noDialect = "hookgate: unknown dialect"
)

// exitCannot is that of hookc, for what is no answer to an agent.
const exitCannot = 3

// answered is set by whoever speaks to the agent: there is one answer.
var answered atomic.Bool

func main() { os.Exit(gate(os.Args[1:])) }

// gate answers one event and returns the exit code.
func gate(args []string) int {
	if len(args) > 0 && args[0] == "version" {
		return version(args)
	}
	o, wrong := parse(args)
	if o.help {
		writeAll(1, []byte(help))
		return 0
	}
	if !known(o.dialect) {
		writeAll(2, []byte(noDialect+"\n"))
		return exitRefused
	}
	c := &call{options: o, began: time.Now()}
	defer c.recover()
	c.listen()
	if wrong != "" {
		writeAll(2, []byte("hookgate: "+wrong+"\n"))
		return c.posture(badFlags)
	}
	c.hookc = c.findHookc()
	c.connect()
	input, why := c.readInput()
	c.took(input)
	if why != "" {
		return c.posture(why)
	}
	if reply := c.ask(); reply != nil {
		return c.say(reply.Stdout, reply.Stderr, reply.Exit)
	}
	if c.left() <= 0 {
		return c.posture(noTime)
	}
	// Until here each wait has a limit of its own; a timer would cost another
	// thread, which is a tenth of the gate's whole time.
	if c.absent && o.start && os.Getenv("HOOKC_CANARY") == "" { // doctor only tries
		c.limit()
		c.startServer()
	}
	if reply := c.fromArtifact(); reply != nil {
		return c.say(reply.Stdout, reply.Stderr, reply.Exit)
	}
	c.limit()
	reply, why := c.run()
	if reply == nil {
		return c.posture(why)
	}
	return c.say(reply.Stdout, reply.Stderr, reply.Exit)
}

// version is hookc's: the two are one release.
func version(args []string) int {
	c := (&options{}).findHookc()
	child, err := os.StartProcess(c, append([]string{"hookc"}, args...), &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil {
		writeAll(2, []byte(noHookc+"\n"))
		return exitCannot
	}
	state, err := child.Wait()
	if err != nil {
		return exitCannot
	}
	return state.ExitCode()
}

// call is one event on its way.
type call struct {
	options
	began time.Time
	input []byte
	// sent is input for those that answer beside the one that reads it.
	sent atomic.Pointer[[]byte]
	// absent is set when no server listens.
	absent bool
	hookc  string
	// build is hookc's, conn the connection to the server or -1.
	build string
	conn  int
	child atomic.Pointer[os.Process]
	timer sync.Once
}

// left is the time until the deadline.
func (c *call) left() time.Duration { return c.deadline - time.Since(c.began) }

// limit sees to the deadline from here on.
func (c *call) limit() {
	c.timer.Do(func() { time.AfterFunc(c.left(), func() { os.Exit(c.late()) }) })
}

// listen answers when the gate is told to end. A hangup that was ignored when it
// began, as nohup does, stays ignored.
func (c *call) listen() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		os.Exit(c.instead(cutOff))
	}()
}

// took notes the event that was read.
func (c *call) took(input []byte) {
	c.input = input
	c.sent.Store(&input)
}

// late is the answer when time is up.
func (c *call) late() int { return c.instead(noTime) }

// instead answers in the place of the one that decides; whoever is answering
// already goes on.
func (c *call) instead(why string) int {
	if answered.Load() {
		select {}
	}
	code := c.posture(why) // first, since the child's end is an answer too
	if p := c.child.Load(); p != nil {
		endChild(p)
	}
	return code
}

func (c *call) recover() {
	if p := recover(); p != nil {
		os.Exit(c.posture(noPanic))
	}
}

// say gives the agent its answer, once, and returns the exit code.
func (c *call) say(stdout, stderr []byte, exit int) int {
	if answered.Swap(true) {
		select {} // the other one ends the program
	}
	if !writeAll(1, stdout) {
		writeAll(2, []byte("hookc: the answer cannot be written\n"))
		return exitRefused
	}
	writeAll(2, spell.Text(stderr))
	return exit
}
