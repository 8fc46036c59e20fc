/** Owns the table of the public servers: where each starts and what it must be given to list its tools. */

export interface PublicServer {
  /** The serverName of its row. */
  readonly name: string
  readonly package: string
  /** File of the package that is started. */
  readonly entry: string
  readonly args?: (folder: string) => readonly string[]
  /** Dummy values: a server that checks them only when it is called. */
  readonly env?: (folder: string) => Readonly<Record<string, string>>
}

const NOWHERE = '127.0.0.1:9'

/** A file that servers with a browser login want to see before they list their tools. */
export const OAUTH_FILE = 'oauth.json'
export const OAUTH_KEYS = {
  installed: {
    client_id: 'none',
    client_secret: 'none',
    redirect_uris: ['http://localhost:3000/oauth2callback'],
  },
}

export const SERVERS: readonly PublicServer[] = [
  { name: 'everything', package: '@modelcontextprotocol/server-everything', entry: 'dist/index.js' },
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    entry: 'dist/index.js',
    args: (folder) => [folder],
  },
  { name: 'memory', package: '@modelcontextprotocol/server-memory', entry: 'dist/index.js' },
  {
    name: 'sequential-thinking',
    package: '@modelcontextprotocol/server-sequential-thinking',
    entry: 'dist/index.js',
  },
  {
    name: 'github',
    package: '@modelcontextprotocol/server-github',
    entry: 'dist/index.js',
    env: () => ({ GITHUB_PERSONAL_ACCESS_TOKEN: 'none' }),
  },
  {
    name: 'gitlab',
    package: '@modelcontextprotocol/server-gitlab',
    entry: 'dist/index.js',
    env: () => ({ GITLAB_PERSONAL_ACCESS_TOKEN: 'none' }),
  },
  {
    name: 'slack',
    package: '@modelcontextprotocol/server-slack',
    entry: 'dist/index.js',
    env: () => ({ SLACK_BOT_TOKEN: 'xoxb-none', SLACK_TEAM_ID: 'T0' }),
  },
  {
    name: 'postgres',
    package: '@modelcontextprotocol/server-postgres',
    entry: 'dist/index.js',
    args: () => [`postgresql://${NOWHERE}/none`],
  },
  {
    name: 'google-maps',
    package: '@modelcontextprotocol/server-google-maps',
    entry: 'dist/index.js',
    env: () => ({ GOOGLE_MAPS_API_KEY: 'none' }),
  },
  {
    name: 'brave-search',
    package: '@modelcontextprotocol/server-brave-search',
    entry: 'dist/index.js',
    env: () => ({ BRAVE_API_KEY: 'none' }),
  },
  {
    name: 'everart',
    package: '@modelcontextprotocol/server-everart',
    entry: 'dist/index.js',
    env: () => ({ EVERART_API_KEY: 'none' }),
  },
  { name: 'puppeteer', package: '@modelcontextprotocol/server-puppeteer', entry: 'dist/index.js' },
  { name: 'playwright', package: '@playwright/mcp', entry: 'cli.js' },
  { name: 'context7', package: '@upstash/context7-mcp', entry: 'dist/index.js' },
  {
    name: 'notion',
    package: '@notionhq/notion-mcp-server',
    entry: 'bin/cli.mjs',
    env: () => ({ NOTION_TOKEN: 'none' }),
  },
  {
    name: 'tavily',
    package: 'tavily-mcp',
    entry: 'build/index.js',
    env: () => ({ TAVILY_API_KEY: 'tvly-none' }),
  },
  {
    name: 'firecrawl',
    package: 'firecrawl-mcp',
    entry: 'dist/index.js',
    env: () => ({ FIRECRAWL_API_KEY: 'fc-none' }),
  },
  {
    name: 'mongodb',
    package: 'mongodb-mcp-server',
    entry: 'dist/esm/index.js',
    env: () => ({ MDB_MCP_TELEMETRY: 'disabled' }),
  },
  { name: 'kubernetes', package: 'mcp-server-kubernetes', entry: 'dist/index.js' },
  { name: 'desktop-commander', package: '@wonderwhy-er/desktop-commander', entry: 'dist/index.js' },
  { name: 'excalidraw', package: 'mcp-excalidraw-server', entry: 'dist/bin.js' },
  { name: 'chart', package: '@antv/mcp-server-chart', entry: 'build/index.js' },
  { name: 'git', package: '@cyanheads/git-mcp-server', entry: 'dist/index.js' },
  {
    name: 'gmail',
    package: '@gongrzhe/server-gmail-autoauth-mcp',
    entry: 'dist/index.js',
    env: (folder) => ({ GMAIL_OAUTH_PATH: `${folder}/${OAUTH_FILE}` }),
  },
  {
    name: 'google-calendar',
    package: '@cocal/google-calendar-mcp',
    entry: 'build/index.js',
    env: (folder) => ({ GOOGLE_OAUTH_CREDENTIALS: `${folder}/${OAUTH_FILE}` }),
  },
  {
    name: 'todoist',
    package: 'todoist-mcp',
    entry: 'dist/index.js',
    env: () => ({ API_KEY: 'none', TODOIST_API_KEY: 'none' }),
  },
  { name: 'weather', package: '@dangahagan/weather-mcp', entry: 'dist/index.js' },
  {
    name: 'airtable',
    package: 'airtable-mcp-server',
    entry: 'dist/main.js',
    env: () => ({ AIRTABLE_API_KEY: 'none' }),
  },
  { name: 'time', package: 'time-mcp', entry: 'dist/index.js' },
  { name: 'calc', package: '@coo-quack/calc-mcp', entry: 'dist/index.js' },
  {
    name: 'trello',
    package: '@delorenj/mcp-server-trello',
    entry: 'build/index.js',
    env: () => ({ TRELLO_API_KEY: 'none', TRELLO_TOKEN: 'none', TRELLO_BOARD_ID: 'none' }),
  },
  {
    name: 'sentry',
    package: '@sentry/mcp-server',
    entry: 'dist/index.js',
    args: () => ['--access-token=none'],
  },
]
