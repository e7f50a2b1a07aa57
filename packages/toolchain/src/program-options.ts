/** The compiler options of programs; template/tsconfig.json says the same to editors (a test holds them together). */
export const PROGRAM_OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023'],
  module: 'ESNext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  types: [] as string[],
  strict: true,
  isolatedModules: true,
  allowImportingTsExtensions: true,
  allowArbitraryExtensions: true,
  resolveJsonModule: true,
  allowJs: true,
  skipLibCheck: true,
  noEmit: true,
} as const;
