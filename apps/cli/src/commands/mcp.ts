import { risk, type McpServer, type McpToolDefinition, type McpTransport } from '@vitto/contracts';
import { Option, type Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { formatCount, formatTable } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('My MCP servers: programs and addresses whose tools tasks use');
  mcp
    .command('ls', { isDefault: true })
    .description('List my MCP servers')
    .action((_options: object, command: Command) => listServers(createContext(command)));
  mcp
    .command('add')
    .description('Add a server and look at its tools')
    .argument('<name>', 'small letters, digits and -')
    .argument('<target...>', 'its https:// address, or after -- the program with its arguments')
    .option(
      '--set <NAME=VALUE>',
      'a header or an environment variable; {{secret:NAME}} names a secret',
      collect,
      [],
    )
    .addOption(
      new Option('--risk <risk>', 'what its tools do, unless you say otherwise').choices(risk.options),
    )
    .action((name: string, target: string[], options: AddOptions, command: Command) =>
      addServer(createContext(command), name, target, options),
    );
  mcp
    .command('check')
    .description('Connect to a server now and show what it offers')
    .argument('<name>')
    .action((name: string, _options: object, command: Command) => checkServer(createContext(command), name));
  mcp
    .command('approve')
    .description('Let tasks use what the last check showed')
    .argument('<name>')
    .action((name: string, _options: object, command: Command) =>
      approveServer(createContext(command), name),
    );
  mcp
    .command('rm')
    .description('Remove a server')
    .argument('<name>')
    .action((name: string, _options: object, command: Command) => removeServer(createContext(command), name));
}

interface AddOptions {
  set: string[];
  risk?: McpServer['risk'];
}

function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

async function listServers({ api, output }: Context): Promise<void> {
  const { items } = await api.listMcpServers();
  if (output.json) return output.document({ items });
  if (items.length === 0)
    return output.notice(`No MCP servers. Add one with: ${commandLine('mcp add NAME URL')}`);
  const rows = items.map((server) => [
    server.name,
    server.state,
    formatCount(server.approvedTools.length, 'tool'),
    server.risk,
    toPlainLine(describeTransport(server.transport)),
  ]);
  for (const row of formatTable(rows)) output.line(row);
}

function describeTransport(transport: McpTransport): string {
  return transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}

async function addServer(
  context: Context,
  name: string,
  target: string[],
  options: AddOptions,
): Promise<void> {
  const transport = toTransport(target, Object.fromEntries(options.set.map(toPair)));
  const server = await context.api.createMcpServer({
    name,
    transport,
    ...(options.risk === undefined ? {} : { risk: options.risk }),
  });
  showChecked(context, await context.api.checkMcpServer(server.id));
}

function toTransport(target: string[], values: Record<string, string>): McpTransport {
  const [command = '', ...args] = target;
  if (/^https?:\/\//i.test(command) && args.length === 0) {
    return { kind: 'http', url: command, headers: values };
  }
  return { kind: 'stdio', command, args, env: values };
}

function toPair(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CliError(EXIT.usage, 'cli.bad-pair', `"${text}" is not NAME=VALUE.`, 'Write --set NAME=VALUE.');
}

async function checkServer(context: Context, name: string): Promise<void> {
  const server = await findServer(context, name);
  showChecked(context, await context.api.checkMcpServer(server.id));
}

function showChecked({ output }: Context, server: McpServer): void {
  if (server.lastError !== null) process.exitCode = EXIT.failed;
  if (output.json) return output.document(server);
  if (server.lastError !== null) {
    return output.error({ ...server.lastError, hint: server.lastError.hint });
  }
  const tools = server.offeredTools ?? server.approvedTools;
  for (const tool of tools) for (const line of describeTool(tool, server)) output.line(line);
  if (server.offeredTools === null) return output.note(`${server.name} offers what is approved.`);
  output.note(`Let tasks use them with: ${commandLine(`mcp approve ${server.name}`)}`);
}

/** What is new or other than approved is marked: it is what an approval is about. */
function describeTool(tool: McpToolDefinition, server: McpServer): string[] {
  const before = server.approvedTools.find(({ name }) => name === tool.name);
  const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(tool);
  const mark = isSame || server.approvedHash === null ? ' ' : before === undefined ? '+' : '~';
  return [
    `${mark} ${tool.toolName}${tool.isUsable ? '' : ' (not usable)'}: ${toPlainLine(tool.description)}`,
    ...tool.warnings.map((warning) => `    ! ${toPlainLine(warning)}`),
  ];
}

async function approveServer(context: Context, name: string): Promise<void> {
  const { api, output } = context;
  const server = await findServer(context, name);
  const hash = server.offeredHash ?? server.approvedHash;
  if (hash === null) {
    throw new CliError(
      EXIT.failed,
      'cli.not-checked',
      `Nothing is known yet of what ${name} offers.`,
      `Look at it first: ${commandLine(`mcp check ${name}`)}`,
    );
  }
  const approved = await api.approveMcpServer(server.id, { offeredHash: hash });
  if (output.json) return output.document(approved);
  output.notice(
    `Approved ${formatCount(approved.approvedTools.length, 'tool')} of ${name}. Tasks that begin from now on have them.`,
  );
}

async function removeServer(context: Context, name: string): Promise<void> {
  const server = await findServer(context, name);
  await context.api.removeMcpServer(server.id);
  if (context.output.json) return context.output.document({ name, removed: true });
  context.output.notice(`Removed ${name}.`);
}

async function findServer({ api }: Context, name: string): Promise<McpServer> {
  const { items } = await api.listMcpServers();
  const found = items.find((server) => server.name === name);
  if (found !== undefined) return found;
  const names = items.map((server) => server.name).join(', ');
  throw new CliError(
    EXIT.failed,
    'cli.no-mcp-server',
    `You have no MCP server named "${name}".`,
    names === '' ? `Add one with: ${commandLine('mcp add NAME URL')}` : `There are: ${names}.`,
  );
}
