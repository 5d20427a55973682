import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration, ExportSpecifier[exported.name="default"]',
  message: 'Name what you export: a default export has another name in every file.',
};
const NO_ENVIRONMENT = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'The environment is read once, in apps/server/src/app/config: take a setting as an argument.',
  },
  {
    selector: 'ImportDeclaration[source.value=/^(node:)?process$/] ImportSpecifier[imported.name="env"]',
    message: 'The environment is read once, in apps/server/src/app/config: take a setting as an argument.',
  },
];
const NO_MODULE_MOCKS = {
  selector: 'CallExpression[callee.object.name="vi"][callee.property.name=/^(mock|doMock|hoisted)$/]',
  message: 'Hand a fake in instead of mocking a module.',
};

/** What the language allows and nobody means. */
const PLAIN_MISTAKES = [
  'no-async-promise-executor',
  'no-compare-neg-zero',
  'no-cond-assign',
  'no-constant-binary-expression',
  'no-control-regex',
  'no-debugger',
  'no-dupe-else-if',
  'no-duplicate-case',
  'no-empty-character-class',
  'no-irregular-whitespace',
  'no-loss-of-precision',
  'no-misleading-character-class',
  'no-prototype-builtins',
  'no-sparse-arrays',
  'no-unsafe-finally',
  'no-unsafe-negation',
  'no-useless-backreference',
  'no-useless-catch',
  'use-isnan',
  'valid-typeof',
];

const TESTS = [
  '**/*.test.ts',
  '**/*.test.tsx',
  '**/testing/**',
  '**/testing.ts',
  '**/testing-*.ts',
  '**/*-testing-*.ts',
];
const ENTRY_CONFIGS = ['**/*.config.{js,ts}', '.dependency-cruiser.cjs'];

export default defineConfig(
  {
    ignores: [
      '**/node_modules/',
      '**/dist/',
      '**/.cache/',
      '**/coverage/',
      'apps/server/migrations/',
      'benches/peers/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      'prefer-const': 'error',
      'object-shorthand': 'error',
      'no-new-func': 'error',
      'no-eval': 'error',
      'no-self-compare': 'error',
      'no-template-curly-in-string': 'error',
      ...Object.fromEntries(PLAIN_MISTAKES.map((rule) => [rule, 'error'])),
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, ...NO_ENVIRONMENT, NO_MODULE_MOCKS],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // An abort's reason, or what was caught, may be anything; it is passed on as it is.
      '@typescript-eslint/only-throw-error': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      // A port's method is async for its other implementations.
      '@typescript-eslint/require-await': 'off',
      // The compiler reports these.
      '@typescript-eslint/no-unused-vars': 'off',
    },
  },
  {
    // Tests look into answers of any shape, and into methods.
    files: TESTS,
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  {
    files: [
      ...TESTS,
      'scripts/**',
      'benches/**',
      'apps/cli/src/**',
      // Programs hand the environment on.
      'apps/server/src/{main,doctor,images,vault,demo/main}.ts',
      'apps/server/src/app/config*.ts',
      'apps/server/src/app/config/**',
    ],
    rules: { 'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, NO_MODULE_MOCKS] },
  },
  {
    files: ENTRY_CONFIGS,
    rules: { 'no-restricted-syntax': 'off' },
  },
);
