package shell

func fillWhich() { programs((*analysis).which, "which") }

// which prints where a program is, which is the program again as a command.
func (a *analysis) which(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	if len(o.operands) == 1 && !o.operands[0].Dynamic {
		return o.operands[0].value()
	}
	return printsText(a, c)
}
