/** The front matter at the beginning of a SKILL.md, with its marks. */
const FRONT_MATTER = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/u;
const NAME = /^name[ \t]*:[ \t]*(?:"([^"]*)"|'([^']*)'|([^#\r\n]*))/mu;

/** The name under which a skill is stored. Where the text has none, the server says what is wrong with it. */
export function readName(text: string): string {
  const [, quoted, single, plain] = NAME.exec(FRONT_MATTER.exec(text)?.[1] ?? '') ?? [];
  const name = (quoted ?? single ?? plain ?? '').trim();
  return name === '' ? 'unnamed' : name.slice(0, 200);
}

/** What is to be read: the text without its front matter. */
export function bodyOf(text: string): string {
  return text.replace(FRONT_MATTER, '');
}
