/** A control sequence: CSI; OSC, DCS, PM, APC and SOS with their text; any other escape. Cut ones at the end too. */
const ESCAPES =
  // eslint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*(?:[@-~]|$)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|\u001b?$|(?=\u001b))|\u001b[ -/]*(?:[0-~]|$)/gu;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu;

/**
 * What a terminal's output says, as plain text: colours, titles, links, clipboard and cursor sequences are dropped
 * and never acted on; a line that was written over (`\r`, a progress bar) shows its last state. Reads the whole output
 * each time, so it does not matter where its pieces were cut.
 */
export function terminalToText(raw: string): string {
  const plain = raw.replace(ESCAPES, '').replaceAll('\r\n', '\n').replace(CONTROLS, '');
  if (!plain.includes('\r') && !plain.includes('\b')) return plain.toWellFormed();
  return plain.split('\n').map(lastState).join('\n').toWellFormed();
}

/** A line after its carriage returns and backspaces: each `\r` starts over it. */
function lastState(line: string): string {
  const states = line.split('\r');
  let shown: string[] = [];
  for (const state of states) {
    let at = 0;
    for (const character of state) {
      if (character === '\b') at = Math.max(0, at - 1);
      else shown[at++] = character;
    }
    // A shorter state over a longer one is nearly always a new message, not a half-erased old one.
    if (state !== '') shown = shown.slice(0, at);
  }
  return shown.join('');
}
