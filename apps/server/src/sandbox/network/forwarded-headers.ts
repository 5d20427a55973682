/** Fields that speak of one connection and not of the message (RFC 9110, 7.6.1), and what a guest says to the proxy alone. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
]);
const VIA = '1.1 vitto';

/**
 * The fields of a message that go on, in order, as name, value, name, value (`rawHeaders` of Node). What `Connection`
 * names stays behind too, and so does everything that begins with `Proxy-`.
 */
export function forwardedHeaders(raw: readonly string[]): string[] {
  const fields: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) fields.push([raw[at] as string, raw[at + 1] as string]);
  const named = new Set(
    fields
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((token) => token.trim().toLowerCase()),
  );
  // A guest cannot take the length of its own message out of it, and so make two of one.
  named.delete('content-length');
  const kept = fields.filter(([field]) => {
    const name = field.toLowerCase();
    return !HOP_BY_HOP.has(name) && !name.startsWith('proxy-') && !named.has(name);
  });
  return [...kept.flat(), 'Via', VIA];
}

/** The same for a request: `Host` is made from the URL that was checked, whatever the guest wrote there. */
export function requestHeaders(raw: readonly string[], host: string, port: number): string[] {
  const forwarded = forwardedHeaders(raw);
  const fields: string[] = ['Host', port === 80 ? host : `${host}:${port}`];
  for (let at = 0; at + 1 < forwarded.length; at += 2) {
    const name = forwarded[at] as string;
    if (name.toLowerCase() !== 'host') fields.push(name, forwarded[at + 1] as string);
  }
  return fields;
}
