# SPDX-License-Identifier: MIT
# Completion of zepi's commands and options for bash. Both come from the command's own help.
# shellcheck shell=bash
_zepi()
{
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} words i
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="--help --version $("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *[a-zA-Z].*/\1/p')"
    elif [[ $word == -* ]]; then
        words=$("$program" "$command" --help 2>/dev/null | grep -o -E -e '--[a-z][a-z-]*')
    elif [ "$command" = cache ] && [ "$COMP_CWORD" -eq 2 ]; then
        words='show verify trim clear warm export import'
    elif [[ $command == exec || $command == compare ]] && declare -F _command_offset >/dev/null; then
        # The first word behind the options is a command with a completion of its own.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --adapter | --rounds) i=$((i + 1)) ;;
            --) i=$((i + 1)) && break ;;
            --*) ;;
            *) break ;;
            esac
        done
        [[ ${COMP_WORDS[i - 1]} == --@(adapter|rounds) ]] || _command_offset "$i"
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _zepi zepi
