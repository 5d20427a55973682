import { AppError } from '../../kernel/app-error.ts';

/** The connection to a server could not be made, or broke. What the server said of it is text of a stranger. */
export class ServerLost extends AppError {
  readonly why: string;
  /** True when its program ended while it was being greeted. */
  readonly hasEnded: boolean;
  /** True when it no longer knows the session: it has done nothing of what it was asked. */
  readonly hasForgotten: boolean;

  constructor(
    server: string,
    why: string,
    options: { hasEnded?: boolean; hasForgotten?: boolean; cause?: unknown } = {},
  ) {
    super('mcp.unavailable', `The MCP server ${server} is not available: ${why}`, {
      status: 502,
      hint: 'Go on without it, or try again later. The settings show its state under "MCP servers".',
      cause: options.cause,
    });
    this.why = why;
    this.hasEnded = options.hasEnded ?? false;
    this.hasForgotten = options.hasForgotten ?? false;
  }
}
