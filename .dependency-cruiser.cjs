// Which folder may import which: the arrow of the architecture as a check. See ARCHITECTURE.md.

const SERVER = '^apps/server/src/';
const TESTING = '\\.test\\.tsx?$|/testing/|/testing\\.ts$|/testing-[^/]+\\.ts$|-testing-[^/]+\\.ts$';

/** A feature folder of the server, and the folders it may import besides itself and the contracts. */
const DIRECTION = {
  kernel: [],
  engine: ['kernel'],
  autonomy: ['kernel'],
  identity: ['kernel'],
  audit: ['kernel'],
  // MCP servers and skills: tools that users bring.
  extensions: ['kernel', 'engine', 'identity'],
  // Webhooks and Web Push: readers of the journal that tell the outside.
  notices: ['kernel', 'engine', 'identity'],
  sandbox: ['kernel', 'identity'],
  recovery: ['kernel', 'engine'],
  intelligence: ['kernel', 'engine'],
  experts: ['kernel', 'engine'],
  soul: ['kernel', 'intelligence'],
  runs: [
    'kernel',
    'engine',
    'autonomy',
    'identity',
    'sandbox',
    'recovery',
    'intelligence',
    'experts',
    'soul',
  ],
  channels: ['kernel', 'runs'],
  proactive: ['kernel', 'runs'],
};
// Reads through every front door.
DIRECTION.ops = [...Object.keys(DIRECTION)];
/** Compositions: these may import everything, still through the front doors. */
const COMPOSITIONS = ['app', 'demo'];

const directionRules = Object.entries(DIRECTION).map(([folder, allowed]) => ({
  name: `direction-${folder}`,
  comment: `${folder} may import ${['contracts', ...allowed].join(', ')}. What has to flow up flows as an event or as a function handed in.`,
  severity: 'error',
  from: { path: `${SERVER}${folder}/` },
  to: { path: SERVER, pathNot: `${SERVER}(${[folder, ...allowed].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...directionRules,
    {
      name: 'known-folder',
      comment: 'A new folder of the server needs its place in the direction table of this file.',
      severity: 'error',
      from: {},
      to: {
        path: `${SERVER}[^/]+/`,
        pathNot: `${SERVER}(${[...Object.keys(DIRECTION), ...COMPOSITIONS].join('|')})/`,
      },
    },
    {
      name: 'front-door',
      comment:
        'Another feature is imported through its index.ts. (The kernel has none: each of its modules is one thing. The app has none: only programs import it.)',
      severity: 'error',
      from: { path: `${SERVER}([^/]+)`, pathNot: TESTING },
      to: { path: `${SERVER}[^/]+/`, pathNot: `${SERVER}($1|kernel|app)/|${SERVER}[^/]+/index\\.ts$` },
    },
    {
      name: 'kernel-testing-stays-in-tests',
      comment: 'What is made for tests is imported by tests.',
      severity: 'error',
      from: { path: '^(apps|packages)/', pathNot: TESTING },
      to: { path: '/testing/|/testing\\.ts$|/testing-[^/]+\\.ts$|-testing-[^/]+\\.ts$' },
    },
    {
      name: 'web-and-cli-know-contracts-only',
      comment: 'The web app and the command line talk to the server over HTTP.',
      severity: 'error',
      from: { path: '^apps/(web|cli)/' },
      to: { path: '^(apps|packages)/', pathNot: '^(apps/$1|packages/contracts)/' },
    },
    {
      name: 'contracts-know-nobody',
      comment: 'The contracts are schemas and types: zod, and nothing of the product.',
      severity: 'error',
      from: { path: '^packages/contracts/src/', pathNot: TESTING },
      to: { pathNot: '^packages/contracts/src/|(^|/)node_modules/zod/' },
    },
    {
      name: 'server-knows-no-front-end',
      severity: 'error',
      from: { path: SERVER },
      to: { path: '^apps/(web|cli)/' },
    },
    {
      name: 'database-in-stores-only',
      comment:
        'SQL and its libraries live in the kernel, *.store.ts and tables.ts. A type of a connection comes from kernel/database.',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: `${SERVER}kernel/|\\.store\\.ts$|/tables\\.ts$|${TESTING}`,
      },
      to: { path: '(^|/)node_modules/(pg|drizzle-orm)/|^(pg|drizzle-orm)(/|$)' },
    },
    {
      name: 'engine-and-autonomy-are-plain',
      comment: 'Plain functions and classes, testable with `new`: no HTTP server in them.',
      severity: 'error',
      from: { path: `${SERVER}(engine|autonomy)/`, pathNot: TESTING },
      to: {
        path: '(^|/)node_modules/(fastify|@fastify)/|^(node:)?(http|https|net|tls)$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'engine-starts-no-programs',
      comment:
        'Commands of tasks run in the guest that a task has claimed: tools have no way to run any on the host.',
      severity: 'error',
      from: { path: `${SERVER}(engine|autonomy|runs)/`, pathNot: TESTING },
      to: { path: '^(node:)?(child_process|cluster)$' },
    },
    {
      name: 'no-circles',
      comment: 'Files that need each other are one thing, or one of them needs a function handed in.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-vague-names',
      comment: 'A folder or file says what it holds.',
      severity: 'error',
      from: {},
      to: { path: '^(apps|packages)/.*/(utils?|common|helpers?|shared)(/|\\.tsx?$)' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-packages',
      comment:
        'A package that is imported stands in the package.json of its workspace, and not among the development ones.',
      severity: 'error',
      from: { path: '^(apps/(server|cli)|packages/[^/]+)/src/', pathNot: TESTING },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|coverage|\\.cache)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
