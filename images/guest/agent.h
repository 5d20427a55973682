/* What the parts of the guest agent know of each other. The protocol is in PROTOCOL.md. */
#ifndef VITTO_AGENT_H
#define VITTO_AGENT_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_PAYLOAD 65536u
#define WINDOW 262144u
/* What a reader gives back at once: a quarter of the window, so that a sender never runs dry for want of a small frame. */
#define CREDIT_STEP 65536u

enum to_guest {
  HELLO = 0x01, CREDIT = 0x02, PING = 0x03,
  EXEC = 0x10, STDIN = 0x11, STOP = 0x12, RECORD = 0x13, STOP_RECORD = 0x14,
  READ = 0x21, WRITE = 0x22, CONTENT = 0x23, LIST = 0x24,
  RESUME = 0x30, SYNC = 0x31, SHUTDOWN = 0x32,
  CONNECT = 0x40, BYTES = 0x41, END_OF_FILE = 0x42, RESET = 0x43, ACCEPTED = 0x44,
};

enum to_host {
  READY = 0x81, CREDIT_BACK = 0x82, PONG = 0x83,
  STARTED = 0x90, STDOUT = 0x91, STDERR = 0x92, EXITED = 0x93, RECORD_STATE = 0x94,
  FAIL = 0x9F,
  FILE_SIZE = 0xA0, DATA = 0xA1, END = 0xA2, WRITTEN = 0xA3, ENTRIES = 0xA4,
  RESUMED = 0xB0, SYNCED = 0xB1,
  ACCEPTED_BACK = 0xC0, BYTES_BACK = 0xC1, END_OF_FILE_BACK = 0xC2, RESET_BACK = 0xC3, OPEN = 0xC4,
};

enum code {
  BAD_PATH = 1, NOT_FOUND, NOT_A_FILE, NOT_A_DIRECTORY, READ_ONLY, DENIED, TOO_LARGE, NO_SPACE,
  CHANGED, BUSY, NO_SUCH_COMMAND, UNSUPPORTED, IO_ERROR, BAD_REQUEST,
};

#define AS_ROOT 4 /* the flag ROOT of EXEC, READ and WRITE */

/* Where things are; other than the defaults only in tests on an ordinary host. */
struct options {
  const char *socket;    /* listen here instead of on the virtio-serial port */
  bool stdio;            /* or speak over stdin and stdout */
  const char *root;      /* put before /etc/...; when set, the clock and the random pool are left alone */
  const char *home;
  const char *user;
  const char *records;
  const char *run;       /* holds git.sock */
  const char *cgroup;
  unsigned proxy_port;   /* 0: no listener */
};
extern struct options options;

/* --- frames.c: the channel */
struct channel_view { int in, out; };
void channel_open(int in, int out);
void channel_close(void);
bool channel_is_open(void);
struct channel_view channel_view(void);
/* Reads what is there and hands whole frames to `on_frame`: 1 when something came, 0 when not, -1 when the other side has gone. */
int channel_read(void (*on_frame)(uint8_t type, uint32_t id, const uint8_t *payload, size_t size));
/* Writes what it can; false when the other side has gone. */
bool channel_write(void);
bool channel_has_output(void);
/* True while there is room for data: who produces data asks first; control frames always go. */
bool channel_has_room(void);
void channel_forget_output(void);
void send_frame(uint8_t type, uint32_t id, const void *payload, size_t size);
void send_empty(uint8_t type, uint32_t id);
void send_u32(uint8_t type, uint32_t id, uint32_t value);
void send_fail(uint32_t id, enum code code, const char *message);
void send_errno(uint32_t id, int error, const char *what);

/* --- payload.c: reading and building payloads */
struct cursor { const uint8_t *at; size_t left; bool failed; };
uint8_t take_u8(struct cursor *c);
uint16_t take_u16(struct cursor *c);
uint32_t take_u32(struct cursor *c);
uint64_t take_u64(struct cursor *c);
const uint8_t *take_bytes(struct cursor *c, size_t size);
/* A `str` as a NUL-terminated copy to be freed; null (and failed) when it is cut short, holds NUL or is longer than `limit`. */
char *take_string(struct cursor *c, size_t limit);
/* True when everything was there and nothing is left over. */
bool is_complete(const struct cursor *c);
size_t put_u32(uint8_t *at, uint32_t value);
size_t put_u64(uint8_t *at, uint64_t value);

/* --- queue.c: bytes that wait to be written, at most a window of them */
struct queue { uint8_t *bytes; size_t start, size; uint32_t owed; };
/* False when the sender has gone beyond its window. */
bool queue_put(struct queue *q, const void *bytes, size_t size);
/* Writes what `fd` takes: 1 all is written, 0 some is left, -1 with errno. */
int queue_flush(struct queue *q, int fd);
/* Tells the sender what has left, once that is worth a frame. */
void queue_give_credit(struct queue *q, uint32_t id);
void queue_free(struct queue *q);

/* --- account.c: whom commands and file calls run as */
struct account { uid_t uid; gid_t gid; gid_t groups[64]; int group_count; bool is_set; };
/* Reads /etc/passwd and /etc/group; not set when this process is not root or there is no such user. */
void account_load(struct account *account, const char *user);
/* File permissions of the account from now on (fsuid); `act_as_self` ends it. */
void act_as(const struct account *account);
void act_as_self(void);
extern struct account user_account;

