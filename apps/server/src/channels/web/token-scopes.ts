import type { TokenScope } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import type { Viewer } from './web-app.ts';

/** @throws AppError `sign-in.scope` (403) when a request was made with a token that lacks the scope. */
export function requireScope(viewer: Viewer, scope: TokenScope): void {
  if (viewer.scopes.includes(scope)) return;
  throw new AppError('sign-in.scope', `This token may not do that: it lacks the scope \`${scope}\`.`, {
    status: 403,
    hint: `Use a token with the scope \`${scope}\`; it has ${viewer.scopes.join(', ')}.`,
  });
}
