import type { LanguageFn } from 'highlight.js';

type Load = () => Promise<{ default: LanguageFn }>;

/** How code of a language is read: each is a file of its own, loaded when the first code in it is shown. */
const GRAMMARS: Record<string, Load> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  less: () => import('highlight.js/lib/languages/less'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  objectivec: () => import('highlight.js/lib/languages/objectivec'),
  perl: () => import('highlight.js/lib/languages/perl'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  r: () => import('highlight.js/lib/languages/r'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  shell: () => import('highlight.js/lib/languages/shell'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  vbnet: () => import('highlight.js/lib/languages/vbnet'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};

/** Other names that people and models give them. */
const NAMES: Record<string, string> = {
  'c++': 'cpp',
  cc: 'cpp',
  cjs: 'javascript',
  console: 'shell',
  cs: 'csharp',
  cts: 'typescript',
  docker: 'dockerfile',
  golang: 'go',
  gql: 'graphql',
  h: 'c',
  hpp: 'cpp',
  html: 'xml',
  js: 'javascript',
  jsonc: 'json',
  json5: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  objc: 'objectivec',
  pl: 'perl',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shellsession: 'shell',
  svg: 'xml',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  vb: 'vbnet',
  xhtml: 'xml',
  yml: 'yaml',
  zsh: 'bash',
};

/** Languages that stand in code of another. */
const WITHIN: Record<string, readonly string[]> = {
  javascript: ['xml'],
  markdown: ['xml'],
  php: ['xml'],
  shell: ['bash'],
  typescript: ['xml'],
  xml: ['css', 'javascript'],
};

/** The name of a language's grammar, and those that its code may hold; `null` for one that is not known. */
export function findGrammars(language: string): readonly [string, ...string[]] | null {
  const name = Object.hasOwn(NAMES, language) ? (NAMES[language] ?? '') : language;
  return Object.hasOwn(GRAMMARS, name) ? [name, ...(WITHIN[name] ?? [])] : null;
}

export async function loadGrammar(name: string): Promise<LanguageFn | null> {
  return (await GRAMMARS[name]?.())?.default ?? null;
}
