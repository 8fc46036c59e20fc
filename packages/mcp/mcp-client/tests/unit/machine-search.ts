/**
 * Owns the search through everything the connection machine can do: breadth first over all events, with stale
 * generations and two steps of time, until no new world is found. Generations and times are shifted to a fixed
 * base after each step, which keeps the space finite.
 */
import { INITIAL } from '../../src/connection/machine.ts'
import type { Effect, Event, Machine, State, transition } from '../../src/connection/machine.ts'
import type { ReconnectPolicy } from '../../src/types.ts'

/** What the outside of the machine is like: what is open, asked to close, armed and published. */
interface World {
  readonly machine: Machine
  readonly live: ReadonlySet<number>
  readonly asked: ReadonlySet<number>
  readonly armed: boolean
  readonly published: boolean
}

export interface Found {
  /** The shortest way to each broken invariant, by its name; empty when all hold. */
  readonly violations: Readonly<Record<string, string>>
  readonly states: ReadonlySet<string>
  /** `state/event` pairs that were tried. */
  readonly pairs: ReadonlySet<string>
  readonly worlds: number
  /** Nothing new is left to find. */
  readonly complete: boolean
}

const BASE_GENERATION = 10
/** A machine that is broken may have worlds without end. */
const MAX_STEPS = 20_000

export function searchMachine(step: typeof transition, policy: ReconnectPolicy): Found {
  const start: World = {
    machine: { ...INITIAL, lastGeneration: BASE_GENERATION },
    live: new Set(),
    asked: new Set(),
    armed: false,
    published: false,
  }
  const violations: Record<string, string> = {}
  const states = new Set<string>([start.machine.state.name])
  const pairs = new Set<string>()
  const visited = new Set<string>([keyOf(start)])
  let frontier: { readonly world: World; readonly way: string }[] = [{ world: start, way: '' }]
  let steps = 0
  while (frontier.length > 0 && steps < MAX_STEPS) {
    const next: typeof frontier = []
    for (const { world, way } of frontier) {
      for (const event of eventsOf(world)) {
        for (const now of [0, policy.maxDelayMs + 1]) {
          steps += 1
          const before = world.machine
          const { machine, effects } = step(before, event, policy, now)
          const path = `${way} > ${nameOf(event)}${now === 0 ? '' : ' (later)'}`
          const after = perform(world, event, machine, effects)
          const broken = [...after.faults, ...faultsOf(world, event, after.world, effects, policy)]
          broken.push(...stopFaults(step, machine, policy, now))
          for (const fault of broken) violations[fault] ??= `${path} => ${JSON.stringify(machine.state)}`
          pairs.add(`${before.state.name}/${event.type}`)
          states.add(machine.state.name)
          const rebased = rebase(after.world, now, policy)
          const key = keyOf(rebased)
          if (visited.has(key)) continue
          visited.add(key)
          next.push({ world: rebased, way: path })
        }
      }
    }
    frontier = next
  }
  return { violations, states, pairs, worlds: visited.size, complete: frontier.length === 0 }
}

/** Every event, for the newest generation and the one before it; a close is confirmed only where one was asked for. */
function eventsOf({ machine, live, asked }: World): Event[] {
  const events: Event[] = [
    { type: 'start' },
    { type: 'delay-elapsed' },
    { type: 'authorized' },
    { type: 'restart' },
    { type: 'stop' },
  ]
  for (const generation of [machine.lastGeneration, machine.lastGeneration - 1]) {
    events.push({ type: 'opened', generation }, { type: 'synced', generation })
    for (const disposition of ['retry', 'auth', 'fatal'] as const) {
      events.push({ type: 'broke', generation, disposition })
    }
    if (live.has(generation) && !asked.has(generation)) continue
    events.push({ type: 'closed', generation }, { type: 'close-timed-out', generation })
  }
  return events
}

function perform(
  world: World,
  event: Event,
  machine: Machine,
  effects: readonly Effect[],
): { world: World; faults: string[] } {
  const faults: string[] = []
  const live = new Set(world.live)
  const asked = new Set(world.asked)
  let armed = world.armed && event.type !== 'delay-elapsed'
  let published = world.published || machine.state.name === 'ready'
  if (event.type === 'closed') {
    live.delete(event.generation)
    asked.delete(event.generation)
  }
  for (const effect of effects) {
    switch (effect.type) {
      case 'open':
        if (live.size > 0) faults.push('two live generations')
        if (effect.generation <= world.machine.lastGeneration) faults.push('a generation is used again')
        live.add(effect.generation)
        break
      case 'close':
        if (!live.has(effect.generation) || asked.has(effect.generation))
          faults.push('closes what is not live')
        asked.add(effect.generation)
        break
      case 'arm':
        if (armed) faults.push('armed twice')
        armed = true
        break
      case 'disarm':
        if (!armed) faults.push('disarmed what is not armed')
        armed = false
        break
      case 'withdraw':
        published = false
        break
    }
  }
  return { world: { machine, live, asked, armed, published }, faults }
}

