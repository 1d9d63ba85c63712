package bash

import ("testing";"encoding/json";"fmt";"os";"github.com/hookc/hookc/builtins")

func TestProbe(t *testing.T) {
	s := builtins.ParseShell(os.Getenv("L"), builtins.ShellAt{Cwd: "/home/dev/project", Root: "/home/dev/project", Home: "/home/dev", Temp: "/tmp"})
	for _, c := range s.Commands { fmt.Printf("CMD %q dyn=%v cond=%v via=%v host=%q dir=%q:", c.Name, c.Dynamic, c.Conditional, c.Via, c.Host, c.Dir); for _, w := range c.Argv { fmt.Printf(" %q(d%v p%v)", w.Text, w.Dynamic, w.Pattern) }; fmt.Println() }
	for _, e := range s.Effects { b, _ := json.Marshal(e); fmt.Println("EFF", string(b)) }
	fmt.Println(s.Dynamic, s.Unknown)
}
