/* A running command: its bytes go both ways, its end is noticed, told and recorded. */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRUNE_EVERY 16
#define LONGEST_PAUSE 1000

struct command *commands;

void command_add(struct command *command) {
  command->next = commands;
  commands = command;
}

void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_ends(struct command *c) {
  close_end(&c->status_fd);
  close_end(&c->in);
  close_end(&c->pipes[0]);
  close_end(&c->pipes[1]);
  queue_free(&c->input);
}

static bool may_read(const struct command *c) { return !c->has_id || (c->credit > 0 && channel_has_room()); }

void commands_poll(void) {
  for (struct command *c = commands; c; c = c->next) {
    c->slots[0] = poll_add(c->status_fd, POLLIN);
    c->slots[1] = c->input.size > 0 ? poll_add(c->in, POLLOUT) : -1;
    for (int i = 0; i < 2; i++) c->slots[2 + i] = may_read(c) ? poll_add(c->pipes[i], POLLIN) : -1;
    if (c->has_ended && !c->settler) poll_by(c->look_at);
    if (c->has_ended) continue;
    poll_by(c->stop_at);
    poll_by(c->kill_at);
    poll_by(c->give_up_at);
  }
}

/* Nothing ran: the host is told why, and no record is kept of what never was. */
static void report_failure(struct command *c, const struct spawn_failure *failure) {
  if (c->has_id && failure->is_directory) send_errno(c->id, failure->error, "working directory");
  else if (c->has_id && (failure->error == ENOENT || failure->error == EACCES || failure->error == ENOTDIR)) {
    send_fail(c->id, NO_SUCH_COMMAND, strerror(failure->error));
  } else if (c->has_id) send_errno(c->id, failure->error, "start");
  c->has_id = false;
  c->has_ended = true;
  close_ends(c);
  if (c->has_record) {
    record_close(&c->record);
    record_remove(&c->record);
    c->has_record = false;
  }
}

static void read_status(struct command *c) {
  struct spawn_failure failure;
  ssize_t n = read(c->status_fd, &failure, sizeof failure);
  if (n < 0 && errno == EINTR) return;
  close_end(&c->status_fd);
  if (n == (ssize_t)sizeof failure) {
    report_failure(c, &failure);
    return;
  }
  if (c->has_id) send_u32(STARTED, c->id, (uint32_t)c->pid);
  if (c->flags & DETACHED) c->has_id = false;
}

static void feed(struct command *c) {
  int result = c->in >= 0 ? queue_flush(&c->input, c->in) : -1;
  if (c->in < 0 || result < 0) {
    /* Nobody reads: the rest is thrown away, as a shell's pipe would, and the sender may finish. */
    c->input.owed += (uint32_t)c->input.size;
    queue_free(&c->input);
    close_end(&c->in);
  }
  if (result == 1 && c->input_ended) close_end(&c->in);
  if (c->has_id) queue_give_credit(&c->input, c->id);
}

void command_stdin_ended(struct command *c) {
  c->input_ended = true;
  feed(c);
}

bool command_stdin(uint32_t id, const uint8_t *bytes, size_t size) {
  struct command *c = command_by_id(id);
  if (!c) return false;
  if (size == 0) c->input_ended = true;
  else if (c->input_ended) return true;
  if (!queue_put(&c->input, bytes, size)) {
    send_fail(id, BAD_REQUEST, "more input than the window");
    c->has_id = false;
    command_begin_stop(c, 0);
    return true;
  }
  feed(c);
  return true;
}

bool command_credit(uint32_t id, uint32_t more) {
  struct command *c = command_by_id(id);
  if (!c) return false;
  c->credit = more > UINT32_MAX - c->credit ? UINT32_MAX : c->credit + more;
  return true;
}

/* Moves at most a frame of what the command printed. */
static void move_output(struct command *c, int i) {
  static uint8_t bytes[MAX_PAYLOAD];
  size_t most = sizeof bytes;
  if (c->has_id && c->credit < most) most = c->credit;
  if (c->is_draining && c->left[i] < most) most = (size_t)c->left[i];
  ssize_t n = read(c->pipes[i], bytes, most);
  if (n < 0 && errno == EINTR) return;
  if (n < 0 && errno == EAGAIN && !c->is_draining) return;
  if (n <= 0) {
    close_end(&c->pipes[i]);
    c->left[i] = 0;
    return;
  }
  if (c->is_draining) c->left[i] -= (uint64_t)n;
  if (i == 0) c->outcome.stdout_bytes += (uint64_t)n;
  else c->outcome.stderr_bytes += (uint64_t)n;
  if (c->has_record) record_append(&c->record, i == 1, bytes, (size_t)n);
  if (!c->has_id) return;
  c->credit -= (uint32_t)n;
  send_frame(i == 0 ? STDOUT : STDERR, c->id, bytes, (size_t)n);
}

