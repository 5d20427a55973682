import type { Defect } from './plant-defect.ts';

/** A public package whose tarball carries its tests, fetched from the npm registry when the demo runs. */
export interface DemoPackage {
  name: string;
  /** Exact, as is the integrity: what runs is what was looked at, or nothing runs. */
  version: string;
  /** `sha512-…` of the tarball, as the registry states it. */
  integrity: string;
  license: string;
  defect: Defect;
}

/**
 * A parser of HTTP Content-Type headers. Its tests need nothing but Node.js and take well under a second. The defect
 * is the kind that survives a review: a backslash that escapes another backslash is taken for an escape twice.
 */
export const DEMO_PACKAGE: DemoPackage = {
  name: 'fast-content-type-parse',
  version: '4.0.1',
  integrity:
    'sha512-AAu9Ey/t6KDFqqeCfbwdlASlv7rQBG57gXYf2YU+MXJx1OIJn2q3BEJKmtnZaeGm1y5AYxLzRMmq9VWWXrfRcA==',
  license: 'MIT',
  defect: { file: 'index.js', right: 'start = ++index', wrong: 'start = index + 1' },
};
