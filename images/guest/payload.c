/* Reading and building the payloads of frames: little-endian numbers, lengths that are checked. */
#include "agent.h"

#include <stdlib.h>
#include <string.h>

const uint8_t *take_bytes(struct cursor *c, size_t size) {
  if (c->failed || size > c->left) {
    c->failed = true;
    return NULL;
  }
  const uint8_t *at = c->at;
  c->at += size;
  c->left -= size;
  return at;
}

static uint64_t take_number(struct cursor *c, size_t size) {
  const uint8_t *at = take_bytes(c, size);
  uint64_t value = 0;
  for (size_t i = 0; at && i < size; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

uint8_t take_u8(struct cursor *c) { return (uint8_t)take_number(c, 1); }
uint16_t take_u16(struct cursor *c) { return (uint16_t)take_number(c, 2); }
uint32_t take_u32(struct cursor *c) { return (uint32_t)take_number(c, 4); }
uint64_t take_u64(struct cursor *c) { return take_number(c, 8); }

char *take_string(struct cursor *c, size_t limit) {
  uint32_t size = take_u32(c);
  const uint8_t *at = take_bytes(c, size);
  if (!at || size > limit || memchr(at, 0, size)) {
    c->failed = true;
    return NULL;
  }
  char *copy = must_alloc((size_t)size + 1);
  memcpy(copy, at, size);
  copy[size] = 0;
  return copy;
}

bool is_complete(const struct cursor *c) { return !c->failed && c->left == 0; }

static size_t put_number(uint8_t *at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) at[i] = (uint8_t)(value >> (8 * i));
  return size;
}

size_t put_u32(uint8_t *at, uint32_t value) { return put_number(at, value, 4); }
size_t put_u64(uint8_t *at, uint64_t value) { return put_number(at, value, 8); }
