// A server of the Model Context Protocol over stdio. What it offers stands in the file that its argument names, so
// that a test can change it.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'stub', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: JSON.parse(readFileSync(file, 'utf8')) }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome =
    answer === undefined
      ? { error: { code: -32601, message: `no ${method}` } }
      : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
