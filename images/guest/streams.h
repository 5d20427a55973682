/* A stream as its two parts see it: streams.c moves its bytes, listeners.c begins it. */
#ifndef VITTO_STREAMS_H
#define VITTO_STREAMS_H

#include "agent.h"

#define MOST_STREAMS 256

struct stream {
  struct stream *next;
  uint32_t id;
  bool has_id;
  bool awaits_about; /* a git relay that has not yet said what it wants */
  bool is_accepted; /* nothing is sent to the host before it has accepted */
  bool we_ended, host_ended, may_read;
  int fd;        /* -1: over */
  int status_fd; /* of the git relay: a refusal's reason goes there */
  uint32_t credit;
  struct queue input;
  int slot;
};

extern struct stream *streams;

struct stream *stream_add(int fd, uint32_t id, bool is_accepted);
bool streams_are_full(void);
void stream_end(struct stream *stream, const char *reason);
/* Reads what the git relay wants and opens its stream; ends one that is no relay. */
void stream_open_git(struct stream *stream);
void listeners_poll(void);
void listeners_after_poll(void);

#endif
