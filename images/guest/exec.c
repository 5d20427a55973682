/* EXEC: takes a call apart and starts its command. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
  uint8_t flags;
  uint32_t limit_ms;
  char *record, *directory;
  char **argv, **env;
  size_t argc, env_count;
};

static char **take_strings(struct cursor *c, size_t *count) {
  size_t n = take_u16(c);
  char **strings = must_alloc((n + 1) * sizeof *strings);
  *count = 0;
  for (size_t i = 0; i < n && !c->failed; i++) {
    char *s = take_string(c, MAX_PAYLOAD);
    if (s) strings[(*count)++] = s;
  }
  strings[*count] = NULL;
  return strings;
}

static void free_strings(char **strings, size_t count) {
  for (size_t i = 0; i < count; i++) free(strings[i]);
  free(strings);
}

static bool take_request(struct request *r, struct cursor *c) {
  memset(r, 0, sizeof *r);
  r->flags = take_u8(c);
  r->limit_ms = take_u32(c);
  r->record = take_string(c, 64);
  r->directory = take_string(c, PATH_MAX - 1);
  r->argv = take_strings(c, &r->argc);
  r->env = take_strings(c, &r->env_count);
  return is_complete(c) && r->argc > 0;
}

static void free_request(struct request *r) {
  free(r->record);
  free(r->directory);
  free_strings(r->argv, r->argc);
  free_strings(r->env, r->env_count);
}

static const char *why_refused(const struct request *r) {
  if (r->flags & ~(WITH_RECORD | WITH_STDIN | AS_ROOT | DETACHED)) return "unknown flags";
  if (r->flags & DETACHED && !(r->flags & WITH_RECORD)) return "DETACHED needs RECORD";
  if (r->flags & DETACHED && r->flags & WITH_STDIN) return "a detached command has no standard input";
  if (!(r->flags & WITH_RECORD) != !*r->record) return "RECORD and a record name go together";
  if (*r->record && !record_name_is_valid(r->record)) return "a record name is 1-64 of a-z, 0-9, -";
  for (size_t i = 0; i < r->env_count; i++) {
    if (!strchr(r->env[i] + (*r->env[i] != 0), '=')) return "an environment entry is NAME=value";
  }
  return NULL;
}

/* A program that opens /dev/stdin or /dev/stdout opens the pipe anew, which its owner alone may. */
static bool open_pipe(const struct command *command, int pair[2]) {
  if (pipe2(pair, O_CLOEXEC) != 0) return false;
  if (user_account.is_set && !(command->flags & AS_ROOT) && fchown(pair[0], user_account.uid, user_account.gid) != 0) {
    say("pipe: %s", strerror(errno));
  }
  return true;
}

/* The ends for the program in `theirs`; ours are in the command. False with errno. */
static bool open_ends(struct command *command, int theirs[3]) {
  int pair[2];
  theirs[0] = theirs[1] = theirs[2] = -1;
  if (command->flags & WITH_STDIN) {
    if (!open_pipe(command, pair)) return false;
    theirs[0] = pair[0];
    command->in = pair[1];
    fcntl(command->in, F_SETFL, O_NONBLOCK);
  } else if ((theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) {
    return false;
  }
  if (command->flags & DETACHED) {
    theirs[1] = fcntl(command->record.out, F_DUPFD_CLOEXEC, 3);
    theirs[2] = fcntl(command->record.out, F_DUPFD_CLOEXEC, 3);
    return theirs[1] >= 0 && theirs[2] >= 0;
  }
  for (int i = 0; i < 2; i++) {
    if (!open_pipe(command, pair)) return false;
    theirs[1 + i] = pair[1];
    command->pipes[i] = pair[0];
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
  }
  return true;
}

static pid_t start(struct command *command, const struct request *r, const char *directory) {
  int theirs[3];
  pid_t pid = -1;
  bool as_root = r->flags & AS_ROOT;
  char **env = command_environment(r->env, r->env_count, as_root);
  if (open_ends(command, theirs)) {
    struct spawn spawn = {r->argv, env, directory, cgroup_make(command->cgroup) ? command->cgroup : NULL,
                          as_root ? NULL : &user_account, theirs[0], theirs[1], theirs[2], &command->status_fd};
    pid = spawn_program(&spawn);
  }
  int error = errno;
  for (int i = 0; i < 3; i++) {
    if (theirs[i] >= 0) close(theirs[i]);
  }
  free(env);
  errno = error;
  return pid;
}

static struct command *new_command(uint32_t id, uint8_t flags) {
  static uint32_t number;
  struct command *command = must_alloc(sizeof *command);
  memset(command, 0, sizeof *command);
  command->id = id;
  command->has_id = true;
  command->flags = flags;
  command->credit = WINDOW;
  command->status_fd = command->in = command->pipes[0] = command->pipes[1] = -1;
  command->record.out = command->record.err = -1;
  snprintf(command->cgroup, sizeof command->cgroup, "%u", ++number);
  return command;
}

static void give_up(struct command *command) {
  int fds[] = {command->status_fd, command->in, command->pipes[0], command->pipes[1]};
  for (size_t i = 0; i < 4; i++) {
    if (fds[i] >= 0) close(fds[i]);
  }
  if (command->has_record) {
    record_close(&command->record);
    record_remove(&command->record);
  }
  cgroup_remove(command->cgroup);
  free(command);
}

static void begin(uint32_t id, const struct request *r, const char *directory) {
  struct command *command = new_command(id, r->flags);
  int error = *r->record ? record_create(&command->record, r->record, r->flags & DETACHED) : 0;
  if (error == EEXIST) send_fail(id, BUSY, "there is a record of this name: a command is run once");
  else if (error) send_errno(id, error, "record");
  command->has_record = *r->record && !error;
  if (!error) {
    command->started_at = now_ms();
    command->stop_at = r->limit_ms ? command->started_at + r->limit_ms : 0;
    command->pid = start(command, r, directory);
    if (command->pid < 0) send_errno(id, error = errno, "start");
  }
  if (error) give_up(command);
  else command_add(command);
}

void command_exec(uint32_t id, struct cursor *c) {
  struct request r;
  char directory[PATH_MAX];
  const char *why = take_request(&r, c) ? why_refused(&r) : "EXEC is malformed";
  int count = 0;
  for (struct command *other = commands; other; other = other->next) count++;
  if (why) send_fail(id, BAD_REQUEST, why);
  else if (count >= MOST_COMMANDS) send_fail(id, BUSY, "too many commands run");
  else if (!resolve_path(directory, *r.directory ? r.directory : ".")) send_fail(id, BAD_PATH, "working directory");
  else begin(id, &r, directory);
  free_request(&r);
}
