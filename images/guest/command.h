/* A command as its three parts see it: exec.c starts it, command.c moves its bytes and ends it, stop.c makes it end. */
#ifndef VITTO_COMMAND_H
#define VITTO_COMMAND_H

#include "agent.h"

enum { WITH_RECORD = 1, WITH_STDIN = 2, DETACHED = 8 };

#define MOST_COMMANDS 256
#define MOST_WAITERS 8

struct command {
  struct command *next;
  uint32_t id;
  bool has_id; /* false once the host has let go of it, or need not hear of it */
  uint8_t flags;
  pid_t pid;
  char cgroup[24];
  int status_fd; /* open until the program runs */
  int in;
  struct queue input;
  bool input_ended;
  int pipes[2]; /* stdout, stderr */
  uint32_t credit;
  int64_t started_at, stop_at, kill_at, give_up_at; /* ms; 0: never */
  bool has_exited;
  int wait_status;
  bool is_draining, has_ended; /* after the exit: the rest of the pipes; nothing more is said of it */
  uint64_t left[2];            /* what of the pipes was there at the exit and is not read yet */
  bool has_record;
  struct record record;
  struct outcome outcome;
  pid_t settler; /* the process that puts the record on the disk */
  uint32_t waiters[MOST_WAITERS]; /* ids of STOP_RECORD */
  int waiter_count;
  int64_t look_at; /* when to try again to remove its cgroup */
  int look_pause;
  int slots[4];
};

extern struct command *commands;

struct command *command_by_record(const char *name);
struct command *command_by_id(uint32_t id);
void command_add(struct command *command);
void command_signal(struct command *command, int signal);
void command_begin_stop(struct command *command, uint32_t grace);
void command_check_times(struct command *command);
void command_tell_waiters(struct command *command);
/* Closes what is open, and forgets it. */
void close_end(int *fd);
/* Nothing more comes for its standard input. */
void command_stdin_ended(struct command *command);
bool name_is_running(const char *name);
/* The processes that are there still; without cgroups those of its process group, at most 1. */
int command_count(struct command *command);
/* True when no process is left. */
bool command_is_empty(struct command *command);

#endif
