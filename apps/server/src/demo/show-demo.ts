import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser } from '../app/open-browser.ts';
import type { Vitto } from '../app/start-vitto.ts';
import { isSignInCodeUsed, SIGN_IN_CODE_MINUTES } from '../identity/index.ts';
import { DemoClient } from './demo-client.ts';
import { DEMO_SCRIPT, demoCacheOf, prepareDemo } from './prepare-demo.ts';
import { tellEnd } from './tell-end.ts';

export interface ShowOptions {
  mayOpen: boolean;
  /** For finding the browser. */
  environment: Record<string, string | undefined>;
  /** Ends it. */
  signal: AbortSignal;
  write: (line: string) => void;
}

/** Plays the demo in the web app, from when somebody has signed in to watch it, and stays until the signal. */
export async function showDemo(vitto: Vitto, options: ShowOptions): Promise<void> {
  const { signal, write } = options;
  const demo = await prepareDemo(demoCacheOf(vitto.installation.config.home));
  try {
    // Not 127.0.0.1: cookies know no ports, and the session of the user's own Vitto is to stay.
    const url = (vitto.url ?? '').replace('//127.0.0.1:', '//localhost:');
    const client = await DemoClient.connect(vitto);
    // There from the beginning, so that whoever signs in finds it; it begins to play once somebody looks.
    const conversationId = await client.openConversation(demo);
    const page = `/vitto/c/${conversationId}`;
    await waitForSignIn(vitto, { url, page }, options);
    const id = await client.startDemoIn(conversationId, demo, DEMO_SCRIPT);
    write(`The demo plays: ${url}${page}`);
    await tellEnd(client, id, options);
    await untilAborted(signal);
    await client.cancelTask(id).catch(() => undefined);
  } finally {
    await demo.remove();
  }
}

/** Shows links until one is used. */
async function waitForSignIn(
  vitto: Vitto,
  { url, page }: { url: string; page: string },
  options: ShowOptions,
): Promise<void> {
  const { database } = vitto.installation;
  for (;;) {
    const code = await vitto.createSignInCode();
    const link = `${url}/sign-in#code=${code}&to=${encodeURIComponent(page)}`;
    const isOpened = options.mayOpen && openBrowser(link, options.environment);
    options.write(
      `${isOpened ? 'Opened in your browser; by hand' : 'The demo starts when you open this'} (once, within ${SIGN_IN_CODE_MINUTES} minutes): ${link}`,
    );
    options.write(
      'Ctrl-C ends it. Without a browser: npm run demo -- --headless     Your own Vitto: npm start',
    );
    const end = Date.now() + SIGN_IN_CODE_MINUTES * 60_000;
    while (Date.now() < end) {
      if (await isSignInCodeUsed(database, code)) return;
      await sleep(500, undefined, { signal: options.signal });
    }
    options.write('The link has expired.');
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