/* --- cgroups.c */
void cgroups_prepare(void);
bool cgroups_available(void);
/* All of these take the name below the agent's cgroup; without cgroups they do nothing. */
bool cgroup_make(const char *name);
void cgroup_enter(const char *name);
int cgroup_count(const char *name);
void cgroup_signal(const char *name, int signal);
/* False while there is a process in it. */
bool cgroup_remove(const char *name);
/* The number after `key` in a file of the cgroup; 0 when it is not there. */
uint64_t cgroup_event(const char *name, const char *file, const char *key);

/* --- spawn.c */
struct spawn {
  char **argv;
  char **env;            /* complete */
  const char *directory; /* null: leave it */
  const char *cgroup;    /* null: none */
  const struct account *account;
  int in, out, err;
  int *status;           /* out: reads a struct spawn_failure or end of file once the program runs */
};
struct spawn_failure { int32_t is_directory, error; };
pid_t spawn_program(const struct spawn *spawn);
/* The environment of commands, with `extra` (n of NAME=value) on top; free the array only. */
char **command_environment(char **extra, size_t n, bool as_root);

/* --- records.c */
struct outcome {
  int32_t exit_code;
  uint32_t signal;
  uint8_t timed_out, limit;
  uint32_t leftovers;
  uint64_t stdout_bytes, stderr_bytes;
  uint32_t duration_ms;
};
#define OUTCOME_SIZE 34
enum record_state { RECORD_UNKNOWN, RECORD_RUNNING, RECORD_ENDED, RECORD_CUT_SHORT };
struct record { char name[65]; int out, err; uint64_t out_bytes, err_bytes; };
void outcome_encode(const struct outcome *outcome, uint8_t bytes[OUTCOME_SIZE]);
bool record_name_is_valid(const char *name);
/* 0, or an errno: EEXIST when there is a record of that name. */
int record_create(struct record *record, const char *name, bool is_detached);
void record_append(struct record *record, bool is_err, const void *bytes, size_t size);
/* Puts the outcome on the disk; run in a process of its own, for it waits for the disk. */
void record_settle(struct record *record, const struct outcome *outcome);
void record_close(struct record *record);
void record_remove(struct record *record);
/* Keeps a detached command's output file from growing without bound. */
void record_trim(struct record *record);
enum record_state record_read(const char *name, struct outcome *outcome);
/* Removes the oldest; `is_running` keeps those that still run. */
void records_prune(bool (*is_running)(const char *name));

/* --- command.h's files */
void command_exec(uint32_t id, struct cursor *c);
bool command_stdin(uint32_t id, const uint8_t *bytes, size_t size);
bool command_credit(uint32_t id, uint32_t more);
bool command_stop(uint32_t id, uint32_t grace);
void command_record(uint32_t id, struct cursor *c);
void command_stop_record(uint32_t id, struct cursor *c);
void command_child(pid_t pid, int status);
void commands_let_go(void);
void commands_kill_all(void);
uint32_t commands_running(void);

/* --- files.c, write.c, list.c */
void file_read(uint32_t id, struct cursor *c);
bool file_credit(uint32_t id, uint32_t more);
void files_pump(void);
bool files_wait_for_room(void);
/* The host does not want the rest (any more); false when there is no such call. */
bool file_reset(uint32_t id);
void files_let_go(void);
void write_begin(uint32_t id, struct cursor *c);
bool write_content(uint32_t id, const uint8_t *bytes, size_t size);
bool write_reset(uint32_t id);
void writes_let_go(void);
/* Writes a whole file atomically, of the kind that is told anew at each start: no waiting for the disk. 0 or an errno. */
int write_whole(const struct account *account, const char *path, mode_t mode, const void *bytes, size_t size);
/* `path`, or below the home when it is relative; false when it is empty or too long. */
bool resolve_path(char out[PATH_MAX], const char *path);
int open_regular(const char *path, int flags, uint64_t *size);
void list_begin(uint32_t id, struct cursor *c);
bool list_credit(uint32_t id, uint32_t more);
void lists_pump(void);
bool lists_wait_for_room(void);
bool list_reset(uint32_t id);
void lists_let_go(void);

/* --- streams.c */
void streams_listen(void);
void stream_connect(uint32_t id, struct cursor *c);
bool stream_bytes(uint32_t id, const uint8_t *bytes, size_t size);
bool stream_event(uint8_t type, uint32_t id, struct cursor *c);
bool stream_credit(uint32_t id, uint32_t more);
void streams_let_go(void);

/* --- machine.c */
void machine_resume(uint32_t id, struct cursor *c);
void machine_sync(uint32_t id);
void machine_child(pid_t pid);
void machine_let_go(void);

/* --- loop.c: what is polled; each part adds its descriptors before a poll and looks at them after it */
int poll_add(int fd, short events);
short poll_result(int slot);
void poll_by(int64_t at_ms);
int64_t now_ms(void);
void commands_poll(void);
void commands_after_poll(void);
void streams_poll(void);
void streams_after_poll(void);

/* --- main.c's roles */
int agent_main(int argc, char **argv);
int init_main(int argc, char **argv);
int git_ssh_main(int argc, char **argv);

void *must_alloc(size_t size);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
