#ifndef VITTO_SHA256_H
#define VITTO_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The SHA-256 of what `fd` holds from its beginning; false with errno when it cannot be read. */
bool sha256_of_file(int fd, uint8_t digest[32]);

#endif
