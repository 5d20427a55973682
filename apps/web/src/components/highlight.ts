import { createLowlight } from 'lowlight';
import { markDiff, type DiffMark } from './artifact/read-diff.ts';
import { findGrammars, loadGrammar } from './code-grammars.ts';

/** A piece of code and the classes of its colour; text only. */
export interface CodePiece {
  readonly text: string;
  readonly look: string;
}

type Nodes = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'];

const lowlight = createLowlight();

/**
 * Code in coloured pieces; `null` for a language that is not known. This file is loaded when the first code is shown, and
 * each language with its first code. Rejects when its file does not come.
 */
export async function highlight(code: string, language: string): Promise<CodePiece[] | null> {
  if (language === 'diff' || language === 'patch') return colourDiff(code);
  const grammars = findGrammars(language);
  if (grammars === null) return null;
  await Promise.all(grammars.map(register));
  const pieces: CodePiece[] = [];
  collect(lowlight.highlight(grammars[0], code).children, '', pieces);
  return pieces;
}

async function register(name: string): Promise<void> {
  if (lowlight.registered(name)) return;
  const grammar = await loadGrammar(name);
  if (grammar !== null) lowlight.register(name, grammar);
}

function collect(nodes: Nodes, look: string, pieces: CodePiece[]): void {
  for (const node of nodes) {
    if (node.type === 'text') pieces.push({ text: node.value, look });
    if (node.type !== 'element') continue;
    const { className } = node.properties;
    collect(node.children, Array.isArray(className) ? className.join(' ') : look, pieces);
  }
}

const DIFF_LOOKS: Record<DiffMark, string> = {
  added: 'hljs-addition',
  removed: 'hljs-deletion',
  hunk: 'hljs-meta',
  file: 'hljs-comment',
  same: '',
};

/** By lines, as the viewer of files does: the library takes `===` anywhere in a line for a heading. */
function colourDiff(code: string): CodePiece[] {
  const lines = code.split('\n');
  const marks = markDiff(lines.map((text, index) => ({ text, number: index + 1, goesOn: false })));
  return lines.map((line, index) => ({
    text: index === lines.length - 1 ? line : `${line}\n`,
    look: DIFF_LOOKS[marks[index] ?? 'same'],
  }));
}
