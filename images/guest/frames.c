/* The channel: takes frames out of a byte stream that may begin in the middle of one, and puts frames into one. */
#include "agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_START 0xA5
#define FRAME_STOP 0x5A
#define HEAD 5u                                  /* start, length */
#define LEAST 5u                                 /* type, id */
#define MOST (LEAST + MAX_PAYLOAD)
/* More waits than this: no data is produced and no frame is read, so that what is queued stays bounded. */
#define ROOM (4 * MAX_PAYLOAD)

static int channel_in = -1, channel_out = -1;

static struct {
  uint8_t bytes[HEAD + MOST + 1];
  size_t size;
} input;

static struct {
  uint8_t *bytes;
  size_t start, size, capacity;
  size_t begun; /* bytes at the start that end a frame of which some are written */
} output;

void channel_open(int in, int out) {
  channel_in = in;
  channel_out = out;
  input.size = 0;
  output.start = output.size = output.begun = 0;
}

void channel_close(void) {
  channel_in = channel_out = -1;
  input.size = 0;
  output.start = output.size = output.begun = 0;
}

bool channel_is_open(void) { return channel_in >= 0; }
struct channel_view channel_view(void) { return (struct channel_view){channel_in, channel_out}; }
bool channel_has_output(void) { return output.size > 0; }
bool channel_has_room(void) { return channel_in >= 0 && output.size < ROOM; }

static uint32_t length_at(const uint8_t *frame) {
  struct cursor c = {frame + 1, 4, false};
  return take_u32(&c);
}

/* How many bytes at `at` are done with: 0 when a frame is not whole yet. */
static size_t take_frame(const uint8_t *at, size_t size,
                         void (*on_frame)(uint8_t, uint32_t, const uint8_t *, size_t)) {
  if (at[0] != FRAME_START) {
    const uint8_t *start = memchr(at, FRAME_START, size);
    return start ? (size_t)(start - at) : size;
  }
  if (size < HEAD) return 0;
  uint32_t length = length_at(at);
  if (length < LEAST || length > MOST) return 1;
  if (size < HEAD + length + 1) return 0;
  /* A spoilt frame is dropped whole. Looking for a frame inside it would let bytes that a command was to be fed
     with act as calls of the host. */
  if (at[HEAD + length] == FRAME_STOP) {
    struct cursor c = {at + HEAD + 1, 4, false};
    on_frame(at[HEAD], take_u32(&c), at + HEAD + LEAST, length - LEAST);
  }
  return HEAD + length + 1;
}

int channel_read(void (*on_frame)(uint8_t, uint32_t, const uint8_t *, size_t)) {
  ssize_t n = read(channel_in, input.bytes + input.size, sizeof input.bytes - input.size);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  if (n == 0) return -1;
  input.size += (size_t)n;
  size_t done = 0;
  while (done < input.size && channel_is_open()) {
    size_t taken = take_frame(input.bytes + done, input.size - done, on_frame);
    if (taken == 0) break;
    done += taken;
  }
  if (!channel_is_open()) return 1;
  memmove(input.bytes, input.bytes + done, input.size - done);
  input.size -= done;
  return 1;
}

/* After `n` bytes went out: how many of what is left end a frame that has begun. */
static void note_written(size_t n) {
  while (n > 0 && n >= output.begun) {
    n -= output.begun;
    output.start += output.begun;
    output.size -= output.begun;
    output.begun = 0;
    if (n == 0) return;
    output.begun = HEAD + length_at(output.bytes + output.start) + 1;
  }
  output.start += n;
  output.size -= n;
  output.begun -= n;
}

bool channel_write(void) {
  while (output.size > 0) {
    ssize_t n = write(channel_out, output.bytes + output.start, output.size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    note_written((size_t)n);
  }
  output.start = 0;
  return true;
}

/* What no write has touched is dropped; a frame that is half out is finished, else the host would take READY for its rest. */
void channel_forget_output(void) { output.size = output.begun; }

static uint8_t *output_reserve(size_t size) {
  if (output.start + output.size + size > output.capacity) {
    if (output.size > 0) memmove(output.bytes, output.bytes + output.start, output.size);
    output.start = 0;
  }
  if (output.size + size > output.capacity) {
    size_t capacity = (output.size + size) * 2;
    uint8_t *bytes = realloc(output.bytes, capacity);
    if (!bytes) abort();
    output.bytes = bytes;
    output.capacity = capacity;
  }
  return output.bytes + output.start + output.size;
}

void send_frame(uint8_t type, uint32_t id, const void *payload, size_t size) {
  if (channel_out < 0) return;
  uint8_t *at = output_reserve(HEAD + LEAST + size + 1);
  at[0] = FRAME_START;
  put_u32(at + 1, (uint32_t)(LEAST + size));
  at[HEAD] = type;
  put_u32(at + HEAD + 1, id);
  if (size > 0) memcpy(at + HEAD + LEAST, payload, size);
  at[HEAD + LEAST + size] = FRAME_STOP;
  output.size += HEAD + LEAST + size + 1;
}

void send_empty(uint8_t type, uint32_t id) { send_frame(type, id, NULL, 0); }

void send_u32(uint8_t type, uint32_t id, uint32_t value) {
  uint8_t bytes[4];
  send_frame(type, id, bytes, put_u32(bytes, value));
}

void send_fail(uint32_t id, enum code code, const char *message) {
  uint8_t bytes[6 + 512];
  size_t size = strnlen(message, 512);
  bytes[0] = (uint8_t)code;
  bytes[1] = 0;
  put_u32(bytes + 2, (uint32_t)size);
  memcpy(bytes + 6, message, size);
  send_frame(FAIL, id, bytes, 6 + size);
}

static enum code code_of(int error) {
  switch (error) {
    case ENOENT: return NOT_FOUND;
    case ENOTDIR: return NOT_A_DIRECTORY;
    case EISDIR: return NOT_A_FILE;
    case EROFS: return READ_ONLY;
    case EACCES: case EPERM: return DENIED;
    case EFBIG: case EOVERFLOW: case E2BIG: return TOO_LARGE;
    case ENOSPC: case EDQUOT: return NO_SPACE;
    case EBUSY: case EAGAIN: case EMFILE: case ENFILE: case ENOMEM: return BUSY;
    case ENAMETOOLONG: case ELOOP: case EINVAL: case EILSEQ: return BAD_PATH;
    default: return IO_ERROR;
  }
}

void send_errno(uint32_t id, int error, const char *what) {
  char message[256];
  snprintf(message, sizeof message, "%s: %s", what, strerror(error));
  send_fail(id, code_of(error), message);
}
