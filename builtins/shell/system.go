package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
)

// mkfs makes an empty file system of its target.
func (a *analysis) mkfs(c *shCall) shValue {
	o := options(c.args(), "tLUbINmnOT", "--type", 0)
	if o.exact("-n", "-V", "--help") && !strings.Contains(c.name, "fat") {
		return nil
	}
	for _, w := range o.operands {
		if text := w.prefix(); strings.HasPrefix(text, "/") || w.Dynamic || strings.Contains(text, ".") {
			a.diskEffect(c, "mkfs", w)
		}
	}
	return nil
}

// diskEffect destroys what a device, or the image of one, holds.
func (a *analysis) diskEffect(c *shCall, op string, w Word) {
	if w.Dynamic && w.prefix() == "" {
		a.effect(c, Effect{Kind: EffectDevice, Domain: DomainDisk, Op: op, Target: w.Text, Certainty: CertainDynamic, Place: ZoneUnknown})
		return
	}
	a.fileEffect(EffectWrite, w, c.target(op))
}

// partition is every tool that changes disks and volumes.
func (a *analysis) partition(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	words := WordTexts(c.args())
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return WordIn(strings.SplitN(w, "=", 2)[0], list) })
	}
	writes := has(losses.DiskWrites[c.name])
	switch {
	case o.dry() || c.name == "zfs" && o.exact("-n") || has("-n --no-act -t --test") && !has("-w") || has(losses.DiskReads[c.name]) && !writes || len(words) == 0,
		losses.DiskWrites[c.name] != "" && !writes && !o.exact("-a", "-f", "-w", "-S"), WordIn(c.name, "fdisk gdisk sfdisk") && len(o.operands) == 0:
		return printsText(a, c)
	}
	found := false
	for _, w := range o.operands {
		if strings.HasPrefix(w.prefix(), "/dev/") || strings.HasSuffix(w.Text, ".img") || strings.HasPrefix(w.prefix(), "/") && disposableZone(a.zone(c, w)) {
			a.diskEffect(c, c.name, w)
			found = true
		}
	}
	if !found {
		a.resource(c, EffectDevice, DomainDisk, c.name, o.operands)
	}
	return printsText(a, c)
}

// kill sends signals. Process -1 is every process; 1 is init.
func (a *analysis) kill(c *shCall) shValue {
	args := c.args()
	if HasFlag(args, "-l", "-L", "--list", "--help") {
		return printsText(a, c)
	}
	all := c.name == "killall5"
	o := options(args, "sungGPtU", "--signal --user", 0)
	for i, w := range args {
		if o := w.value().origin(); o.kind == "process" && losses.Daemons()[o.from] && !HasFlag(args, "-HUP", "-1", "-0", "-USR1", "-USR2") {
			a.resource(c, EffectDelete, DomainSystem, "service-stop", []Word{NewWord(o.from)})
		}
		switch {
		case w.value().origin() == shOrigin{"process", "*"}, c.name == "killall" && HasFlag(args, "-r", "--regexp") && strings.Trim(w.Text, "^.*+$") == "":
			all = true
		case c.name == "kill" && w.Is("-1") && (i > 0 || len(args) == 1):
			all = all || i == len(args)-1
		case c.name == "kill" && w.Is("1") && !HasFlag(args, "-HUP") && (i > 0 && !args[i-1].Is("-s", "-n") || len(args) == 1),
			WordIn(c.name, "pkill killall") && w.Is("-u", "-U", "--euid") && len(o.operands) == 0, c.name == "pkill" && w.Is(".", ".*", ""):
			all = true
		}
	}
	for _, w := range o.operands {
		if c.name != "kill" && !HasFlag(args, "-0") && losses.Daemons()[strings.ToLower(strings.Trim(strings.TrimSuffix(strings.SplitN(w.Text, " ", 2)[0], ".exe"), "^$"))] {
			a.resource(c, EffectDelete, DomainSystem, "service-stop", []Word{w})
		}
	}
	if all {
		a.does(c, EffectExec, DomainSystem, "kill-all", strings.Join(WordTexts(args), " "))
	}
	return nil
}
