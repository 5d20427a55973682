/** A line of a key or a certificate that says nothing of its own: `-----BEGIN …-----`. */
const FRAME = /^-----/;
/** A shorter line of a value of several lines is no secret by itself (`}`, `end`). */
const SHORTEST_LINE = 12;
/** Fewer letters of base64 are too often in other text by chance. */
const SHORTEST_BASE64 = 8;

/** The forms in which a secret value turns up in text: as it is, in a URL, in a form, in JSON (log lines), in base64, line by line. */
export function secretForms(value: string): Set<string> {
  const text = value.toWellFormed();
  const forms = new Set<string>();
  for (const one of [text, text.trim(), ...longLines(text)]) {
    forms.add(one);
    forms.add(encodeURIComponent(one));
    forms.add(new URLSearchParams([['', one]]).toString().slice(1));
    forms.add(JSON.stringify(one).slice(1, -1));
  }
  for (const encoded of base64Forms(text)) forms.add(encoded);
  return forms;
}

function longLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  if (lines.length === 1) return [];
  return lines.filter((line) => line.length >= SHORTEST_LINE && !FRAME.test(line));
}

/** The middle of the base64 of a text is the same wherever the text starts; each of the three alignments is given. */
function base64Forms(text: string): string[] {
  const encode = (offset: number) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
      .toString('base64')
      .replaceAll('=', '');
  const inner = [0, 1, 2].map((offset) => encode(offset).slice(offset === 0 ? 0 : 4, -2));
  return [encode(0), ...inner]
    .filter((form) => form.length >= SHORTEST_BASE64)
    .flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
