/* How streams begin: programs in the guest that connect to the proxy's port or the git relay's socket, and CONNECT sshd. */
#include "streams.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SSHD_LOG_MOST (256 << 10)
#define GIT_ABOUT_MOST 16384

static int proxy_fd = -1, git_fd = -1;
static int proxy_slot = -1, git_slot = -1;
static uint32_t next_id = 0x80000000u;

static int listen_proxy(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.proxy_port),
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int yes = 1;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 64) == 0) return fd;
  close(fd);
  return -1;
}

static int listen_git(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  mkdir(options.run, 0755);
  int n = snprintf(at.sun_path, sizeof at.sun_path, "%s/git.sock", options.run);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (n < (int)sizeof at.sun_path) {
    unlink(at.sun_path);
    /* Every program of the guest may ask; it is the host that refuses. */
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && chmod(at.sun_path, 0666) == 0 && listen(fd, 16) == 0) {
      return fd;
    }
  }
  close(fd);
  return -1;
}

void streams_listen(void) {
  if (options.proxy_port) {
    proxy_fd = listen_proxy();
    if (proxy_fd < 0) say("no proxy port: %s", strerror(errno));
  }
  git_fd = listen_git();
  if (git_fd < 0) say("no git socket: %s", strerror(errno));
}

static uint32_t take_id(void) {
  if (next_id < 0x80000000u) next_id = 0x80000000u;
  return next_id++;
}

static void send_open(uint32_t id, const char *what, const void *about, size_t size) {
  uint8_t bytes[16 + 4 + GIT_ABOUT_MOST];
  size_t n = put_u32(bytes, (uint32_t)strlen(what));
  memcpy(bytes + n, what, strlen(what));
  n += strlen(what);
  n += put_u32(bytes + n, (uint32_t)size);
  if (size > 0) memcpy(bytes + n, about, size);
  send_frame(OPEN, id, bytes, n + size);
}

/* A connection while no host is there is closed: it would wait for one that may not come. */
static int accept_one(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return -1;
  if (channel_is_open() && channel_has_room() && !streams_are_full()) return fd;
  close(fd);
  return -1;
}

static void accept_proxy(void) {
  int fd = accept_one(proxy_fd);
  if (fd < 0) return;
  uint32_t id = take_id();
  stream_add(fd, id, false);
  send_open(id, "proxy", NULL, 0);
}

/* The first message holds git's arguments and the pipe for a refusal. It is one message: a unix socket hands
   descriptors over together with the very bytes that they were sent with. */
static ssize_t receive_about(int fd, uint8_t *about, int *status_fd) {
  union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  struct iovec io = {about, GIT_ABOUT_MOST};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  *status_fd = -1;
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(status_fd, CMSG_DATA(header), sizeof *status_fd);
  }
  return *status_fd >= 0 && about[n - 1] == 0 ? n : -1;
}

void stream_open_git(struct stream *s) {
  static uint8_t about[GIT_ABOUT_MOST];
  int status_fd;
  ssize_t n = receive_about(s->fd, about, &status_fd);
  if (n <= 0) {
    if (status_fd >= 0) close(status_fd);
    stream_end(s, NULL);
    return;
  }
  fcntl(status_fd, F_SETFL, O_NONBLOCK);
  s->status_fd = status_fd;
  s->awaits_about = false;
  s->id = take_id();
  s->has_id = true;
  send_open(s->id, "git", about, (size_t)n);
}

static void accept_git(void) {
  int fd = accept_one(git_fd);
  if (fd < 0) return;
  struct stream *s = stream_add(fd, 0, false);
  s->has_id = false;
  s->awaits_about = true;
}

void listeners_poll(void) {
  proxy_slot = poll_add(proxy_fd, POLLIN);
  git_slot = poll_add(git_fd, POLLIN);
}

void listeners_after_poll(void) {
  if (poll_result(proxy_slot)) accept_proxy();
  if (poll_result(git_slot)) accept_git();
}

static int open_log(void) {
  char path[PATH_MAX];
  struct stat st;
  snprintf(path, sizeof path, "%s/sshd.log", options.run);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > SSHD_LOG_MOST && ftruncate(fd, 0) != 0) say("sshd.log stays long");
  return fd >= 0 ? fd : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static pid_t start_sshd(int theirs) {
  char *argv[] = {"/usr/sbin/sshd", "-i", "-e", NULL};
  char *env[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", NULL};
  int log = open_log();
  if (access(argv[0], X_OK) != 0 || log < 0) return -1;
  struct spawn spawn = {argv, env, "/", cgroup_make("ssh") ? "ssh" : NULL, NULL, theirs, theirs, log, NULL};
  pid_t pid = spawn_program(&spawn);
  close(log);
  return pid;
}

void stream_connect(uint32_t id, struct cursor *c) {
  int pair[2];
  char *what = take_string(c, 64);
  if (!is_complete(c)) send_fail(id, BAD_REQUEST, "CONNECT is malformed");
  else if (strcmp(what, "sshd") != 0) send_fail(id, UNSUPPORTED, "CONNECT is for sshd");
  else if (streams_are_full()) send_fail(id, BUSY, "too many streams");
  else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) send_errno(id, errno, "connect");
  else {
    pid_t pid = start_sshd(pair[1]);
    int error = errno;
    close(pair[1]);
    if (pid < 0) {
      close(pair[0]);
      send_errno(id, error, "sshd");
    } else {
      stream_add(pair[0], id, true);
      send_empty(ACCEPTED_BACK, id);
    }
  }
  free(what);
}
