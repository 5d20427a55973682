import type { ToolPlugin } from '../tool.ts';
import { createFetchWebpage, type WebDependencies } from './fetch-webpage.ts';
import { createPageReader } from './reading/page-reader.ts';

/** The tools that read the web, over the guarded way out that is handed in. */
export function createWebTools(
  dependencies: Omit<WebDependencies, 'readPage'> & Partial<Pick<WebDependencies, 'readPage'>>,
): ToolPlugin {
  const web = { ...dependencies, readPage: dependencies.readPage ?? createPageReader() };
  return { name: 'web', tools: [createFetchWebpage(web)] };
}