function faultsOf(
  before: World,
  event: Event,
  after: World,
  effects: readonly Effect[],
  policy: ReconnectPolicy,
): string[] {
  const was = before.machine.state
  const { state, failures } = after.machine
  const changed = after.machine !== before.machine || effects.length > 0
  const faults: string[] = []
  const check = (holds: boolean, fault: string): void => void (holds || faults.push(fault))

  check(after.armed === (state.name === 'backoff'), 'a timer is armed exactly in backoff')
  if (event.type === 'delay-elapsed' && !before.armed) check(!changed, 'a late timer is inert')
  if ('generation' in event && event.generation !== before.machine.lastGeneration)
    check(!changed, 'a stale generation is inert')
  if ('generation' in event && !before.live.has(event.generation))
    check(!changed, 'an ended generation is inert')
  if (was.name === 'stopped') check(!changed, 'stopped is absorbing')
  check(failures <= policy.maxAttempts + 1, 'failures stay within the budget')
  check(failures <= 1 || policy.enabled, 'without reconnect there is one failure')

  const withdrew = effects.some(({ type }) => type === 'withdraw')
  check(!after.published || mayHaveTools(state), 'tools are left in a state without tools')
  check(!withdrew || !mayHaveTools(state), 'tools are withdrawn where they stay by contract')
  if (!mayHaveTools(state) && mayHaveTools(was))
    check(withdrew, 'a state without tools begins with a withdraw')

  const owner = 'generation' in state ? state.generation : undefined
  check(owner === undefined || after.live.has(owner), 'the generation of the state is live')
  check(
    (state.name === 'closing') === (owner !== undefined && after.asked.has(owner)),
    'closing is asked for',
  )
  const unclosed = state.name === 'failed' ? state.unclosed : undefined
  check(unclosed === undefined || after.live.has(unclosed), 'the unclosed generation is live')
  if (after.live.size > 0)
    check(
      owner !== undefined || unclosed !== undefined || state.name === 'stopped',
      'nothing live is forgotten',
    )

  if (state.name === 'backoff') {
    check(
      state.delayMs >= policy.initialDelayMs && state.delayMs <= policy.maxDelayMs,
      'the delay is bounded',
    )
    const arm = effects.find(({ type }) => type === 'arm')
    check(
      !changed || arm === undefined || arm.type !== 'arm' || arm.delayMs === state.delayMs,
      'arms its delay',
    )
  }
  return faults
}

/** With the contract's one exception: a loss with reconnect off keeps the registered tools. */
function mayHaveTools(state: State): boolean {
  if (state.name === 'failed') return state.reason === 'reconnect-disabled'
  return state.name !== 'needs-auth' && state.name !== 'stopped'
}

/** From anywhere: stop, and at worst one close that is not confirmed. */
function stopFaults(
  step: typeof transition,
  machine: Machine,
  policy: ReconnectPolicy,
  now: number,
): string[] {
  let stopped = step(machine, { type: 'stop' }, policy, now).machine
  const { state } = stopped
  if (state.name === 'closing') {
    stopped = step(stopped, { type: 'close-timed-out', generation: state.generation }, policy, now).machine
  }
  return stopped.state.name === 'stopped' ? [] : ['stop does not reach stopped']
}

function rebase(world: World, now: number, policy: ReconnectPolicy): World {
  const shift = world.machine.lastGeneration - BASE_GENERATION
  const moved = (generation: number): number => generation - shift
  const { state } = world.machine
  const shifted: State = {
    ...state,
    ...('generation' in state ? { generation: moved(state.generation) } : {}),
    ...(state.name === 'failed' && state.unclosed !== undefined ? { unclosed: moved(state.unclosed) } : {}),
    // Longer than the stability window is all the same.
    ...(state.name === 'ready' ? { since: Math.max(state.since - now, -policy.maxDelayMs) } : {}),
  } as State
  return {
    ...world,
    machine: { ...world.machine, state: shifted, lastGeneration: BASE_GENERATION },
    live: new Set([...world.live].map(moved)),
    asked: new Set([...world.asked].map(moved)),
  }
}

function keyOf({ machine, live, asked, armed, published }: World): string {
  return JSON.stringify([machine, [...live], [...asked], armed, published])
}

function nameOf(event: Event): string {
  const generation = 'generation' in event ? `#${event.generation}` : ''
  return `${event.type}${generation}${'disposition' in event ? `:${event.disposition}` : ''}`
}
