# SPDX-License-Identifier: GPL-2.0
# Completion of perfclock for bash. Commands and options come from --help, so
# that this never lags behind; events come from tracefs.

_perfclock_commands()
{
	perfclock --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p'
}

_perfclock_options()
{
	perfclock "$1" --help 2>/dev/null |
		grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
	echo --help
}

_perfclock_events()
{
	local dir
	for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ -r "$dir/available_events" ] && cat "$dir/available_events" &&
			break
	done
	printf '%s\n' cpu-clock task-clock page-faults context-switches \
		cpu-migrations minor-faults major-faults
}

# The word before the cursor, with the colons where bash breaks it.
_perfclock_word()
{
	local line=${COMP_LINE:0:COMP_POINT}
	printf '%s' "${line##*[[:space:]]}"
}

_perfclock()
{
	local cur prev command='' i
	cur=$(_perfclock_word)
	COMPREPLY=()
	[ "$COMP_CWORD" -gt 1 ] && command=${COMP_WORDS[1]}
	# The option whose argument this is: words of one name are many words
	# where it has colons.
	prev=${COMP_LINE:0:COMP_POINT}
	prev=${prev%"$cur"}
	prev=${prev%"${prev##*[![:space:]]}"}
	prev=${prev##*[[:space:]]}
	if [ -z "$command" ]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_perfclock_commands) --help --version" -- "$cur")
		return
	fi
	case $prev in
	-e | --event | --begin | --end)
		# After a comma another name begins.
		local before=
		case $cur in *,*) before=${cur%,*}, cur=${cur##*,} ;; esac
		mapfile -t COMPREPLY < <(compgen -P "$before" -W \
			"$(_perfclock_events)" -- "$cur")
		cur=$before$cur
		# bash replaces only what follows the last colon.
		case $COMP_WORDBREAKS$cur in
		*:*:*)
			for i in "${!COMPREPLY[@]}"; do
				COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*:}"}"}
			done ;;
		esac
		return ;;
	--clock)
		mapfile -t COMPREPLY < <(compgen -W \
			'perf monotonic monotonic_raw boottime' -- "$cur")
		return ;;
	--provider)
		mapfile -t COMPREPLY < <(compgen -W \
			'auto module membarrier cpu-visit backoff=' -- "$cur")
		return ;;
	--sort)
		mapfile -t COMPREPLY < <(compgen -W \
			'total count max mean p99 name' -- "$cur")
		return ;;
	--per)
		mapfile -t COMPREPLY < <(compgen -W 'task comm cpu vcpu' \
			-- "$cur")
		return ;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' \
			-- "$cur")
		return ;;
	esac
	case $command:$cur in
	*:-*)
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_perfclock_options "$command")" -- "$cur") ;;
	stat:*)
		mapfile -t COMPREPLY < <(compgen -W \
			'syscalls kvm irq softirq sched block' -- "$cur") ;;
	help:*)
		mapfile -t COMPREPLY < <(compgen -W "$(_perfclock_commands)" \
			-- "$cur") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}

complete -F _perfclock perfclock
