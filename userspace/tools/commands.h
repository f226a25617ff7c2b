/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands, one file each. argv[0] is the subcommand's name; the
 * return value is the exit status (enum tool_exit). To add one: declare it
 * here and give it a line in main.c.
 */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_now(int argc, char **argv);
int cmd_sort(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_trace(int argc, char **argv);

#endif /* TOOLS_COMMANDS_H */
