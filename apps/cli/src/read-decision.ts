export interface Decision {
  decision: 'approved' | 'refused';
  note?: string;
}

/**
 * What a person typed under an approval. Only a plain yes approves; a sentence refuses and is the note; a single other
 * word is no answer (`null`), so that a slip decides nothing.
 */
export function readDecision(line: string): Decision | null {
  const text = line.trim();
  if (/^y(es)?$/i.test(text)) return { decision: 'approved' };
  if (/^no?$/i.test(text)) return { decision: 'refused' };
  const note = text.replace(/^no?(?:[,:;.]\s*|\s+)/i, '');
  if (note !== text && note !== '') return { decision: 'refused', note };
  if (/^y(es)?\b/i.test(text) || !/\s/.test(text)) return null;
  return { decision: 'refused', note: text };
}
