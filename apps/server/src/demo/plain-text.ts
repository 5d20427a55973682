/** Text that came out of a sandbox, for a terminal: control characters, which could steer it, are made visible. */
export function toPlainText(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** The first line of a text, with a mark when there are more; if need be only its beginning. */
export function firstLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const [line = '', ...rest] = text.split('\n');
  if (line.length > max) return `${line.slice(0, max - 1).toWellFormed()}…`;
  return rest.length > 0 ? `${line} …` : line;
}
