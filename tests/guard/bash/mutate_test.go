//go:build linux

package bash

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/shell"
)

// mutant writes variants of a command line that mean the same to bash.
type mutant struct {
	r *rand.Rand
	// at is where the line runs, for the analysis that finds its commands.
	at shell.At
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (m *mutant) pick(list []string) string { return list[m.r.IntN(len(list))] }

// whole puts the line into another.
func (m *mutant) whole(line string) string { return wrapped(m.pick(wrap), line) }

var (
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=-]+$`)
	plainName = regexp.MustCompile(`^[a-z][a-z0-9_.-]*$`)
	bundle    = regexp.MustCompile(`^-[a-zA-Z]{2,5}$`)
)

// span is a word of a simple command in a line.
type span struct{ from, to int }

// simple finds a simple command of the line whose words stand there as they
// are: the spans of its words, the name first.
func (m *mutant) simple(line string) []span {
	var found [][]span
	for _, c := range shell.Parse(line, m.at).Commands {
		if c.Offset >= len(line) || !plainName.MatchString(c.Name) {
			continue
		}
		words := scan(line, c.Offset)
		for len(words) > 0 && strings.Contains(line[words[0].from:words[0].to], "=") {
			words = words[1:]
		}
		if len(words) > 0 && line[words[0].from:words[0].to] == c.Name && slices.Contains(stubs, c.Name) {
			found = append(found, words)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[m.r.IntN(len(found))]
}

var stubs = stubNames()

// scan splits the simple command at offset into words, up to the first
// character that would end it.
func scan(line string, offset int) []span {
	var words []span
	from, quoted := -1, byte(0)
	i := offset
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
			continue
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quoted = c
		case strings.IndexByte(" \t", c) >= 0:
			if from >= 0 {
				words = append(words, span{from, i})
			}
			from = -1
			continue
		case strings.IndexByte(";&|<>()\n`$#{}", c) >= 0:
			if from >= 0 {
				words = append(words, span{from, i})
			}
			return words
		}
		if from < 0 {
			from = i
		}
	}
	if from >= 0 && i <= len(line) {
		words = append(words, span{from, i})
	}
	return words
}

// names are ways to write a name: @N is the name, @H its first letter, @T the
// rest, @X and @O the first letter in hex and octal.
var names = []string{`@H\@T`, `'@N'`, `"@N"`, `@H''@T`, `@H"@T"`, `"@H"@T`, `$'\x@X@T'`, `$'\@O@T'`, "@H\\\n@T", `${NOPE}@N`, `$(echo @N)`, "`echo @N`", `${NOPE:-@N}`, `\@N`, `command @N`, `env @N`,
	`env A=1 @N`, `sudo @N`, `sudo -n -- @N`, `nohup @N`, `timeout 5 @N`, `timeout -k 1 5s @N`, `nice @N`, `nice -n 3 @N`, `A=1 @N`, `stdbuf -o0 @N`, `setsid -w @N`, `/.jail/bin/@N`,
	`/.jail/bin/@H[@T]*`, `busybox @N`, `doas @N`, `$(printf %s @N)`, `$'@N'`, `$"@N"`, `"${NOPE-@N}"`, `command -p -- @N`, `env -i PATH="$PATH" @N`, `time @N`, `sudo env @N`, `time -p @N`,
	`ionice @N`, `chrt -o 0 @N`}

// heads are names set before the line: what goes before, and the name.
var heads = [][2]string{{"C=@N; ", "$C"}, {"C=@N\n", "${C}"}, {"A=@H B=@T; ", "$A$B"}, {"printf -v C %s @N; ", "\"$C\""}, {"C=(@N); ", "\"${C[0]}\""}, {"export C=@N; ", "\"$C\""},
	{"read -r C <<< @N; ", "$C"}, {"declare C=@N; ", "$C"}, {"C=x@Nx; ", "${C:1:@n}"}, {"C=z@N; ", "${C#z}"}, {"C=$(echo @N); ", "$C"}, {"c=C; C=@N; ", "${!c}"}, {"for C in @N; do :; done; ", "$C"},
	{"set -- @N; ", "$1"}}

