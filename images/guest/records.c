/* What a command printed and how it ended, on the guest's disk: it outlives the connection, the host and a snapshot. */
#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HALF (2ull << 20)
#define WHOLE (2 * HALF)
#define DETACHED_MOST (64ull << 20)

bool record_name_is_valid(const char *name) {
  size_t size = strlen(name);
  return size > 0 && size <= 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
}

static void path_of(char out[PATH_MAX], const char *name, const char *file) {
  snprintf(out, PATH_MAX, "%s/%s%s%s", options.records, name, *file ? "/" : "", file);
}

static int open_part(const char *name, const char *file, int flags) {
  char path[PATH_MAX];
  path_of(path, name, file);
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

int record_create(struct record *record, const char *name, bool is_detached) {
  char path[PATH_MAX];
  memset(record, 0, sizeof *record);
  record->out = record->err = -1;
  snprintf(record->name, sizeof record->name, "%s", name);
  path_of(path, name, "");
  if (mkdir(path, 0700) != 0) return errno;
  record->out = open_part(name, "stdout", is_detached ? O_APPEND : 0);
  if (record->out >= 0 && !is_detached) record->err = open_part(name, "stderr", 0);
  if (record->out >= 0 && (is_detached || record->err >= 0)) return 0;
  int error = errno;
  record_close(record);
  record_remove(record);
  return error;
}

/* Beyond the first half, the second half of the file is a ring that holds the newest bytes. */
static size_t append_part(int fd, uint64_t total, const uint8_t *bytes, size_t size) {
  uint64_t at = total < WHOLE ? total : HALF + (total - HALF) % HALF;
  size_t part = size < WHOLE - at ? size : (size_t)(WHOLE - at);
  /* A full disk loses the rest of the record, not the command. */
  if (pwrite(fd, bytes, part, (off_t)at) < 0) return size;
  return part;
}

void record_append(struct record *record, bool is_err, const void *bytes, size_t size) {
  uint64_t *total = is_err ? &record->err_bytes : &record->out_bytes;
  const uint8_t *at = bytes;
  while (size > 0) {
    size_t n = append_part(is_err ? record->err : record->out, *total, at, size);
    *total += n;
    at += n;
    size -= n;
  }
}

/* Puts the ring of a long output into order. */
static void unroll(int fd, uint64_t total) {
  if (total <= WHOLE) return;
  size_t oldest = (size_t)((total - HALF) % HALF);
  uint8_t *ring = must_alloc(HALF);
  if (pread(fd, ring, HALF, HALF) == (ssize_t)HALF) {
    ssize_t a = pwrite(fd, ring + oldest, HALF - oldest, HALF);
    ssize_t b = pwrite(fd, ring, oldest, (off_t)(WHOLE - oldest));
    if (a < 0 || b < 0) say("record: %s", strerror(errno));
  }
  free(ring);
}

static void sync_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) fsync(fd);
  if (fd >= 0) close(fd);
}

void record_settle(struct record *record, const struct outcome *outcome) {
  char path[PATH_MAX], final[PATH_MAX], folder[PATH_MAX];
  uint8_t bytes[OUTCOME_SIZE];
  if (record->err >= 0) {
    unroll(record->out, record->out_bytes);
    unroll(record->err, record->err_bytes);
    fsync(record->err);
  }
  fsync(record->out);
  path_of(path, record->name, "outcome.new");
  path_of(final, record->name, "outcome");
  path_of(folder, record->name, "");
  outcome_encode(outcome, bytes);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool is_written = fd >= 0 && write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fsync(fd) == 0;
  if (fd >= 0) close(fd);
  if (!is_written || rename(path, final) != 0) say("record %s: %s", record->name, strerror(errno));
  sync_folder(folder);
  sync_folder(options.records);
}

void record_close(struct record *record) {
  if (record->out >= 0) close(record->out);
  if (record->err >= 0) close(record->err);
  record->out = record->err = -1;
}

static void remove_named(const char *name) {
  static const char *const files[] = {"outcome", "outcome.new", "stdout", "stderr", ""};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    path_of(path, name, files[i]);
    if (*files[i]) unlink(path);
    else rmdir(path);
  }
}

void record_remove(struct record *record) { remove_named(record->name); }

/* Offsets stay what they are: what lies between the first and the newest part becomes a hole. */
void record_trim(struct record *record) {
  struct stat st;
  if (fstat(record->out, &st) != 0 || (uint64_t)st.st_blocks * 512 < DETACHED_MOST) return;
  off_t length = (st.st_size - 2 * (off_t)HALF) & ~(off_t)4095;
  fallocate(record->out, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)HALF, length);
}

void outcome_encode(const struct outcome *o, uint8_t bytes[OUTCOME_SIZE]) {
  uint8_t *at = bytes;
  at += put_u32(at, (uint32_t)o->exit_code);
  at += put_u32(at, o->signal);
  *at++ = o->timed_out;
  *at++ = o->limit;
  at += put_u32(at, o->leftovers);
  at += put_u64(at, o->stdout_bytes);
  at += put_u64(at, o->stderr_bytes);
  put_u32(at, o->duration_ms);
}

static void outcome_decode(struct outcome *o, const uint8_t *bytes) {
  struct cursor c = {bytes, OUTCOME_SIZE, false};
  o->exit_code = (int32_t)take_u32(&c);
  o->signal = take_u32(&c);
  o->timed_out = take_u8(&c);
  o->limit = take_u8(&c);
  o->leftovers = take_u32(&c);
  o->stdout_bytes = take_u64(&c);
  o->stderr_bytes = take_u64(&c);
  o->duration_ms = take_u32(&c);
}

enum record_state record_read(const char *name, struct outcome *outcome) {
  char path[PATH_MAX];
  uint8_t bytes[OUTCOME_SIZE];
  path_of(path, name, "outcome");
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
  if (fd >= 0) close(fd);
  if (n == (ssize_t)sizeof bytes) {
    outcome_decode(outcome, bytes);
    return RECORD_ENDED;
  }
  path_of(path, name, "");
  return access(path, F_OK) == 0 ? RECORD_CUT_SHORT : RECORD_UNKNOWN;
}
