package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/internal/screen"
)

func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// colour reports whether w takes colour: a terminal, unless NO_COLOR is set
// or the terminal is dumb. CLICOLOR_FORCE asks for it everywhere.
func colour(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return isTerminal(w)
}

// width is the number of columns of w. Where it is no terminal it is COLUMNS, which
// shells do not export on their own, or 0 for any.
func width(w io.Writer) int {
	f, ok := screen.Behind(w).(*os.File)
	if !ok {
		return asked()
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return asked()
	}
	return columns
}

func asked() int {
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// style is how to lay text out for w.
func style(w io.Writer) render.Style {
	s := render.Style{Width: width(w)}
	if colour(w) {
		s.Palette = render.ANSI()
	}
	return s
}

// exact is where data goes that another program reads: a file that is laid out,
// a policy that is converted. On a terminal it is shown like all else.
func exact(w io.Writer) io.Writer {
	if isTerminal(w) {
		return w
	}
	return screen.Behind(w)
}

// newScreen wraps an output of the program.
func newScreen(out io.Writer) *screen.Screen {
	if !colour(out) {
		return screen.New(out)
	}
	p := render.ANSI()
	return screen.New(out, p.Title, p.Name, p.Faint, p.Good, p.Warn, p.Bad, p.Reset)
}
