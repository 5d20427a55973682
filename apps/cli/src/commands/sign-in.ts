import type { Command } from 'commander';
import { createContext } from '../context.ts';

export function addSignIn(program: Command): void {
  program
    .command('sign-in')
    .description('Print a link that signs a browser in, once, within 15 minutes')
    .action(async (_options: unknown, command: Command) => {
      const { api, output, url } = createContext(command);
      const { code, expiresAt } = await api.createSignInCode();
      const link = new URL(`/sign-in#code=${code}`, url).href;
      if (output.json) return output.document({ link, expiresAt });
      output.line(link);
    });
}
