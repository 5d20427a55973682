import { common, createLowlight } from 'lowlight';
import { markDiff, type DiffMark } from './artifact/read-diff.ts';

/** A piece of code and the classes of its colour; text only. */
export interface CodePiece {
  readonly text: string;
  readonly look: string;
}

type Nodes = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'];

const lowlight = createLowlight(common);

/** Code in coloured pieces; `null` for a language that is not known. This file is loaded when the first code is shown. */
export function highlight(code: string, language: string): CodePiece[] | null {
  if (language === 'diff' || language === 'patch') return colourDiff(code);
  if (!lowlight.registered(language)) return null;
  const pieces: CodePiece[] = [];
  collect(lowlight.highlight(language, code).children, '', pieces);
  return pieces;
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
