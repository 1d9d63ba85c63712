package losses

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// rewriters are programs that write the files they are given: their names, the words of
// which one must be there if that is not always so, and those with which they only look.
const rewriters = "prettier|--write -w;eslint stylelint oxlint biome standard xo swiftlint markdownlint markdownlint-cli2 ansible-lint|--fix --write --apply;ktlint|-F --format;gofmt goimports gofumpt shfmt buf codespell|-w --write --write-changes;" +
	"clang-format yapf autoflake autopep8 docformatter pg_format google-java-format|-i --in-place --inplace --replace;rubocop standardrb erb_lint|-A -a -x --autocorrect --autocorrect-all --auto-correct --auto-correct-all --fix;" +
	"jq|-i --in-place;json|-I;yq tomlq xq|-i --in-place --inplace -iy -yi -it -ti -ix;sops|-i --in-place;xmlstarlet|-L --inplace;crudini toml|--set --del set unset;dasel|put delete;gio|trash;ansible-vault|encrypt decrypt rekey;" +
	"ast-grep|-U --update-all;comby|-i -in-place --in-place;kustomize|edit;hg svn|revert update up merge|--dry-run;" +
	"terraform tofu packer cue taplo deno nomad dart zig mix|fmt format|-check --check -write=false -o=none --output=none --check-formatted --dry-run;ruff sqlfluff php-cs-fixer|format fix --fix|--check --diff --dry-run;" +
	"black isort rustfmt mdformat pint stylua nixfmt alejandra sqlfmt djlint swiftformat buildifier||--check --check-only -c --diff --dry-run --lint --test -mode=check -mode=diff --mode=check --mode=diff;yamlfmt||-lint -dry;" +
	"sd rpl||-p --preview --dry-run;rename prename file-rename perl-rename||-n -nv -vn --nono --no-act --dry-run;gzip bzip2 xz gunzip bunzip2 unxz||-c -dc -cd -kc -dkc -cdk -l -lv -t -tv --stdout --to-stdout --list --test;" +
	"dos2unix unix2dos mac2unix||-i --info -ic;phpcbf ed ex sponge patchelf strip unlink trash trash-put"

// Rewrites reports whether a program writes the files among its words.
func Rewrites(name string, words []string) bool {
	if len(words) > 1 && words[0] == "-m" && strings.HasPrefix(name, "python") {
		name, words = words[1], words[2:]
	}
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return In(w, list) })
	}
	for row, rest, _ := spell.Cut(rewriters, ";"); row != ""; row, rest, _ = spell.Cut(rest, ";") {
		if names, with, _ := spell.Cut(row, "|"); In(name, names) {
			need, looks, _ := spell.Cut(with, "|")
			return (need == "" || has(need)) && !has(looks)
		}
	}
	return false
}

// Rubbish reports whether a pattern of names means what tools make again, or leave lying about.
func Rubbish(name string) bool {
	return strings.HasPrefix(name, "*.") && In(name[2:], "pyc pyo pyd class o obj orig rej log tmp temp bak swp swo tsbuildinfo") ||
		In(name, "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .next .nuxt .turbo .parcel-cache .svelte-kit .eslintcache .ds_store thumbs.db *~ .*.swp")
}