static void note_exit(struct command *c) {
  struct outcome *o = &c->outcome;
  o->exit_code = WIFEXITED(c->wait_status) ? WEXITSTATUS(c->wait_status) : -1;
  o->signal = WIFSIGNALED(c->wait_status) ? (uint32_t)WTERMSIG(c->wait_status) : 0;
  o->duration_ms = (uint32_t)(now_ms() - c->started_at);
  if (cgroup_event(c->cgroup, "pids.events", "max") > 0) o->limit = 2;
  if (cgroup_event(c->cgroup, "memory.events", "oom_kill") > 0) o->limit = 1;
  if (!(c->flags & DETACHED)) {
    o->leftovers = (uint32_t)command_count(c);
    if (o->leftovers > 0) command_signal(c, SIGKILL);
  }
  /* What was printed until now is told; a pipe that a child holds open (which may not die) is not waited for. */
  for (int i = 0; i < 2; i++) {
    int there = 0;
    if (c->pipes[i] >= 0 && ioctl(c->pipes[i], FIONREAD, &there) == 0) c->left[i] = (uint64_t)there;
  }
  c->is_draining = true;
}

/* The disk is waited for in a process of its own, so that the loop never is. */
static void settle(struct command *c) {
  static unsigned settled;
  bool is_time = ++settled % PRUNE_EVERY == 0;
  if (c->flags & DETACHED) c->outcome.stdout_bytes = (uint64_t)lseek(c->record.out, 0, SEEK_END);
  pid_t pid = fork();
  if (pid <= 0) record_settle(&c->record, &c->outcome);
  if (pid == 0) {
    if (is_time) records_prune(name_is_running);
    _exit(0);
  }
  if (pid > 0) c->settler = pid;
}

static void end(struct command *c) {
  uint8_t bytes[OUTCOME_SIZE];
  outcome_encode(&c->outcome, bytes);
  if (c->has_id) send_frame(EXITED, c->id, bytes, sizeof bytes);
  c->has_id = false;
  c->has_ended = true;
  close_ends(c);
  if (c->has_record) settle(c);
  if (!(c->flags & DETACHED)) record_close(&c->record);
  command_tell_waiters(c);
}

static void drain(struct command *c) {
  for (int i = 0; i < 2; i++) {
    while (c->left[i] > 0 && may_read(c)) move_output(c, i);
  }
  if (c->left[0] == 0 && c->left[1] == 0) end(c);
}

static void pump(struct command *c) {
  if (poll_result(c->slots[0])) read_status(c);
  if (c->has_ended) return;
  if (poll_result(c->slots[1])) feed(c);
  for (int i = 0; i < 2 && !c->is_draining; i++) {
    if (c->pipes[i] >= 0 && poll_result(c->slots[2 + i])) move_output(c, i);
  }
  command_check_times(c);
  if (c->has_exited && c->status_fd < 0 && !c->is_draining) note_exit(c);
  if (c->is_draining) drain(c);
}

/* True when nothing is left of it: no process, no record being written. */
static bool is_gone(struct command *c) {
  if (!c->has_ended || c->settler) return false;
  if (now_ms() < c->look_at) return false;
  if (command_is_empty(c)) return true;
  if (c->flags & DETACHED && c->record.out >= 0) record_trim(&c->record);
  command_check_times(c);
  c->look_pause = c->look_pause ? c->look_pause * 2 : 5;
  if (c->look_pause > LONGEST_PAUSE) c->look_pause = LONGEST_PAUSE;
  c->look_at = now_ms() + c->look_pause;
  return false;
}

void commands_after_poll(void) {
  for (struct command **at = &commands; *at;) {
    struct command *c = *at;
    if (!c->has_ended) pump(c);
    if (!is_gone(c)) {
      at = &c->next;
      continue;
    }
    command_tell_waiters(c);
    *at = c->next;
    record_close(&c->record);
    free(c);
  }
}

void command_child(pid_t pid, int status) {
  for (struct command *c = commands; c; c = c->next) {
    if (c->settler == pid) c->settler = 0;
    if (c->pid != pid || c->has_exited) continue;
    c->has_exited = true;
    c->wait_status = status;
  }
}
