/**
 * What a person typed as a query of PostgreSQL's `to_tsquery`: all words, the last one as a beginning. Each stands in
 * quotes, so that nothing of it is an operator; PostgreSQL takes it apart as it takes texts apart. A part that holds no
 * word (`&`, an emoji) counts for nothing. Never a syntax error, whatever was typed.
 */
export function toSearchWords(text: string): string {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.map((word, index) => `${quote(word)}${index === words.length - 1 ? ':*' : ''}`).join(' & ');
}

function quote(word: string): string {
  return `'${word.replaceAll(/['\\]/gu, (sign) => sign + sign)}'`;
}
