import { common, createLowlight } from 'lowlight';

/** A piece of code and the classes of its colour; text only. */
export interface CodePiece {
  readonly text: string;
  readonly look: string;
}

type Nodes = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'];

const lowlight = createLowlight(common);

/** Code in coloured pieces; `null` for a language that is not known. This file is loaded when the first code is shown. */
export function highlight(code: string, language: string): CodePiece[] | null {
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
