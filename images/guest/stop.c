/* How commands are found, made to end and asked about. */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define AFTER_TIME_LIMIT 2000
/* A process that KILL does not end within this waits in the kernel: its command is told as ended without it. */
#define AFTER_KILL 5000

struct command *command_by_id(uint32_t id) {
  for (struct command *c = commands; c; c = c->next) {
    if (c->has_id && c->id == id) return c;
  }
  return NULL;
}

struct command *command_by_record(const char *name) {
  for (struct command *c = commands; c; c = c->next) {
    if (c->has_record && strcmp(c->record.name, name) == 0) return c;
  }
  return NULL;
}

bool name_is_running(const char *name) { return command_by_record(name) != NULL; }

void command_signal(struct command *c, int signal) {
  if (cgroups_available()) cgroup_signal(c->cgroup, signal);
  else kill(-c->pid, signal);
}

int command_count(struct command *c) {
  if (cgroups_available()) return cgroup_count(c->cgroup);
  return kill(-c->pid, 0) == 0;
}

bool command_is_empty(struct command *c) {
  if (cgroups_available()) return cgroup_remove(c->cgroup);
  return kill(-c->pid, 0) != 0;
}

void command_begin_stop(struct command *c, uint32_t grace) {
  int64_t at = now_ms() + grace;
  if (grace > 0) command_signal(c, SIGTERM);
  if (c->kill_at == 0 || at < c->kill_at) c->kill_at = at;
}

/* Time is the monotonic clock's: it stands still while the machine is suspended, so a restored command keeps the time
   it had left, and setting the clock does not end it. (BOOTTIME differs only by a guest's own sleep, which it never does.) */
void command_check_times(struct command *c) {
  int64_t now = now_ms();
  if (c->stop_at && now >= c->stop_at) {
    c->stop_at = 0;
    c->outcome.timed_out = !c->has_exited;
    if (!c->has_exited) command_begin_stop(c, AFTER_TIME_LIMIT);
  }
  if (c->kill_at && now >= c->kill_at) {
    c->kill_at = 0;
    c->give_up_at = now + AFTER_KILL;
    command_signal(c, SIGKILL);
  }
  if (c->give_up_at && now >= c->give_up_at) {
    c->give_up_at = 0;
    if (c->has_exited) return;
    close_end(&c->status_fd);
    c->has_exited = true;
    c->wait_status = SIGKILL;
  }
}

bool command_stop(uint32_t id, uint32_t grace) {
  struct command *c = command_by_id(id);
  if (!c) return false;
  command_begin_stop(c, grace);
  command_check_times(c);
  return true;
}

static void send_state(uint32_t id, enum record_state state, const struct outcome *outcome) {
  uint8_t bytes[1 + OUTCOME_SIZE];
  bytes[0] = (uint8_t)state;
  outcome_encode(outcome, bytes + 1);
  send_frame(RECORD_STATE, id, bytes, sizeof bytes);
}

void command_record(uint32_t id, struct cursor *cursor) {
  char *name = take_string(cursor, 64);
  if (!is_complete(cursor) || !record_name_is_valid(name)) send_fail(id, BAD_REQUEST, "no record name");
  else {
    struct command *c = command_by_record(name);
    struct outcome outcome = {.exit_code = -1};
    if (c && !c->has_ended) {
      outcome.stdout_bytes = c->outcome.stdout_bytes;
      outcome.stderr_bytes = c->outcome.stderr_bytes;
      outcome.duration_ms = (uint32_t)(now_ms() - c->started_at);
      send_state(id, RECORD_RUNNING, &outcome);
    } else if (c) send_state(id, RECORD_ENDED, &c->outcome);
    else {
      enum record_state state = record_read(name, &outcome);
      send_state(id, state, &outcome);
    }
  }
  free(name);
}

/* Once it has ended, or (a detached one) once nothing it left is there any more. */
void command_tell_waiters(struct command *c) {
  if (!c->has_ended || (c->flags & DETACHED && command_count(c) > 0)) return;
  for (int i = 0; i < c->waiter_count; i++) send_state(c->waiters[i], RECORD_ENDED, &c->outcome);
  c->waiter_count = 0;
}

static void stop_record(uint32_t id, const char *name, uint32_t grace) {
  struct command *c = command_by_record(name);
  struct outcome outcome = {.exit_code = -1};
  if (!c) {
    enum record_state state = record_read(name, &outcome);
    send_state(id, state, &outcome);
  } else if (c->waiter_count == MOST_WAITERS) send_fail(id, BUSY, "others wait for its end already");
  else {
    c->waiters[c->waiter_count++] = id;
    command_begin_stop(c, grace);
    command_check_times(c);
    c->look_at = 0;
    c->look_pause = 0;
    command_tell_waiters(c);
  }
}

void command_stop_record(uint32_t id, struct cursor *cursor) {
  char *name = take_string(cursor, 64);
  uint32_t grace = take_u32(cursor);
  if (is_complete(cursor) && record_name_is_valid(name)) stop_record(id, name, grace);
  else send_fail(id, BAD_REQUEST, "STOP_RECORD is malformed");
  free(name);
}

void commands_let_go(void) {
  for (struct command *c = commands; c; c = c->next) {
    c->has_id = false;
    c->waiter_count = 0;
    if (c->in >= 0) command_stdin_ended(c);
  }
}

void commands_kill_all(void) {
  for (struct command *c = commands; c; c = c->next) command_signal(c, SIGKILL);
}

uint32_t commands_running(void) {
  uint32_t count = 0;
  for (struct command *c = commands; c; c = c->next) count += !c->has_ended;
  return count;
}
