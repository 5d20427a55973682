import { AppError } from '../../kernel/app-error.ts';

const NO_SPACE = /no space left on device|disk quota exceeded|ENOSPC/i;
const REGISTRY_DOWN =
  /could not resolve|temporary failure resolving|failed to fetch|unable to connect|could not connect|connection (refused|timed out|failed)|network is unreachable|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|E50[0-9]|does not have a release file/i;

/** What a program's last words mean for the person who builds an image, and what to do about it. */
export function explainFailure(program: string, exit: string, output: string): AppError {
  const words = lastWords(output);
  const cause = { cause: new Error(`${program}: ${exit}\n${output}`) };
  if (NO_SPACE.test(output)) {
    return noSpace(cause.cause);
  }
  if (REGISTRY_DOWN.test(output)) {
    return new AppError('image.registry-down', `A package registry does not answer: ${words}`, {
      status: 503,
      hint: 'See that deb.debian.org and registry.npmjs.org can be reached from here (http_proxy and https_proxy count), then build again.',
      ...cause,
    });
  }
  return new AppError('image.build-failed', `${program} failed (${exit}): ${words}`, {
    status: 500,
    hint: 'Build again with `vitto image build NAME --verbose` to see what it says.',
    ...cause,
  });
}

/** The last lines that say something went wrong, else the last line. */
function lastWords(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /^(E:|npm error|.*\berror\b|.*cannot\b)/i.test(line));
  return (errors.length > 0 ? errors.slice(-2) : lines.slice(-1)).join(' ').slice(0, 500);
}

/** Whether the operating system refused to write for want of room. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

export function noSpace(cause: unknown): AppError {
  return new AppError('image.no-space', 'The disk has too little room for the image.', {
    status: 507,
    hint: 'Make room in the folder of the images, or name another one by VITTO_IMAGES; `vitto image rm NAME` removes an image.',
    cause,
  });
}
