/** Text that came out of a sandbox, for a terminal: control characters, which could steer it, are made visible. */
export function toPlainText(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}
