/** The protocol's frames and payloads, written down a second time: a test does not trust the program's own. */
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
  connect: 0x40,
  bytes: 0x41,
  endOfFile: 0x42,
  reset: 0x43,
  accepted: 0x44,
} as const;
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
  bytes: 0xc1,
  endOfFile: 0xc2,
  reset: 0xc3,
  open: 0xc4,
} as const;
export const FLAG = { record: 1, stdin: 2, root: 4, detached: 8 } as const;

export interface Frame {
  type: number;
  id: number;
  payload: Buffer;
}

export function frame(type: number, id: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0xa5;
  head.writeUInt32LE(5 + payload.length, 1);
  head[5] = type;
  head.writeUInt32LE(id, 6);
  return Buffer.concat([head, payload, Buffer.from([0x5a])]);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
export function str(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([u32(bytes.length), bytes]);
}

export interface ExecOptions {
  flags?: number;
  limitMs?: number;
  record?: string;
  cwd?: string;
  env?: string[];
}
export function execPayload(argv: string[], options: ExecOptions = {}): Buffer {
  const env = options.env ?? [];
  return Buffer.concat([
    Buffer.from([options.flags ?? 0]),
    u32(options.limitMs ?? 0),
    str(options.record ?? ''),
    str(options.cwd ?? ''),
    u16(argv.length),
    ...argv.map(str),
    u16(env.length),
    ...env.map(str),
  ]);
}

export interface Outcome {
  exitCode: number;
  signal: number;
  timedOut: boolean;
  limit: number;
  leftovers: number;
  stdoutBytes: number;
  stderrBytes: number;
}
export function outcomeOf(bytes: Buffer): Outcome {
  return {
    exitCode: bytes.readInt32LE(0),
    signal: bytes.readUInt32LE(4),
    timedOut: bytes[8] === 1,
    limit: bytes[9] ?? -1,
    leftovers: bytes.readUInt32LE(10),
    stdoutBytes: Number(bytes.readBigUInt64LE(14)),
    stderrBytes: Number(bytes.readBigUInt64LE(22)),
  };
}

/** Takes whole frames out of what came; throws on anything that is no frame. */
export function takeFrames(bytes: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= 10) {
    if (bytes[at] !== 0xa5) throw new Error(`no frame begins with ${bytes[at]}`);
    const length = bytes.readUInt32LE(at + 1);
    if (length < 5 || length > 65_541) throw new Error(`a frame of ${length} bytes`);
    const end = at + 5 + length;
    if (bytes.length <= end) break;
    if (bytes[end] !== 0x5a) throw new Error('a frame without its end');
    const payload = Buffer.from(bytes.subarray(at + 10, end));
    frames.push({ type: bytes.readUInt8(at + 5), id: bytes.readUInt32LE(at + 6), payload });
    at = end + 1;
  }
  return { frames, rest: bytes.subarray(at) };
}
