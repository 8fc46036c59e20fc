import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/tests/**/*.spec.ts', 'packages/mcp/mcp-client/tests/**/*.spec.ts'],
    pool: 'forks',
    poolOptions: {
      forks: { maxForks: 2, execArgv: ['--expose-internals', '--disable-warning=ExperimentalWarning'] },
    },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['packages/mcp/mcp-client/src/**/*.ts'],
      exclude: ['packages/mcp/mcp-client/src/types{,-config}.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { perFile: true, lines: 100, functions: 100, branches: 100, statements: 100 },
    },
  },
})
