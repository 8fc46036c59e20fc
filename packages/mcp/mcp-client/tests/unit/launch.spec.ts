/** Owns the tests of a process that is started ahead of its transport, while the SDK is loaded. */
import { describe, expect, it } from 'vitest'
import { StdioTransport } from '../../src/connection/stdio.ts'

const open = (code: string, command = process.execPath): StdioTransport =>
  new StdioTransport({
    serverName: 's',
    command,
    args: ['-e', code],
    env: {},
    limits: { messageBytes: 1_000, stderrBytes: 1_000 },
    redact: (text) => text,
    onNote: () => undefined,
  })

describe('a launched transport', () => {
  it('has one process, which start() finds', async () => {
    const transport = open('process.stdin.resume()')
    transport.launch()
    transport.launch()
    await transport.start()
    expect(transport.pid).toBeGreaterThan(1)
    await expect(transport.start()).rejects.toThrow('a stdio transport starts once')
    await transport.close()
    expect(transport.diagnostics().exit).toBeDefined()
  })

  it('tells at start() that the command is not there', async () => {
    const transport = open('', 'no-such-command-anywhere')
    transport.launch()
    await expect(transport.start()).rejects.toMatchObject({ code: 'MCP_SPAWN_FAILED' })
    await transport.close()
  })

  it('can be closed before it was started', async () => {
    const transport = open('process.stdin.resume()')
    transport.launch()
    await transport.close()
    expect(transport.diagnostics().exit).toBe('exit code 0')
  })

  it('keeps the end of a process that was quicker than the start', async () => {
    const transport = open('process.exit(3)')
    const ended = new Promise<void>((resolve) => (transport.onclose = resolve))
    transport.launch()
    await ended
    await transport.start()
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('exit code 3')
    expect(transport.diagnostics().exit).toBe('exit code 3')
  })
})