// word changes how one word of a simple command is written.
func (m *mutant) word(line string) string {
	words := m.simple(line)
	if words == nil {
		return line
	}
	name := line[words[0].from:words[0].to]
	put := func(w span, text string) string { return line[:w.from] + text + line[w.to:] }
	fill := strings.NewReplacer("@n", strconv.Itoa(len(name)), "@N", name, "@H", name[:1], "@T", name[1:], "@X", strconv.FormatInt(int64(name[0]), 16), "@O", strconv.FormatInt(int64(name[0]), 8))
	switch m.r.IntN(10) {
	case 0, 1, 2, 3:
		return put(words[0], fill.Replace(m.pick(names)))
	case 4, 5:
		h := heads[m.r.IntN(len(heads))]
		return fill.Replace(h[0]) + put(words[0], fill.Replace(h[1]))
	case 6:
		if text := m.all(line, words); text != "" {
			return line[:words[0].from] + text + line[words[len(words)-1].to:]
		}
	}
	if len(words) < 2 {
		return put(words[0], "'"+name+"'")
	}
	w := words[1+m.r.IntN(len(words)-1)]
	head, text := m.argument(line[w.from:w.to])
	return head + put(w, text)
}

// all writes the whole simple command in another way, if its words are plain.
func (m *mutant) all(line string, words []span) string {
	var texts []string
	for _, w := range words {
		text := line[w.from:w.to]
		if !plainWord.MatchString(text) {
			return ""
		}
		texts = append(texts, text)
	}
	if len(texts) < 2 {
		return ""
	}
	spaced := strings.Join(texts, " ")
	return m.pick([]string{"{" + strings.Join(texts, ",") + "}", strings.Join(texts, "${IFS}"), "eval " + spaced, "eval " + quote(spaced), "$(echo " + spaced + ")", "bash -c " + quote(spaced),
		"echo " + strings.Join(texts[1:], " ") + " | xargs " + texts[0], "bash -c '\"$@\"' _ " + spaced, spaced + " </dev/null", spaced + " 2>&1", "find . -maxdepth 0 -exec " + spaced + " \\;", "xargs " + spaced + " </dev/null"})
}

// argument writes a flag or an operand in another way: the text that goes
// before the line, and the word.
func (m *mutant) argument(text string) (head, word string) {
	switch {
	case bundle.MatchString(text):
		split := "-" + strings.Join(strings.Split(text[1:], ""), " -")
		return m.either([][2]string{{"", split}, {"", text[:2] + "''" + text[2:]}, {"", `"` + text + `"`}, {"F=" + text + "; ", "$F"}, {"", `\` + text}, {"", "$'" + text + "'"}, {"", "${F:-" + text + "}"}, {"F=(" + split + "); ", `"${F[@]}"`}})
	case strings.HasPrefix(text, "~"):
		return m.either([][2]string{{"", `"$HOME"` + text[1:]}, {"", "${HOME}" + text[1:]}, {"", "$HOME" + text[1:]}, {"D=" + text + "; ", "$D"}, {"", "/home/dev" + text[1:]}})
	case strings.HasPrefix(text, "/") && plainWord.MatchString(text):
		return m.either([][2]string{{"", "'" + text + "'"}, {"", "/" + text}, {"", "/." + text}, {"", "/tmp/.." + text}, {"D=" + text + "; ", `"$D"`}, {"", `"` + text[:1] + `"` + text[1:]}, {"", "${NOPE}" + text},
			{"D=" + text[1:] + "; ", "/$D"}, {"", "$(echo " + text + ")"}, {"", "{" + text + ",/nope}"}, {"", "$(printf '%s' " + text + ")"}, {"D=" + text + "/sub; ", `"${D%/sub}"`}})
	case plainWord.MatchString(text):
		return m.either([][2]string{{"", "'" + text + "'"}, {"", `"` + text + `"`}, {"", text[:1] + "''" + text[1:]}, {"W=" + text + "; ", `"$W"`}, {"W=" + text + "; ", "$W"}, {"", "${W:-" + text + "}"}, {"", "$(echo " + text + ")"}, {"", "\\\n" + text}, {"", "${NOPE}" + text}})
	}
	return "", text
}

func (m *mutant) either(ways [][2]string) (head, word string) {
	way := ways[m.r.IntN(len(ways))]
	return way[0], way[1]
}

// vary is a variant of a line: a word written differently, the whole wrapped,
// or several of that.
func (m *mutant) vary(line string) string {
	switch m.r.IntN(10) {
	case 0, 1, 2, 3:
		return m.word(line)
	case 4, 5:
		return m.whole(line)
	case 6:
		return m.word(m.word(line))
	case 7, 8:
		return m.whole(m.word(line))
	}
	return m.whole(m.whole(line))
}
