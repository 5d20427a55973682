import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../app/open-browser.ts';
import type { Vitto } from '../app/start-vitto.ts';
import { createSignInCode } from '../identity/index.ts';
import { DemoClient } from './demo-client.ts';

/** Starts the demo as the web app would and says where to watch it. It plays for about a minute, paused for readers. */
export async function showDemo(
  vitto: Vitto,
  options: {
    mayOpen: boolean;
    environment: Record<string, string | undefined>;
    write: (line: string) => void;
  },
): Promise<void> {
  const { write } = options;
  const { config, database } = vitto.installation;
  const url = vitto.url ?? '';
  const token = await readFile(join(config.home, 'cli-token'), 'utf8');
  const { conversationId } = await new DemoClient(url, token.trim()).startDemo();
  const link = `${url}/sign-in#code=${await createSignInCode(database, vitto.owner.id)}`;
  const isOpened = options.mayOpen && openBrowser(link, options.environment);
  write(
    isOpened
      ? `The demo plays in your browser. Elsewhere, once: ${link}`
      : `Watch the demo (once, within 15 minutes): ${link}`,
  );
  write(`Then: ${url}/vitto/c/${conversationId ?? ''}`);
  write('Ctrl-C ends it. In the terminal alone: npm run demo -- --headless     Your own Vitto: npm start');
}
