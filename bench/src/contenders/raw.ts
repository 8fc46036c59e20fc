/** Owns the raw limit: the hand-written client alone. */
import type { Connection, Contender, Outcome, Target } from '../contender.ts'
import { openWire } from './wire.ts'
import type { CallResult, ListedTool, Wire } from './wire.ts'

interface Server {
  wire: Wire
  tools: ListedTool[]
}

export const raw: Contender = {
  load: () => Promise.resolve(),
  async open(targets): Promise<Connection> {
    const servers = new Map<string, Server>()
    await Promise.all(targets.map(async (target) => start(target, servers)))
    const all = (): ListedTool[] => [...servers.values()].flatMap(({ tools }) => tools)
    return {
      tools: () => all().length,
      async call(server, at, order) {
        const { wire } = servers.get(server) ?? down(server)
        return outcomeOf(
          (await wire.request('tools/call', { name: `tool_${at}`, arguments: order })) as CallResult,
        )
      },
      events: () => undefined,
      definitionBytes: () => Buffer.byteLength(JSON.stringify(all())),
      async close() {
        const open = [...servers.values()]
        servers.clear()
        isClosed.add(servers)
        await Promise.all(open.map(({ wire }) => wire.close()))
      },
    }
  },
}

const isClosed = new WeakSet<Map<string, Server>>()

async function start(target: Target, servers: Map<string, Server>): Promise<void> {
  const wire = await openWire(target, {
    onNotification: (method) => {
      if (method === 'notifications/tools/list_changed') void refresh()
    },
    onEnd() {
      if (!servers.delete(target.name) || isClosed.has(servers)) return
      void start(target, servers)
    },
  })
  const refresh = async (): Promise<void> => {
    const { tools } = (await wire.request('tools/list')) as { tools: ListedTool[] }
    servers.set(target.name, { wire, tools })
  }
  await refresh()
}

function down(server: string): never {
  throw new Error(`${server} is not there`)
}

/** What a caller reads of a result. */
export function outcomeOf({ content }: CallResult): Outcome {
  return {
    text: content.map(({ text = '' }) => text).join(''),
    imageBytes: content.reduce(
      (bytes, { type, data = '' }) => bytes + (type === 'image' ? data.length : 0),
      0,
    ),
  }
}
