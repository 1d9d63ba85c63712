package lib.git

import data.lib.shell

lines contains words if {
	some segment in shell.segments
	words := shell.words(segment)
	words[0] == "git"
}

subcommand(words) := first if {
	rest := [w | some i, w in words; i > 0; not startswith(w, "-")]
	first := rest[0]
}

pushes contains words if {
	some words in lines
	subcommand(words) == "push"
}

forced(words) if {
	some w in words
	w in {"-f", "--force", "--force-with-lease"}
}
