/* RESUME, SYNC and the machine's own files: what makes a restored guest this one and no other. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_SYNCS 16

/* On an ordinary host (tests) the clock and the pool are everybody's. */
static bool is_own_machine(void) { return !*options.root; }

static bool set_clock(int64_t seconds, uint32_t nanoseconds) {
  struct timespec at = {seconds, nanoseconds};
  return !is_own_machine() || clock_settime(CLOCK_REALTIME, &at) == 0;
}

/* Feeding alone changes nothing yet: the kernel reseeds its generator only now and then, so it is told to. */
static bool feed_randomness(const uint8_t *entropy, size_t size) {
  if (!is_own_machine()) return true;
  struct { int bits, bytes; uint8_t data[256]; } pool = {(int)size * 8, (int)size, {0}};
  memcpy(pool.data, entropy, size);
  int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  bool is_done = ioctl(fd, RNDADDENTROPY, &pool) == 0 && ioctl(fd, RNDRESEEDCRNG) == 0;
  int error = errno;
  close(fd);
  explicit_bzero(&pool, sizeof pool);
  errno = error;
  return is_done;
}

/* In /run, where nothing waits for a disk: every start tells it anew. Root's folder, in which no user makes a link. */
static bool put_state(const char *name, mode_t mode, const char *text, const char *end) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", options.run, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) return false;
  bool is_done = fchmod(fd, mode) == 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
                 write(fd, end, strlen(end)) == (ssize_t)strlen(end);
  int error = errno;
  close(fd);
  errno = error;
  return is_done;
}

/* With the user's rights, for the user may have put a link where root would follow it. sshd wants ~/.ssh to be the user's. */
static bool put_authorized_keys(const char *keys) {
  char path[PATH_MAX];
  int n = snprintf(path, sizeof path, "%s/.ssh/authorized_keys", options.home);
  if (n >= (int)sizeof path) return false;
  if (*keys) {
    errno = write_whole(&user_account, path, 0600, keys, strlen(keys));
    return errno == 0;
  }
  act_as(&user_account);
  bool is_gone = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR || errno == EISDIR;
  int error = errno;
  act_as_self();
  errno = error;
  return is_gone;
}

/* Without KVM most of what a guest's first command takes is the translating of the kernel's and the shell's code. It is
 * done on another processor meanwhile. The outcome is nobody's, as are orphans that end. */
static void call_shell_once(void) {
  if (!is_own_machine()) return;
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  char *argv[] = {"/bin/sh", "-c", "true", NULL}, *none[] = {NULL};
  spawn_program(&(struct spawn){.account = &user_account, .argv = argv, .env = none, .in = null, .out = null, .err = null});
  close(null);
}

struct resume { int64_t seconds; uint32_t nanoseconds; const uint8_t *entropy; uint32_t entropy_size; char *id, *key, *authorized; };

static bool take_resume(struct resume *r, struct cursor *c) {
  memset(r, 0, sizeof *r);
  r->seconds = (int64_t)take_u64(c);
  r->nanoseconds = take_u32(c);
  r->entropy_size = take_u32(c);
  r->entropy = take_bytes(c, r->entropy_size);
  r->id = take_string(c, 32);
  r->key = take_string(c, 16384);
  r->authorized = take_string(c, 49152);
  return is_complete(c) && r->entropy_size >= 32 && r->entropy_size <= 256 && strlen(r->id) == 32 &&
         strspn(r->id, "0123456789abcdef") == 32 && r->nanoseconds < 1000000000;
}

/* Null when all is done, else what failed (and errno). */
static const char *apply(const struct resume *r) {
  if (!feed_randomness(r->entropy, r->entropy_size)) return "random pool";
  call_shell_once();
  if (!put_state("machine-id", 0444, r->id, "\n")) return "machine id";
  if (*r->key && !put_state("ssh_host_ed25519_key", 0600, r->key, "")) return "host key";
  if (!put_authorized_keys(r->authorized)) return "authorized keys";
  return NULL;
}

static void send_resumed(uint32_t id) {
  struct timespec now;
  uint8_t bytes[12];
  clock_gettime(CLOCK_REALTIME, &now);
  put_u64(bytes, (uint64_t)now.tv_sec);
  put_u32(bytes + 8, (uint32_t)now.tv_nsec);
  send_frame(RESUMED, id, bytes, sizeof bytes);
}

void machine_resume(uint32_t id, struct cursor *c) {
  struct resume r;
  bool is_taken = take_resume(&r, c);
  const char *failed = NULL;
  if (is_taken && !set_clock(r.seconds, r.nanoseconds)) failed = "clock";
  if (is_taken && !failed) failed = apply(&r);
  if (!is_taken) send_fail(id, BAD_REQUEST, "RESUME is malformed");
  else if (failed) send_errno(id, errno, failed);
  else send_resumed(id);
  if (r.key) explicit_bzero(r.key, strlen(r.key));
  free(r.id);
  free(r.key);
  free(r.authorized);
}

static struct { pid_t pid; uint32_t id; bool has_id; } syncs[MOST_SYNCS];

/* A sync may take seconds: a process of its own waits for it. */
void machine_sync(uint32_t id) {
  for (int i = 0; i < MOST_SYNCS; i++) {
    if (syncs[i].pid) continue;
    pid_t pid = fork();
    if (pid == 0) {
      sync();
      _exit(0);
    }
    if (pid < 0) send_errno(id, errno, "sync");
    else {
      syncs[i].pid = pid;
      syncs[i].id = id;
      syncs[i].has_id = true;
    }
    return;
  }
  send_fail(id, BUSY, "too many syncs");
}

void machine_child(pid_t pid) {
  for (int i = 0; i < MOST_SYNCS; i++) {
    if (syncs[i].pid != pid) continue;
    syncs[i].pid = 0;
    if (syncs[i].has_id) send_empty(SYNCED, syncs[i].id);
  }
}

void machine_let_go(void) {
  for (int i = 0; i < MOST_SYNCS; i++) syncs[i].has_id = false;
}
