/** Owns `dsh-mcp pins`: what is pinned of the servers, what changed, and a person's word on it. Starts no server. */
import { loadDiffer } from '../discovery/pin-diff.ts'
import { openPinFile } from '../discovery/pin-file.ts'
import type { PinFile } from '../discovery/pin-file.ts'
import {
  approvePins,
  changesOf,
  forgetPins,
  listPins,
  shellWord,
  shownName,
} from '../discovery/pin-review.ts'
import type { ServerSpec } from '../types.ts'
import { EXIT, UsageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import type { Output } from './output.ts'
import { pinFolder } from './pinned.ts'
import { selectRows } from './rows/source.ts'
import type { RowSource } from './rows/source.ts'

export const PIN_ACTIONS = ['list', 'show', 'approve', 'forget'] as const
export type PinAction = (typeof PIN_ACTIONS)[number]

export interface PinWords {
  readonly action: PinAction
  readonly server: string | undefined
  /** Name of a tool as it is shown; all of a server where it is absent, but for approve and forget. */
  readonly tool: string | undefined
}

interface Opened {
  readonly spec: ServerSpec
  readonly file: PinFile
}

/** @throws UsageError for approve and forget without a server and a tool */
export async function runPins(source: RowSource, words: PinWords, output: Output): Promise<ExitCode> {
  const { action, server, tool } = words
  // Looking must change nothing: a host that finds a damaged file holds what it cannot compare.
  const isReadOnly = action === 'list' || action === 'show'
  const opened = await openAll({ source, server, isReadOnly }, output)
  switch (action) {
    case 'list':
      return list(opened, output)
    case 'show':
      return show(opened, tool, output)
    case 'approve':
    case 'forget': {
      const [one] = opened
      if (server === undefined || tool === undefined || one === undefined) {
        throw new UsageError(`name both: pins ${action} SERVER TOOL, with '*' for all tools of the server`)
      }
      return change(one, action, tool, output)
    }
  }
}

interface Opening {
  readonly source: RowSource
  readonly server: string | undefined
  readonly isReadOnly: boolean
}

async function openAll({ source, server, isReadOnly }: Opening, output: Output): Promise<Opened[]> {
  const folder = pinFolder(output.io.env)
  const rows = selectRows(source, server === undefined ? [] : [server])
  const opened: Opened[] = []
  for (const { name, resolved } of rows) {
    if (!resolved.ok) {
      output.note(`${name}: the row is refused: ${resolved.fault}`)
      continue
    }
    const { spec } = resolved
    const note = (text: string): void => output.note(`${name}: ${spec.redact(text)}`)
    opened.push({
      spec,
      file: await openPinFile({ folder, serverName: spec.serverName, target: spec.target, note, isReadOnly }),
    })
  }
  return opened
}

function list(opened: readonly Opened[], output: Output): ExitCode {
  const pins = opened.flatMap(({ spec, file }) =>
    listPins(file).map((pin) => ({ server: spec.serverName, ...pin, name: spec.redact(pin.name) })),
  )
  output.json({ pins: pins.map((pin) => ({ ...pin, since: new Date(pin.since).toISOString() })) })
  if (pins.length === 0)
    output.line(
      'nothing is pinned yet: a host pins the tools of a server when it first lists them; this command pins nothing',
    )
  else {
    const rows = pins.map(({ server, name, state, digest, since }) => [
      server,
      name,
      state === 'pinned' ? state : output.style('yellow', state),
      digest.slice(0, 12),
      new Date(since).toISOString().slice(0, 10),
    ])
    for (const line of output.table(['SERVER', 'TOOL', 'STATE', 'DIGEST', 'SINCE'], rows)) output.line(line)
  }
  return EXIT.ok
}

async function show(opened: readonly Opened[], tool: string | undefined, output: Output): Promise<ExitCode> {
  const diff = await loadDiffer()
  const changes = opened.flatMap(({ spec, file }) =>
    changesOf(file, { diff, redact: spec.redact })
      .filter(({ name }) => tool === undefined || tool === '*' || name === tool)
      .map((change) => ({ server: spec.serverName, ...change })),
  )
  output.json({
    changes: changes.map((change) => ({ ...change, since: new Date(change.since).toISOString() })),
  })
  if (changes.length === 0) output.line('no definition changed')
  for (const { server, name, state, places, diff: text } of changes) {
    output.line(`${output.style('bold', `${server} ${name}`)}  ${state}: ${places.join(', ')}`)
    for (const line of text.split('\n')) output.line(`  ${line}`)
    if (state === 'held') output.line(`  -> dsh-mcp pins approve ${server} ${shellWord(name)}`)
  }
  return EXIT.ok
}

async function change(
  { spec, file }: Opened,
  action: 'approve' | 'forget',
  tool: string,
  output: Output,
): Promise<ExitCode> {
  const names = (action === 'approve' ? approvePins(file, tool) : forgetPins(file, tool)).map((name) =>
    spec.redact(shownName(name)),
  )
  await file.flush()
  const done = action === 'approve' ? 'approved' : 'forgotten'
  output.json({ server: spec.serverName, [done]: names })
  if (names.length === 0) {
    output.line(
      action === 'approve' ? 'nothing of that name waits for approval' : 'nothing of that name is pinned',
    )
    return EXIT.failed
  }
  output.line(`${done}: ${names.join(', ')}`)
  return EXIT.ok
}
