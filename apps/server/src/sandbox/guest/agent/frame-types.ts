/** Numbers of `images/guest/PROTOCOL.md`. */

export const PROTOCOL_VERSION = 1;
/** Credit that each id begins with, in each direction, in bytes of data frames. */
export const WINDOW_BYTES = 262_144;
export const MAX_PAYLOAD_BYTES = 65_536;
/** Zeros that complete and spoil whatever frame an earlier host left half-written. */
export const SPOILER_BYTES = 65_600;
/** Ids from here on are chosen by the guest. */
export const FIRST_GUEST_ID = 0x8000_0000;

/** Types of frames to the guest. */
export const TO_GUEST = {
  hello: 0x01,
  credit: 0x02,
  ping: 0x03,
  exec: 0x10,
  stdin: 0x11,
  stop: 0x12,
  record: 0x13,
  stopRecord: 0x14,
  read: 0x21,
  write: 0x22,
  content: 0x23,
  list: 0x24,
  resume: 0x30,
  sync: 0x31,
  shutdown: 0x32,
  connect: 0x40,
  bytes: 0x41,
  eof: 0x42,
  reset: 0x43,
  accepted: 0x44,
} as const;

/** Types of frames to the host. */
export const TO_HOST = {
  ready: 0x81,
  credit: 0x82,
  pong: 0x83,
  started: 0x90,
  stdout: 0x91,
  stderr: 0x92,
  exited: 0x93,
  recordState: 0x94,
  fail: 0x9f,
  file: 0xa0,
  data: 0xa1,
  end: 0xa2,
  written: 0xa3,
  entries: 0xa4,
  resumed: 0xb0,
  synced: 0xb1,
  accepted: 0xc0,
  bytes: 0xc1,
  eof: 0xc2,
  reset: 0xc3,
  open: 0xc4,
} as const;

/** Frames that use up credit. */
export const DATA_TYPES: ReadonlySet<number> = new Set([
  TO_GUEST.stdin,
  TO_GUEST.content,
  TO_GUEST.bytes,
  TO_HOST.stdout,
  TO_HOST.stderr,
  TO_HOST.data,
  TO_HOST.entries,
  TO_HOST.bytes,
]);

/** Flags of EXEC and of file calls. */
export const FLAG = { record: 1, stdin: 2, root: 4, detached: 8 } as const;
