import type { CookieSerializeOptions } from '@fastify/cookie';
import { SESSION_DAYS } from '../../identity/index.ts';

export const SESSION_COOKIE = 'vitto_session';

/** No script reads it, no other site's form sends it. */
export function sessionCookieOptions(publicUrl: string): CookieSerializeOptions {
  return {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: publicUrl.startsWith('https:'),
    maxAge: SESSION_DAYS * 86_400,
  };
}
