package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
)

// wordsOf is the line in cobra's bash script that needs a function of the
// package bash-completion.
const wordsOf = `    _get_comp_words_by_ref "$@" cur prev words cword
`

// ownWords replaces wordsOf. Without the package, it joins the words that bash
// has split at = and :.
const ownWords = `    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i n=-1 rest=$COMP_LINE before word
    words=()
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]} before=$rest
        rest=${rest#"${rest%%[![:space:]]*}"}
        if ((n < 0)) || [[ $before != "$rest" || $word != [=:]* && ${words[n]} != *[=:] ]]; then
            n=$((n + 1))
            words[n]=
        fi
        words[n]+=$word
        rest=${rest#"$word"}
        if ((i == COMP_CWORD)); then
            cword=$n
        fi
    done
    cur=${words[cword]} prev=${words[cword > 0 ? cword - 1 : 0]}
`

// completeBash makes the bash script work without the package bash-completion.
func completeBash(root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return
	}
	const needs = "This script depends on the 'bash-completion' package.\nIf it is not installed already, you can install it via your OS's package manager.\n\n"
	bash.Long = strings.Replace(bash.Long, needs, "", 1)
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := root.GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		_, err = strings.NewReplacer(wordsOf, ownWords).WriteString(cmd.OutOrStdout(), script.String())
		return err
	}
}
