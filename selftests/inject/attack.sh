# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Runs in the guest, sourced by each attack's job: what attacks have in common.
# Loads start a moment after the events are on: emulators trip over code that
# is patched while another CPU runs it.

export PATH="/test:$PATH"
P=/sys/module/perf_clock_inject/parameters

# set_inject WHERE ONE_IN MIN_US MAX_US [CPUS]: delay records; WHERE 0: stop.
set_inject()
{
	[ -d $P ] || insmod /vm/perf_clock_inject.ko || exit 1
	echo "${2:-1000}" >$P/one_in
	echo "${3:-1}" >$P/min_us
	echo "${4:-1000}" >$P/max_us
	echo "${5:-0xffffffff}" >$P/cpus
	echo "$1" >$P/enable
}

# load [PAUSE_US]: CPUs 0 to 2 call uname, as fast as they can or with a sleep
# between calls, until end_load; in bigger guests, too, so that the reader has
# room.
load()
{
	for cpu in 0 1 2; do
		# shellcheck disable=SC2086 # no pause: no word
		(sleep 1; exec uname_loop "$cpu" $1) &
	done
}

end_load()
{
	killall uname_loop 2>/dev/null
	[ ! -d $P ] || echo 0 >$P/enable
}

# compare NAME ARGUMENT...: every policy on one capture, to /tmp/NAME.json. The
# load leaves the reader time for short rounds: what is late by a round or two
# is what tells policies apart.
compare()
{
	name=$1
	shift
	load 100
	taskset 8 perfclock compare -a --interval 0 "--json=/tmp/$name.json" "$@"
	status=$?
	end_load
	[ ! -d $P ] || echo "$name: $(cat $P/delays) delays so far"
	return $status
}

# trace NAME SECONDS TROUBLE ARGUMENT...: a session with TROUBLE, a function,
# running beside it; the summary to /tmp/NAME.json. Order that holds without the
# trouble tells nothing: the function fails if it could not make it.
trace()
{
	name=$1
	seconds=$2
	trouble=$3
	shift 3
	load
	perfclock trace -a --duration "$seconds" "--json=/tmp/$name.json" \
		"$@" >/tmp/$name.txt &
	pid=$!
	sleep 2
	made=0
	$trouble || made=1
	wait $pid
	status=$?
	end_load
	if [ $made != 0 ]; then
		echo "$name: $trouble failed: nothing was attacked"
		status=1
	fi
	# Believe no summary: the lines themselves must be in order.
	trace_facts "/tmp/$name.txt" 2 >/tmp/$name.facts || status=1
	tail -n 1 /tmp/$name.facts
	grep -q '^facts: .* late=0 ' /tmp/$name.facts || status=1
	rm -f "/tmp/$name.txt"
	return $status
}

nothing()
{
	:
}

hold_2s()
{
	[ -d $P ] || insmod /vm/perf_clock_inject.ko || exit 1
	echo 2000 >$P/hold_ms
}

# A CPU goes and comes, all the time; the last comes back in the end.
hotplug()
{
	for _ in 1 2 3 4 5; do
		for cpu in 3 2; do
			echo 0 >/sys/devices/system/cpu/cpu$cpu/online ||
				return 1
			usleep 300000
			echo 1 >/sys/devices/system/cpu/cpu$cpu/online ||
				return 1
			usleep 300000
		done
	done
}

# Through all clock sources of the machine and back; one alone is no change.
clocksources()
{
	cs=/sys/devices/system/clocksource/clocksource0
	first=$(cat $cs/current_clocksource)
	changes=0
	for source in $(cat $cs/available_clocksource) "$first"; do
		before=$(cat $cs/current_clocksource)
		echo "$source" >$cs/current_clocksource
		now=$(cat $cs/current_clocksource)
		echo "clock source: $now"
		[ "$now" = "$before" ] || changes=$((changes + 1))
		sleep 1
	done
	[ $changes -ge 2 ]
}

# The machine was told that its TSC is unstable: the perf clock, too, is then.
unstable()
{
	sleep 2
	grep -qx unstable /sys/class/misc/perf_clock/clock_state
}

# NTP's slope at both ends, again and again: +-500 ppm and +-10 % by tick.
ntp_slope()
{
	for _ in 1 2 3 4 5 6; do
		adjtimex -f 32768000 -t 11000 >/dev/null || return 1
		usleep 300000
		adjtimex -f -32768000 -t 9000 >/dev/null || return 1
		usleep 300000
	done
	adjtimex -f 0 -t 10000 >/dev/null
}

settimeofday_jumps()
{
	for year in 2001 2031 1999 2026; do
		date -s "$year-01-01 00:00:00" >/dev/null || return 1
		usleep 300000
	done
}

# Many who ask for expedited grace periods, with and without the right to.
expedite_storm()
{
	pids=
	for _ in 1 2 3 4 5 6 7 8; do
		perfclock trace -e sched:sched_process_exit -a --expedited \
			--duration 4 >/dev/null &
		pids="$pids $!"
	done
	bad=0
	for one in $pids; do
		wait "$one" || bad=1
	done
	return $bad
}

# crowd SECONDS node|zero: 16 processes of nobody's.
crowd()
{
	su nobody -s /bin/sh -c "crowd_node $1 $2" || touch /tmp/crowd.failed
}

# crowd_attack NAME ARGUMENT...: a session beside processes that call something
# else, and one beside as many that call the node; to /tmp/NAME.json
crowd_attack()
{
	out=$1
	shift
	trace calm 10 "crowd 7 zero" "$@" &&
		trace crowded 10 "crowd 7 node" "$@" || return 1
	printf '{"calm": %s, "crowded": %s}\n' "$(cat /tmp/calm.json)" \
		"$(cat /tmp/crowded.json)" >"/tmp/$out.json"
	[ ! -e /tmp/crowd.failed ]
}
