/* vitto-git-ssh, the GIT_SSH command in a guest: hands git's arguments to the agent, and bytes both ways. */
#include "agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REFUSED 128
#define ABOUT_MOST 16384

static void die(const char *what) {
  fprintf(stderr, "vitto: git cannot reach the sandbox host: %s\n", what);
  exit(REFUSED);
}

static int connect_agent(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  const char *run = getenv("VITTO_RUN");
  snprintf(at.sun_path, sizeof at.sun_path, "%s/git.sock", run ? run : "/run/vitto");
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0) die(strerror(errno));
  return fd;
}

/* The arguments, each followed by NUL, and with them the pipe by which a refusal comes back. */
static void send_about(int fd, int argc, char **argv, int status_fd) {
  char about[ABOUT_MOST];
  size_t size = 0;
  for (int i = 1; i < argc; i++) {
    size_t n = strlen(argv[i]) + 1;
    if (size + n > sizeof about) die("its arguments are too long");
    memcpy(about + size, argv[i], n);
    size += n;
  }
  if (size == 0) die("it gave no arguments");
  union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  memset(&control, 0, sizeof control);
  struct iovec io = {about, size};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
  memcpy(CMSG_DATA(header), &status_fd, sizeof status_fd);
  if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)size) die(strerror(errno));
}

static bool write_all(int fd, const char *bytes, ssize_t size) {
  while (size > 0) {
    ssize_t n = write(fd, bytes, (size_t)size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    size -= n;
  }
  return true;
}

/* Copies once; false at the end of either side. */
static bool copy(int from, int to) {
  static char bytes[65536];
  ssize_t n = read(from, bytes, sizeof bytes);
  if (n < 0 && errno == EINTR) return true;
  return n > 0 && write_all(to, bytes, n);
}

static void relay(int fd) {
  struct pollfd ends[2] = {{0, POLLIN, 0}, {fd, POLLIN, 0}};
  while (poll(ends, 2, -1) >= 0 || errno == EINTR) {
    if (ends[0].revents && !copy(0, fd)) {
      shutdown(fd, SHUT_WR);
      ends[0].fd = -1;
    }
    if (ends[1].revents && !copy(fd, 1)) return;
  }
}

/* What the agent wrote by the time it closed its end. */
static int read_refusal(int status_fd) {
  char reason[4096];
  ssize_t n = read(status_fd, reason, sizeof reason);
  if (n <= 0) return 0;
  fprintf(stderr, "vitto: %.*s\n", (int)n, reason);
  return REFUSED;
}

int git_ssh_main(int argc, char **argv) {
  int status[2];
  int fd = connect_agent();
  if (pipe(status) != 0) die(strerror(errno));
  send_about(fd, argc, argv, status[1]);
  close(status[1]);
  relay(fd);
  close(fd);
  return read_refusal(status[0]);
}
