import { expect, it } from 'vitest'
import { bootHost, leftovers, expectNoLeftovers, stdioServer, stdioRow, startHttpServer, httpRow, runTurn } from '../src/index.ts'
it('row', async () => {
  const before = leftovers()
  const server = stdioServer('healthy', { era: 'dual' })
  const http = await startHttpServer({ era: 'dual' })
  const host = await bootHost({ rows: [stdioRow('one', server, { failOnStartupError: true }), httpRow('two', http.url)] })
  console.log(host.tools(), host.logs)
  await host.until(() => host.tools().length === 2)
  console.log(await host.call('mcp__one__echo', { message: 'hi' }))
  const t = await runTurn(host, { script: [{ call: { name: 'mcp__two__echo', args: { message: 'x' } } }] })
  console.log(t.transcript, t.events.map(e => e.type + ' ' + JSON.stringify(e.data).slice(0, 150)).join('\n'))
  await host.dispose(); await http.close()
  await expectNoLeftovers(before)
})
