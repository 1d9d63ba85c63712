package executor

import (
	"context"
	"time"
)

// zero is when clock began: a look at it is a look at one of the two clocks there
// are, the one that cannot jump, and takes half as long as time.Now.
var zero = time.Now()

// clock is the time that has passed since some moment.
func clock() time.Duration { return time.Since(zero) }

// passed reports whether the deadline of ctx has passed, of which a machine that
// has too much to do may tell ctx later than others. Nothing that changes the
// world is begun then, for its caller has given up.
func passed(ctx context.Context) bool {
	until, ok := ctx.Deadline()
	return ok && !time.Now().Before(until)
}
