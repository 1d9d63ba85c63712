package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lists"
)

// shOpt is one option of a command line.
type shOpt struct {
	// name begins with its dashes.
	name  string
	value Word
	// set is true when it has a value.
	set bool
}

// shOpts are the options of a command line and what is left.
type shOpts struct {
	list     []shOpt
	operands []Word
	// dynamic is true when a word that is not known may be an option.
	dynamic bool
	// shortened is true for a tool whose rules hold for shortened options too.
	shortened bool
}

// How options are written.
const (
	// optStop: the first operand ends them.
	optStop = 1 << iota
	// optDash: words after a single dash (-name).
	optDash
	// optShort: long options may be shortened.
	optShort
)

// options reads args. short holds the letters that take a value, long the
// words that do, dashes included and blanks between them.
func options(args []Word, short, long string, how int) shOpts {
	var o shOpts
	for i := 0; i < len(args); i++ {
		w := args[i]
		text := w.prefix()
		if w.Dynamic && text == "" && !w.value()[0].quoted {
			o.dynamic = true
		}
		switch {
		case w.Is("--"):
			o.operands = append(o.operands, args[i+1:]...)
			return o
		case len(text) < 2 || text[0] != '-':
			if how&optStop != 0 {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, w)
		case strings.HasPrefix(text, "--") || how&optDash != 0:
			if how&optShort != 0 {
				w = lengthened(w, long)
			}
			i += o.long(w, args[i+1:], long)
		default:
			i += o.short(w, args[i+1:], short)
		}
	}
	return o
}

// long reads --name, --name=value or --name value, and returns how many words
// after it belong to it.
func (o *shOpts) long(w Word, rest []Word, valued string) int {
	if name, value, ok := w.cut("="); ok {
		o.list = append(o.list, shOpt{name, value, true})
		return 0
	}
	if WordIn(w.Text, valued) && len(rest) > 0 {
		o.list = append(o.list, shOpt{w.Text, rest[0], true})
		return 1
	}
	o.list = append(o.list, shOpt{name: w.Text})
	return 0
}

// lengthened is a shortened option as the only one of list that it can be.
func lengthened(w Word, list string) Word {
	name, value, valued := w.cut("=")
	whole := ""
	for _, l := range strings.Fields(list) {
		if l == name || strings.HasPrefix(l, name) && whole != "" {
			return w
		}
		if strings.HasPrefix(l, name) {
			whole = l
		}
	}
	switch {
	case whole == "" || len(name) < 4:
		return w
	case !valued:
		return NewWord(whole)
	}
	return append(shLiteral(whole+"="), value.value()...).word()
}

// short reads a bundle of letters.
func (o *shOpts) short(w Word, rest []Word, valued string) int {
	text := w.prefix()
	for j := 1; j < len(text); j++ {
		name := "-" + text[j:j+1]
		if strings.IndexByte(valued, text[j]) < 0 {
			o.list = append(o.list, shOpt{name: name})
			continue
		}
		if value := w.after(j + 1); value.Text != "" || value.Dynamic {
			o.list = append(o.list, shOpt{name, value, true})
			return 0
		}
		if len(rest) > 0 {
			o.list = append(o.list, shOpt{name, rest[0], true})
			return 1
		}
		o.list = append(o.list, shOpt{name: name})
	}
	return 0
}

// WordIn reports whether word is one of list, which has blanks between them.
func WordIn(word, list string) bool { return losses.In(word, list) }

// has reports whether one of the options is there; long ones may be shortened,
// as getopt_long lets them be.
//
//go:noinline
func (o *shOpts) has(names ...string) bool {
	return slices.ContainsFunc(o.list, func(opt shOpt) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return opt.name == name || len(opt.name) > 3 && strings.HasPrefix(opt.name, "--") && strings.HasPrefix(name, opt.name)
		})
	})
}

// exact is has without shortened names.
//
//go:noinline
func (o *shOpts) exact(names ...string) bool {
	return slices.ContainsFunc(o.list, func(opt shOpt) bool { return lists.Has(names, opt.name) })
}

// value is the value of the first of the options that has one.
//
//go:noinline
func (o *shOpts) value(names ...string) (Word, bool) {
	i := slices.IndexFunc(o.list, func(opt shOpt) bool { return opt.set && lists.Has(names, opt.name) })
	if i < 0 {
		return Word{}, false
	}
	return o.list[i].value, true
}

// values are those of every one of the options.
func (o *shOpts) values(names ...string) []Word {
	var out []Word
	for _, opt := range o.list {
		if opt.set && lists.Has(names, opt.name) {
			out = append(out, opt.value)
		}
	}
	return out
}

// operand is the text of the n-th operand, "" when there is none.
//
//go:noinline
func (o *shOpts) operand(n int) string {
	if n < 0 || n >= len(o.operands) {
		return ""
	}
	return o.operands[n].Text
}

// rest are the operands from the n-th on.
//
//go:noinline
func (o *shOpts) rest(n int) []Word { return o.operands[min(n, len(o.operands)):] }

// first reports whether the operands begin with these words.
func (o *shOpts) first(words ...string) bool {
	return len(o.operands) >= len(words) && slices.EqualFunc(o.operands[:len(words)], words, func(w Word, text string) bool { return w.Is(text) })
}

// texts are the words' texts.
//
//go:noinline
func WordTexts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}
